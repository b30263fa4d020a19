/* SPDX-License-Identifier: BSD-2-Clause */
/* The winner's value is given to all. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);
		int value = 0;

#pragma omp single copyprivate(value)
		{
			expect__single_won(__LINE__ - 2);
			value = 42;
			TASK(in, , );
		}
		/* Nobody reads before the winner has written, nor leaves before all have read. */
		truth__barrier(member);
		truth__barrier(member);
		expect__check(value == 42);
	}
}
