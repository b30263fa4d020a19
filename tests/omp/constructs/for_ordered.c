/* SPDX-License-Identifier: BSD-2-Clause */
/* The iterations' ordered parts are executed one after another. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	long next = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 40);

#pragma omp for schedule(dynamic, 2) ordered
		for (long i = 0; i < 40; i++) {
			expect__ran(loop, i);
#pragma omp ordered
			expect__check(next++ == i);
		}
		truth__barrier(member);
	}
}
