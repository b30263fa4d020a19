/* SPDX-License-Identifier: BSD-2-Clause */
/* Two loops as one; its iterations are numbered over both. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 77);

#pragma omp for schedule(dynamic, 4) collapse(2)
		for (long i = 0; i < 7; i++)
			for (long j = 0; j < 11; j++)
				expect__ran(loop, i * 11 + j);
		truth__barrier(member);
	}
}
