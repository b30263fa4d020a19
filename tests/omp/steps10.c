/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps10 STEPS SPIN: a static loop in each of STEPS time steps, with SPIN multiplications for each thread.
 * With SPIN 0 it only says how many last 10 us on this machine.
 */
#include "truth.h"

static unsigned long sink;

static unsigned long spin(long iterations, unsigned long x)
{
	for (long i = 0; i < iterations; i++) {
		x *= 6364136223846793005ul;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static long calibrate(void)
{
	unsigned long long best = ~0ull;

	for (int i = 0; i < 200; i++) {
		unsigned long long start = now_ns(), took;

		spin(200000, 1);
		took = now_ns() - start;
		if (took < best)
			best = took;
	}
	return (long)(200000.0 * 10000.0 / best);
}

int main(int argc, char **argv)
{
	long arg[2] = {2000, 0};
	unsigned long long start;

	program__args(argc, argv, arg, 2);
	if (arg[1] == 0) {
		printf("{\"program\":\"steps10\",\"spin\":%ld}\n", calibrate());
		return 0;
	}
	start = now_ns();
#pragma omp parallel
	for (long step = 0; step < arg[0]; step++) {
		/* As many iterations as threads. */
#pragma omp for schedule(static)
		for (int i = 0; i < omp_get_max_threads(); i++)
			if (spin(arg[1], (unsigned long)i + 1) == 7)
				sink++;
	}
	printf("{\"program\":\"steps10\",\"tasks\":%ld,\"correct\":true,\"threads\":%d,\"phase_ns\":%llu}\n",
	       arg[0], omp_get_max_threads(), now_ns() - start);
	return 0;
}
