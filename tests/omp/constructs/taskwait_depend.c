/* SPDX-License-Identifier: BSD-2-Clause */
/* A wait for the tasks of one place; the others are joined later. */
#include "expect.h"

/* Named by clauses only. */
int a, b;

CONSTRUCT construct(struct truth *initial)
{
	volatile int done = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *third, *first = truth__task(in, __LINE__ + 1);
#pragma omp task depend(out : a) firstprivate(first) shared(done)
			{
				truth__begin(first);
				expect__spin(5000);
				done = 1;
				truth__end(first);
			}
			truth__created();
			TASK(in, depend(out : b), expect__spin(5000));
#pragma omp taskwait depend(in : a)
			expect__check(done == 1);
			expect__count(1, "wait-end kind=taskwait-depend");
			third = truth__task(in, __LINE__ + 1);
#pragma omp task depend(in : a) firstprivate(third)
			{
				truth__begin(third);
				truth__end(third);
			}
			truth__created();
			expect__depends(third, first);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
