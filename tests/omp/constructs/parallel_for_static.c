/* SPDX-License-Identifier: BSD-2-Clause */
/* Combined constructs with static schedules. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 5);
	struct expect_loop *loop =
		truth_out ? expect__loop_of(region, 'l', 0, __LINE__ + 3, "static", 0, 1, 50) : NULL;

	expect__members(region, omp_get_max_threads());
#pragma omp parallel for schedule(static)
	for (long i = 0; i < 50; i++)
		expect__ran(loop, i);
}
