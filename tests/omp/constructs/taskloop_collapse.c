/* SPDX-License-Identifier: BSD-2-Clause */
/* Two loops as one, in tasks. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct expect_loop *loop = expect__taskloop(in, __LINE__ + 3, 0, 1, 66, 6);

			truth__group_begin(in);
#pragma omp taskloop num_tasks(6) collapse(2)
			for (long i = 0; i < 6; i++)
				for (long j = 0; j < 11; j++)
					expect__ran(loop, i * 11 + j);
			truth__group_end(in);
		}
		truth__barrier(member);
	}
}
