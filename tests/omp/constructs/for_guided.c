/* SPDX-License-Identifier: BSD-2-Clause */
/* Guided chunks of at least 3 iterations. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "guided", 0, 1, 300);

#pragma omp for schedule(guided, 3)
		for (long i = 0; i < 300; i++)
			expect__ran(loop, i);
		truth__barrier(member);
	}
}
