/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that surely wait for a lock. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	unsigned wanting = 0, inside = 0;
	omp_lock_t lock;

	omp_init_lock(&lock);
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		unsigned threads = omp_get_num_threads();
		struct truth *member = truth__member(region);

#pragma omp barrier
		truth__barrier(member);
		expect__want(&wanting);
		omp_set_lock(&lock);
		expect__hold(&wanting, threads);
		inside++;
		omp_unset_lock(&lock);
		if (member && member->ordinal == 0)
			expect__atleast(threads - 1, "lock-got kind=lock");
	}
	omp_destroy_lock(&lock);
	expect__check(inside == wanting);
}
