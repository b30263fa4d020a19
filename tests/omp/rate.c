/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rate TASKS_PER_SECOND MILLISECONDS: empty tasks in batches of 32 with a
 * taskwait after each, started on time. Says what rate it really reached.
 */
#include "truth.h"

#define BATCH 32

int main(int argc, char **argv)
{
	long arg[2] = {80000, 1000};
	unsigned long long start = 0, took = 0;
	long batches, ran = 0;

	program__args(argc, argv, arg, 2);
	batches = arg[0] * arg[1] / 1000 / BATCH;
#pragma omp parallel
#pragma omp single
	{
		start = now_ns();
		for (long b = 0; b < batches; b++) {
			unsigned long long due = start + b * BATCH * 1000000000ull / arg[0];

			while (now_ns() < due)
				;
			for (int i = 0; i < BATCH; i++) {
#pragma omp task shared(ran)
				__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
			}
#pragma omp taskwait
		}
		took = now_ns() - start;
	}
	printf("{\"program\":\"rate\",\"tasks\":%ld,\"correct\":%s,\"threads\":%d,\"phase_ns\":%llu,"
	       "\"tasks_per_s\":%.0f}\n",
	       batches * BATCH, ran == batches * BATCH ? "true" : "false", omp_get_max_threads(), took,
	       took ? batches * BATCH * 1e9 / took : 0.0);
	return ran != batches * BATCH;
}
