/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that let others run in their middle. */
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
				TASK(in, , expect__spin(2000); PRAGMA(omp taskyield) expect__spin(2000));
			for (int i = 0; i < 8; i++)
				TASK(in, untied, PRAGMA(omp taskyield) expect__spin(2000));
		}
		truth__barrier(member);
	}
}
