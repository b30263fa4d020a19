/* SPDX-License-Identifier: BSD-2-Clause */
/* Unsigned 64-bit iterations, guided. */
#include "expect.h"

#define FIRST (1ull << 40)

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "guided", (long)FIRST, 1, 120);

#pragma omp for schedule(guided, 2)
		for (unsigned long long i = FIRST; i < FIRST + 120; i++)
			expect__ran(loop, (long)(i - FIRST));
		truth__barrier(member);
	}
}
