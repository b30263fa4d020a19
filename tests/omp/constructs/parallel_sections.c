/* SPDX-License-Identifier: BSD-2-Clause */
/* A region that is nothing but sections. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 5);
	struct expect_loop *sections =
		truth_out ? expect__loop_of(region, 'x', 0, __LINE__ + 3, "sections", 0, 1, 3) : NULL;

	expect__members(region, omp_get_max_threads());
#pragma omp parallel sections
	{
#pragma omp section
		expect__ran(sections, 0);
#pragma omp section
		expect__ran(sections, 1);
#pragma omp section
		expect__ran(sections, 2);
	}
}
