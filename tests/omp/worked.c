// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks of known work: task k of each round executes k times UNIT rounds of a
 * loop of two instructions, in which nothing is read or written.
 *   worked ROUNDS TASKS UNIT
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef __aarch64__
#define STEP "1: subs %0, %0, #1\n\tb.ne 1b"
#else
#define STEP "1: sub $1, %0\n\tjnz 1b"
#endif

static void work(long n)
{
	__asm__ volatile(STEP : "+r"(n) : : "cc");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 4, tasks = argc > 2 ? atoi(argv[2]) : 8;
	long unit = argc > 3 ? atol(argv[3]) : 500000;

	for (int r = 0; r < rounds; r++) {
#pragma omp parallel
#pragma omp single
		for (int k = 1; k <= tasks; k++) {
#pragma omp task firstprivate(k)
			work(k * unit);
		}
	}
	printf("{\"program\":\"worked\",\"rounds\":%d,\"tasks\":%d,\"unit\":%ld}\n", rounds, tasks, unit);
	return 0;
}
