/* SPDX-License-Identifier: BSD-2-Clause */
/* What member 0 alone executes. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

#pragma omp master
		{
			expect__check(omp_get_thread_num() == 0);
			TASK(member, , );
			TASK(member, , TASK(t, , ));
		}
#pragma omp barrier
		truth__barrier(member);
	}
}
