/* SPDX-License-Identifier: BSD-2-Clause */
/* Explicit barriers, with tasks left to them. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		for (int i = 0; i < 5; i++) {
			TASK(member, , );
#pragma omp barrier
			truth__barrier(member);
		}
		TASK(member, , );
	}
}
