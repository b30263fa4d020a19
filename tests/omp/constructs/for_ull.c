/* SPDX-License-Identifier: BSD-2-Clause */
/* Unsigned iterations beyond the signed range. */
#include "expect.h"

#define FIRST 18446744073709551000ull

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", (long)FIRST, 2, 50);

#pragma omp for schedule(dynamic, 3)
		for (unsigned long long i = FIRST; i < FIRST + 100; i += 2)
			expect__ran(loop, (long)(i - FIRST) / 2);
		truth__barrier(member);
	}
}
