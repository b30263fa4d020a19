/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serial_code ROUNDS: each round is two parallel regions and, between them, serial code in one function that
 * takes most of the time. Prints the number of each round that has passed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PART __attribute__((noinline))
#define REGION_MS 2
#define ALONE_MS 16
#define REST_MS 2

static volatile double sink;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A macro, as each function is to have its time to itself. */
#define BURN(ms)                                                                                             \
	do {                                                                                                 \
		double end = cpu_ms() + (ms), x = 1;                                                         \
		while (cpu_ms() < end)                                                                       \
			for (int n = 0; n < 20000; n++)                                                      \
				x = x * 1.0000001 + 1e-9;                                                    \
		sink = x;                                                                                    \
	} while (0)

PART static void solve_alone(void)
{
	BURN(ALONE_MS);
}

PART static void write_alone(void)
{
	BURN(REST_MS);
}

PART static void region_before(void)
{
#pragma omp parallel /* first region */
	BURN(REGION_MS);
	sink = 0; /* the call of the region is not the last one, which would be a jump */
}

PART static void region_after(void)
{
#pragma omp parallel /* second region */
	BURN(REGION_MS);
	sink = 0; /* the call of the region is not the last one, which would be a jump */
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int round = 0; round < rounds; round++) {
		region_before();
		solve_alone();
		region_after();
		write_alone();
		printf("%d\n", round);
		fflush(stdout);
	}
	return 0;
}
