/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions of regions, loops and sections. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	long sum = 0, product = 1;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel reduction(+ : sum)
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 40);

#pragma omp for schedule(dynamic, 3) reduction(max : product)
		for (long i = 0; i < 40; i++) {
			expect__ran(loop, i);
			product = i > product ? i : product;
		}
		truth__barrier(member);
#ifdef __clang__ /* One for the reduction too. */
		truth__barrier(member);
#endif
		sum += 1;
	}
	expect__check(sum == omp_get_max_threads() && product == 39);
}
