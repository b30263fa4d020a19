/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that take part in a taskgroup's reduction. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	long sum = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			truth__group_begin(in);
#pragma omp taskgroup task_reduction(+ : sum)
			{
				for (int i = 0; i < 10; i++)
					TASK(in, in_reduction(+ : sum), sum += i);
			}
			truth__group_end(in);
			expect__check(sum == 45);
		}
		truth__barrier(member);
	}
}
