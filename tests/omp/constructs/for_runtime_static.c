/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule(runtime) that is static. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	omp_set_schedule(omp_sched_static, 2);
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "runtime-static", 0, 1, 101);

#pragma omp for schedule(runtime)
		for (long i = 0; i < 101; i++)
			expect__ran(loop, i);
		truth__barrier(member);
	}
}
