/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * placed CPU,CPU,... ...: a region for each list, with one thread on each of its
 * CPUs, in this order; each thread runs one task, then one chunk of a loop. A grain
 * ends only when all of its siblings have begun, so that no thread can have two.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPUS 256

static int misplaced;

/* Waits for all `count` siblings. */
static __attribute__((noinline)) void meet(int *begun, int count)
{
	__atomic_add_fetch(begun, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(begun, __ATOMIC_SEQ_CST) < count)
		usleep(1000);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_getcpu() != cpu)
		__atomic_store_n(&misplaced, 1, __ATOMIC_SEQ_CST);
}

static void region(const int *cpus, int count)
{
	int tasks = 0, chunks = 0;

#pragma omp parallel num_threads(count)
	{
		pin(cpus[omp_get_thread_num()]);
#pragma omp barrier
#pragma omp single
		for (int i = 0; i < count; i++) {
#pragma omp task shared(tasks)
			meet(&tasks, count);
		}
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < count; i++)
			meet(&chunks, count);
	}
}

int main(int argc, char **argv)
{
	int cpus[MAX_CPUS];

	omp_set_dynamic(0);
	for (int i = 1; i < argc; i++) {
		int count = 0;

		for (char *cpu = strtok(argv[i], ","); cpu && count < MAX_CPUS; cpu = strtok(NULL, ","))
			cpus[count++] = atoi(cpu);
		if (!count)
			return 2;
		region(cpus, count);
	}
	return misplaced;
}
