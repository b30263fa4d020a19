/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunks CHUNKS ROUNDS: loops of that many chunks of one iteration, which does
 * next to nothing. Says what the median round took per chunk.
 */
#include "truth.h"

#define MAX_ROUNDS 101

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	long arg[2] = {20000, 11}, ran = 0;
	double per_chunk[MAX_ROUNDS];

	program__args(argc, argv, arg, 2);
	if (arg[0] < 1 || arg[1] < 1 || arg[1] > MAX_ROUNDS)
		return 2;
	for (long r = 0; r < arg[1]; r++) {
		unsigned long long start = now_ns();

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : ran)
		for (long i = 0; i < arg[0]; i++)
			ran++;
		per_chunk[r] = (double)(now_ns() - start) / (double)arg[0];
	}
	qsort(per_chunk, (size_t)arg[1], sizeof(per_chunk[0]), compare);
	printf("{\"program\":\"chunks\",\"chunks\":%ld,\"correct\":%s,\"threads\":%d,\"ns_per_chunk\":%.1f}"
	       "\n",
	       arg[0] * arg[1], ran == arg[0] * arg[1] ? "true" : "false", omp_get_max_threads(),
	       per_chunk[arg[1] / 2]);
	return ran != arg[0] * arg[1];
}
