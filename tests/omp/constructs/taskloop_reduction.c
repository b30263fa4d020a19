/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that add up. */
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
			struct expect_loop *loop = expect__taskloop(in, __LINE__ + 3, 0, 1, 80, 8);

			truth__group_begin(in);
#pragma omp taskloop num_tasks(8) reduction(+ : sum)
			for (long i = 0; i < 80; i++) {
				expect__ran(loop, i);
				sum += i;
			}
			truth__group_end(in);
			expect__check(sum == 80 * 79 / 2);
		}
		truth__barrier(member);
	}
}
