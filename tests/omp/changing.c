/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * changing REGIONS FINE COARSE SPIN: regions in turn of FINE tasks of SPIN
 * multiplications and of COARSE tasks of a hundred times that, and between
 * them as much serial work as a coarse task has.
 */
#include "truth.h"

static void spin(long iterations)
{
	unsigned long x = 1;

	for (long i = 0; i < iterations; i++) {
		x *= 6364136223846793005ul;
		__asm__ volatile("" : "+r"(x));
	}
}

static void tasks_of(long count, long iterations, long *ran)
{
#pragma omp parallel
#pragma omp single
	for (long i = 0; i < count; i++) {
#pragma omp task
		{
			spin(iterations);
			__atomic_fetch_add(ran, 1, __ATOMIC_RELAXED);
		}
	}
}

int main(int argc, char **argv)
{
	long arg[4] = {40, 20000, 400, 1000}, ran = 0, tasks = 0;
	unsigned long long start, took;

	program__args(argc, argv, arg, 4);
	start = now_ns();
	for (long region = 0; region < arg[0]; region++) {
		long count = arg[region % 2 ? 2 : 1];

		tasks_of(count, region % 2 ? 100 * arg[3] : arg[3], &ran);
		tasks += count;
		spin(100 * arg[3]);
	}
	took = now_ns() - start;
	printf("{\"program\":\"changing\",\"tasks\":%ld,\"correct\":%s,\"threads\":%d,\"phase_ns\":%llu}\n",
	       tasks, ran == tasks ? "true" : "false", omp_get_max_threads(), took);
	return ran != tasks;
}
