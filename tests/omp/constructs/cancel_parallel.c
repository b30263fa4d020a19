/* SPDX-License-Identifier: BSD-2-Clause */
/* A cancelled region: its members go to its end. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	unsigned came = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		unsigned threads = omp_get_num_threads();

		struct truth *member = truth__member(region);

#ifdef __clang__ /* Two on the way out. */
		truth__barrier(member);
		truth__barrier(member);
#endif
		(void)member;
		__atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&came, __ATOMIC_SEQ_CST) < threads)
			sched_yield();
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
		} else {
			while (1) {
				sched_yield();
#pragma omp cancellation point parallel
			}
		}
		expect__check(0);
	}
	expect__atleast(1, "cancel kind=parallel");
}
