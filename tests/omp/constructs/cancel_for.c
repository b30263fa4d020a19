/* SPDX-License-Identifier: BSD-2-Clause */
/* A cancelled loop: what was begun is finished, nothing more is handed out. LLVM's
 * libomp loses its own account when it cancels a loop whose chunks are stolen. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 4, "dynamic", 0, 1, 400);

		if (loop)
			loop->cancelled = 1;
#pragma omp for schedule(monotonic : dynamic, 2)
		for (long i = 0; i < 400; i++) {
			expect__ran(loop, i);
			if (i == 10) {
#pragma omp cancel for
			}
#pragma omp cancellation point for
		}
		truth__barrier(member);
	}
	expect__atleast(1, "cancel kind=loop");
}
