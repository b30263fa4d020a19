/* SPDX-License-Identifier: BSD-2-Clause */
/* The winner's value is given to all; those who wait for it execute its task. */
#include "expect.h"

static int ran;

/* At most a second, in case that a runtime's threads wait otherwise. */
static void wait_for_other(void)
{
	const unsigned long long until = now_ns() + 1000000000ull;

	while (omp_get_num_threads() > 1 && !__atomic_load_n(&ran, __ATOMIC_ACQUIRE) && now_ns() < until)
		sched_yield();
}

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
			__atomic_store_n(&ran, 0, __ATOMIC_RELAXED);
			TASK(in, , __atomic_store_n(&ran, 1, __ATOMIC_RELEASE));
			wait_for_other();
		}
		/* Nobody reads before the winner has written, nor leaves before all have read. */
		truth__barrier(member);
		truth__barrier(member);
		expect__check(value == 42);
	}
}
