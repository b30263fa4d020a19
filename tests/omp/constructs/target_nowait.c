/* SPDX-License-Identifier: BSD-2-Clause */
/* Target regions on the host that need not be waited for: tasks. */
#include "target.h"

static void again(struct truth *in)
{
	struct truth *own;

	TARGET_TASK(own, in, nowait, target__nothing);
	(void)own;
	WAIT(in);
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *last;
			int i;

			for (i = 0; i < 3; i++)
				TARGET_TASK(last, in, nowait, target__nothing);
			WAIT(in);
			TASK(in, , again(t));
			TARGET_TASK(last, in, nowait, target__nothing);
			(void)last;
		}
		truth__barrier(member);
	}
}
