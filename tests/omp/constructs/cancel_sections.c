/* SPDX-License-Identifier: BSD-2-Clause */
/* Cancelled sections. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *sections = expect__sections(member, __LINE__ + 4, 4);

		if (sections)
			sections->cancelled = 1;
#pragma omp sections
		{
#pragma omp section
			{
				expect__ran(sections, 0);
#pragma omp cancel sections
			}
#pragma omp section
			expect__ran(sections, 1);
#pragma omp section
			expect__ran(sections, 2);
#pragma omp section
			expect__ran(sections, 3);
		}
		truth__barrier(member);
	}
	expect__atleast(1, "cancel kind=sections");
}
