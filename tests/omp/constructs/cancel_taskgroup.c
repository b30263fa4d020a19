/* SPDX-License-Identifier: BSD-2-Clause */
/* A cancelled taskgroup: tasks that had not begun are discarded. */
#include "expect.h"

static int made;

/* Nothing is cancelled before all are made, unless this runs in the call that makes it. */
static void all_made(struct truth *t)
{
	if (!(t ? t->undeferred : omp_get_num_threads() == 1))
		while (!__atomic_load_n(&made, __ATOMIC_SEQ_CST))
			sched_yield();
	expect__spin(2000);
	if (t)
		truth__end(t);
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			__atomic_store_n(&made, 0, __ATOMIC_SEQ_CST);
			truth__group_begin(in);
#pragma omp taskgroup
			{
				for (int i = 0; i < 20; i++)
					TASK(in, , all_made(t); PRAGMA(omp cancel taskgroup));
				__atomic_store_n(&made, 1, __ATOMIC_SEQ_CST);
			}
			truth__group_end(in);
			expect__atleast(1, "cancel kind=taskgroup");
		}
		truth__barrier(member);
	}
}
