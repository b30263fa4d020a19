/* SPDX-License-Identifier: BSD-2-Clause */
/* As many tasks as the runtime chooses. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct expect_loop *loop = expect__taskloop(in, __LINE__ + 3, 0, 1, 100, 0);

			truth__group_begin(in);
#pragma omp taskloop
			for (long i = 0; i < 100; i++)
				expect__ran(loop, i);
			truth__group_end(in);
		}
		truth__barrier(member);
	}
}
