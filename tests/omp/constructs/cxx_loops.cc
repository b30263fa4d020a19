/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops over iterators and in C++ code. */
#include "expect.h"

#include <vector>

CONSTRUCT construct(struct truth *initial)
{
	std::vector<long> numbers(90);

	for (long i = 0; i < 90; i++)
		numbers[i] = i;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);
		struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 90);

#pragma omp for schedule(dynamic, 4)
		for (auto n = numbers.begin(); n < numbers.end(); ++n)
			expect__ran(loop, *n);
		truth__barrier(member);
	}
}
