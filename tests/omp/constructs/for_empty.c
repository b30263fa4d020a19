/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops without an iteration, and with fewer than threads. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

#ifdef __clang__ /* It does not enter a loop that has no iteration. */
		for (int n = 1; n < 3; n++) {
#else
		for (int n = 0; n < 3; n++) {
#endif
			struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, n);

#pragma omp for schedule(dynamic)
			for (long i = 0; i < n; i++)
				expect__ran(loop, i);
			truth__barrier(member);
		}
	}
}
