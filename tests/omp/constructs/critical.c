/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that surely wait for a critical section. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	unsigned wanting = 0, inside = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		unsigned threads = omp_get_num_threads();
		struct truth *member = truth__member(region);

#pragma omp barrier
		truth__barrier(member);
		expect__want(&wanting);
#pragma omp critical(name)
		{
			expect__hold(&wanting, threads);
			inside++;
		}
		if (member && member->ordinal == 0)
			expect__atleast(threads - 1, "lock-got kind=critical");
	}
	expect__check(inside == wanting);
}
