/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fibonacci numbers with a cutoff.
 *
 * first: none
 */
#include "answers.h"

static long serial(int n)
{
	return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

static long fib(int n, int depth)
{
	long x, y;

	if (depth >= 7)
		return serial(n);
#pragma omp task shared(x) firstprivate(n, depth)
	x = fib(n - 1, depth + 1);
#pragma omp task shared(y) firstprivate(n, depth)
	y = fib(n - 2, depth + 1);
#pragma omp taskwait
	return x + y;
}

int main(void)
{
#pragma omp parallel
#pragma omp single
	sink = (double)fib(42, 0);
	return 0;
}
