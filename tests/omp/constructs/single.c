/* SPDX-License-Identifier: BSD-2-Clause */
/* Singles with and without a barrier, and what is made in them. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		for (int i = 0; i < 4; i++) {
			struct truth *in = truth__single(member);
#pragma omp single
			{
				expect__single_won(__LINE__ - 2);
				TASK(in, , );
				TASK(in, , TASK(t, , ));
			}
			truth__barrier(member);
		}
		truth__single(member);
#pragma omp single nowait
		expect__single_won(__LINE__ - 1);
	}
}
