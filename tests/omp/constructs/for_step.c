/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop that counts up by 5 from a negative number. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", -30, 5, 60);

#pragma omp for schedule(dynamic, 4)
		for (long i = -30; i < 270; i += 5)
			expect__ran(loop, (i + 30) / 5);
		truth__barrier(member);
	}
}
