/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks that a thread may get in any order. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 101);

#pragma omp for schedule(nonmonotonic : dynamic, 2)
		for (long i = 0; i < 101; i++)
			expect__ran(loop, i);
		truth__barrier(member);
	}
}
