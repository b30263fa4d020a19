/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterations that wait for their predecessor. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	unsigned long done = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 24);

#pragma omp for schedule(dynamic, 1) ordered(1)
		for (long i = 0; i < 24; i++) {
#pragma omp ordered depend(sink : i - 1)
			expect__ran(loop, i);
			expect__check(done++ == (unsigned long)i);
#pragma omp ordered depend(source)
		}
		truth__barrier(member);
	}
}
