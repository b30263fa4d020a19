/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks of several priorities. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 12; i++)
				TASK(in, priority(i % 4), expect__spin(2000));
		}
		truth__barrier(member);
	}
}
