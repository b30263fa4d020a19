// SPDX-License-Identifier: BSD-2-Clause
/*
 * team(THREADS, TASKS): a region of so many threads and so many tasks, and locks;
 * whether all were there. With TEAM_EARLY=TASKS also while it is loaded: the loader's lock
 * is taken then. Built as a library, by either compiler.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

bool team(int threads, int tasks);

bool team(int threads, int tasks)
{
	int members = 0, wrong = 0, done = 0;
	omp_lock_t lock;

	/* The number of threads is a matter of the runtime that is asked: another would not know of it. */
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	omp_init_lock(&lock);
#pragma omp parallel
	{
		omp_set_lock(&lock);
		members++;
		wrong += omp_get_num_threads() != threads;
		omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
		for (int i = 0; i < tasks; i++) {
#pragma omp task
#pragma omp atomic
			done++;
		}
	}
	omp_destroy_lock(&lock);
	return members == threads && !wrong && done == tasks;
}

static __attribute__((constructor)) void early(void)
{
	const char *tasks = getenv("TEAM_EARLY");

	if (tasks && !team(4, atoi(tasks)))
		abort();
}
