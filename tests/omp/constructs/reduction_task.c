/* SPDX-License-Identifier: BSD-2-Clause */
/* A region's reduction that tasks take part in. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	long sum = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel reduction(task, + : sum)
	{
		struct truth *member = truth__member(region);

#ifdef __clang__ /* It makes a taskgroup of the member's part. */
		truth__group_begin(member);
#endif
		for (int i = 0; i < 3; i++)
			TASK(member, in_reduction(+ : sum), sum += 1);
#ifdef __clang__
		truth__group_end(member);
#endif
	}
	expect__check(sum == 3 * omp_get_max_threads());
}
