/* SPDX-License-Identifier: BSD-2-Clause */
/* Nested regions that are not active: teams of one. */
#include "expect.h"

static __attribute__((noinline)) void inner(struct truth *in, int level)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		TASK(member, , );
		if (level > 1)
			inner(member, level - 1);
		TASK(member, , );
		WAIT(member);
	}
}

CONSTRUCT construct(struct truth *initial)
{
	omp_set_max_active_levels(1);
	inner(initial, 3);
}
