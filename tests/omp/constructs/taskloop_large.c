/* SPDX-License-Identifier: BSD-2-Clause */
/* So many tasks that a runtime splits the creation recursively. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct expect_loop *loop = expect__taskloop(in, __LINE__ + 3, 0, 1, 5000, 2500);

			truth__group_begin(in);
#pragma omp taskloop num_tasks(2500)
			for (long i = 0; i < 5000; i++)
				expect__ran_short(loop, i);
			truth__group_end(in);
		}
		truth__barrier(member);
	}
}
