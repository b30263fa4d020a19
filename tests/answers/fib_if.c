/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task for each call. The cure is an if clause.
 *
 * first: small_tasks
 */
#include "answers.h"

#ifdef CURED
#define DEEPEST 8
#else
#define DEEPEST 1000
#endif

static long fib(int n, int depth)
{
	long x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x) firstprivate(n, depth) if (depth < DEEPEST) /* HERE */
	x = fib(n - 1, depth + 1);				       /* HERE */
#pragma omp task shared(y) firstprivate(n, depth) if (depth < DEEPEST) /* HERE */
	y = fib(n - 2, depth + 1);				       /* HERE */
#pragma omp taskwait
	return x + y;
}

int main(void)
{
#pragma omp parallel
#pragma omp single
	sink = (double)fib(25, 0);
	return 0;
}
