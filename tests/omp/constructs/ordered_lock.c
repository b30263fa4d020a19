/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that surely wait for their turn in an ordered loop. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	unsigned wanting = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		unsigned threads = omp_get_num_threads();
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, threads);

#pragma omp for schedule(dynamic, 1) ordered
		for (unsigned i = 0; i < threads; i++) {
			expect__ran(loop, i);
			expect__want(&wanting);
			/* Nobody gets two of them before all have one. */
			while (__atomic_load_n(&wanting, __ATOMIC_SEQ_CST) < threads)
				sched_yield();
#pragma omp ordered
			expect__hold(&wanting, threads);
		}
		truth__barrier(member);
		if (member && member->ordinal == 0)
			expect__atleast(threads - 1, "lock-got kind=ordered");
	}
}
