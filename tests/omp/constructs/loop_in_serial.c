/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops that bind to no team, and to a team of one. */
#include "expect.h"

static __attribute__((noinline)) void orphan(struct truth *member, const char *schedule, long trip)
{
	struct expect_loop *loop = expect__loop(member, __LINE__ + 2, schedule, 0, 1, trip);

#pragma omp for schedule(dynamic, 3)
	for (long i = 0; i < trip; i++)
		expect__ran(loop, i);
	truth__barrier(member);
}

CONSTRUCT construct(struct truth *initial)
{
	struct expect_loop *loop = NULL;
	struct truth *region;

	if (truth_out)
		loop = expect__loop_of(initial, 'l', initial->loops++, __LINE__ + 1, "dynamic", 0, 1, 20);
#pragma omp for schedule(dynamic, 3)
	for (long i = 0; i < 20; i++)
		expect__ran(loop, i);
	truth__barrier(initial);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel num_threads(1)
	{
		struct truth *member = truth__member(region);

		orphan(member, "dynamic", 10);
		orphan(member, "dynamic", 11);
	}
}
