/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grains200 TASKS SPIN: tasks of SPIN iterations of work each. With SPIN 0 it
 * only says how many iterations last 200 us on this machine.
 */
#include "truth.h"

/* A chain of multiplications, bound by their latency: another thread on the same core hardly slows it. */
static void spin(long iterations)
{
	unsigned long x = 1;

	for (long i = 0; i < iterations; i++) {
		x *= 6364136223846793005ul;
		__asm__ volatile("" : "+r"(x));
	}
}

static long calibrate(void)
{
	unsigned long long best = ~0ull;

	for (int i = 0; i < 200; i++) {
		unsigned long long start = now_ns(), took;

		spin(200000);
		took = now_ns() - start;
		if (took < best)
			best = took;
	}
	return (long)(200000.0 * 200000.0 / best);
}

int main(int argc, char **argv)
{
	long arg[2] = {2000, 0};
	unsigned long long start = 0, took = 0;

	program__args(argc, argv, arg, 2);
	if (arg[1] == 0) {
		printf("{\"program\":\"grains200\",\"spin\":%ld}\n", calibrate());
		return 0;
	}
#pragma omp parallel
#pragma omp single
	{
		start = now_ns();
		for (long i = 0; i < arg[0]; i++) {
#pragma omp task
			spin(arg[1]);
		}
#pragma omp taskwait
		took = now_ns() - start;
	}
	printf("{\"program\":\"grains200\",\"tasks\":%ld,\"correct\":true,\"threads\":%d,\"phase_ns\":%llu,"
	       "\"ns_per_task\":%.1f}\n",
	       arg[0], omp_get_max_threads(), took, (double)took / arg[0]);
	return 0;
}
