/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task for each call. The cure is a cutoff.
 *
 * first: small_tasks
 */
#include "answers.h"

static long serial(int n)
{
	return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

static long fib(int n, int depth)
{
	long x, y;

	if (n < 2)
		return n;
#ifdef CURED
	if (depth >= 8)
		return serial(n);
#endif
#pragma omp task shared(x) firstprivate(n, depth) /* HERE */
	x = fib(n - 1, depth + 1);		  /* HERE */
#pragma omp task shared(y) firstprivate(n, depth) /* HERE */
	y = fib(n - 2, depth + 1);		  /* HERE */
#pragma omp taskwait
	return x + y;
}

int main(void)
{
#pragma omp parallel
#pragma omp single
	sink = (double)fib(25, 0) + (double)serial(2);
	return 0;
}
