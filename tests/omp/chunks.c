/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunks CHUNKS ROUNDS: loops of that many chunks of one iteration, which does
 * next to nothing. The initial thread takes them all but one of each other
 * thread, which sleeps in it. Says what the median round took the initial
 * thread per chunk, in CPU time.
 */
#include "truth.h"

#include <stdbool.h>
#include <unistd.h>

#define MAX_ROUNDS 101

/* Not in chunks_reads.c. */
#ifndef READ_COUNTER
#define READ_COUNTER() ((void)0)
#endif

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long arg[2] = {20000, 11}, ran = 0;
	double per_chunk[MAX_ROUNDS];

	program__args(argc, argv, arg, 2);
	if (arg[0] < 1 || arg[1] < 1 || arg[1] > MAX_ROUNDS)
		return 2;
	for (long r = 0; r < arg[1]; r++) {
		bool over = false;

#pragma omp parallel reduction(+ : ran)
		{
			bool initial = omp_get_thread_num() == 0;
			double start = thread_ns();
			long mine = 0;

#pragma omp for schedule(monotonic : dynamic, 1) nowait
			for (long i = 0; i < arg[0]; i++) {
				READ_COUNTER();
				mine++;
				while (!initial && !__atomic_load_n(&over, __ATOMIC_ACQUIRE))
					usleep(200);
				READ_COUNTER();
			}
			if (initial) {
				per_chunk[r] = (thread_ns() - start) / (double)(mine ? mine : 1);
				__atomic_store_n(&over, true, __ATOMIC_RELEASE);
			}
			ran += mine;
		}
	}
	qsort(per_chunk, (size_t)arg[1], sizeof(per_chunk[0]), compare);
	printf("{\"program\":\"chunks\",\"chunks\":%ld,\"correct\":%s,\"threads\":%d,\"ns_per_chunk\":%.1f}"
	       "\n",
	       arg[0] * arg[1], ran == arg[0] * arg[1] ? "true" : "false", omp_get_max_threads(),
	       per_chunk[arg[1] / 2]);
	return ran != arg[0] * arg[1];
}
