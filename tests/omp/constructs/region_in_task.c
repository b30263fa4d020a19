/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that start regions of their own. */
#include "expect.h"

static __attribute__((noinline)) void inner(struct truth *in)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);

		TASK(member, , );
	}
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region;

	omp_set_max_active_levels(2);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 3; i++)
				TASK(in, , inner(t));
		}
		truth__barrier(member);
	}
}
