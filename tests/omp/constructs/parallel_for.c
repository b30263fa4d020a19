/* SPDX-License-Identifier: BSD-2-Clause */
/* Combined constructs: the loop begins with the region. */
#include "expect.h"

#define PARALLEL_FOR(name, clause, trip)                                                                     \
	static __attribute__((noinline)) void name(struct truth *initial)                                    \
	{                                                                                                    \
		struct truth *region = truth__region(initial, __LINE__);                                     \
		struct expect_loop *loop =                                                                   \
			truth_out ? expect__loop_of(region, 'l', 0, __LINE__, #name, 0, 1, trip) : NULL;     \
		expect__members(region, omp_get_max_threads());                                              \
		PRAGMA(omp parallel for clause)                                                              \
		for (long i = 0; i < trip; i++)                                                              \
			expect__ran(loop, i);                                                                \
	}

PARALLEL_FOR(dynamic, schedule(dynamic), 60)
PARALLEL_FOR(guided, schedule(guided, 2), 90)
PARALLEL_FOR(runtime, schedule(runtime), 50)
PARALLEL_FOR(nonmonotonic, schedule(nonmonotonic : dynamic, 5), 61)

CONSTRUCT construct(struct truth *initial)
{
	dynamic(initial);
	guided(initial);
	runtime(initial);
	nonmonotonic(initial);
}
