/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops one after another without a barrier between them. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		for (int n = 0; n < 3; n++) {
			struct expect_loop *loop =
				expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 30 + n);

#pragma omp for schedule(dynamic, 2) nowait
			for (long i = 0; i < 30 + n; i++)
				expect__ran(loop, i);
		}
	}
}
