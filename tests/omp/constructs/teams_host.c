/* SPDX-License-Identifier: BSD-2-Clause */
/* A league of teams on the host, each with a region. */
#include "expect.h"

static __attribute__((noinline)) void inner(struct truth *team)
{
	struct truth *region = truth__region(team, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		TASK(in, , );
		truth__barrier(member);
	}
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *league = truth__region(initial, __LINE__ + 1);
#pragma omp teams num_teams(2) thread_limit(2)
	{
		struct truth *team = NULL;

		if (truth_out) {
			__atomic_store_n(&league->threads, (unsigned)omp_get_num_teams(), __ATOMIC_RELAXED);
			team = truth__new(TRUTH_MEMBER, league, omp_get_team_num(), 0);
		}
		inner(team);
	}
}
