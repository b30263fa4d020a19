/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions in regions in regions. */
#include "expect.h"

static __attribute__((noinline)) void inner(struct truth *in, int level)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);

		if (level > 1)
			inner(member, level - 1);
		else
			TASK(member, , );
#pragma omp barrier
		truth__barrier(member);
	}
}

CONSTRUCT construct(struct truth *initial)
{
	omp_set_max_active_levels(3);
	inner(initial, 3);
}
