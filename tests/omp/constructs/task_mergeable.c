/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that may share their creator's data. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 8; i++)
				TASK(in, mergeable, TASK(t, mergeable if (0), ));
		}
		truth__barrier(member);
	}
}
