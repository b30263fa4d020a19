/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop that counts down by 3. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 200, -3, 60);

#pragma omp for schedule(dynamic, 4)
		for (long i = 200; i > 20; i += -3)
			expect__ran(loop, (200 - i) / 3);
		truth__barrier(member);
	}
}
