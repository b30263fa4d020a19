/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that only the later wait joins. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct expect_loop *loop = expect__taskloop(in, __LINE__ + 2, 0, 1, 50, 5);

#pragma omp taskloop num_tasks(5) nogroup
			for (long i = 0; i < 50; i++)
				expect__ran(loop, i);
			TASK(in, , );
			WAIT(in);
		}
		truth__barrier(member);
	}
}
