/* SPDX-License-Identifier: BSD-2-Clause */
/* Five sections, twice. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		for (int n = 0; n < 2; n++) {
			struct expect_loop *sections = expect__sections(member, __LINE__ + 2, 5);

#pragma omp sections
			{
#pragma omp section
				expect__ran(sections, 0);
#pragma omp section
				expect__ran(sections, 1);
#pragma omp section
				expect__ran(sections, 2);
#pragma omp section
				expect__ran(sections, 3);
#pragma omp section
				expect__ran(sections, 4);
			}
			truth__barrier(member);
		}
	}
}
