/* SPDX-License-Identifier: BSD-2-Clause */
/* A combined construct of a region and a taskloop. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

#pragma omp master
		{
			struct expect_loop *loop = expect__taskloop(member, __LINE__ + 3, 0, 1, 40, 4);

			truth__group_begin(member);
#pragma omp taskloop num_tasks(4)
			for (long i = 0; i < 40; i++)
				expect__ran(loop, i);
			truth__group_end(member);
		}
	}
}
