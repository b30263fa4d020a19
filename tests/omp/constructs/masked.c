/* SPDX-License-Identifier: BSD-2-Clause */
/* What one chosen member executes. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	int last = omp_get_max_threads() - 1;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

#pragma omp masked filter(last)
		{
			expect__check(omp_get_thread_num() == last);
			TASK(member, , );
			TASK(member, , TASK(t, , ));
		}
#pragma omp barrier
		truth__barrier(member);
	}
}
