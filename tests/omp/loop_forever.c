/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop_forever MILLISECONDS FILE: regions of 5, 6, ... 29, 5, ... tasks one
 * after another until the time is over or SIGTERM comes; then FILE holds a
 * line "START_NS END_NS TASKS" for each region. Its regions and tasks are in
 * the order and of the numbers that no probe can change. After each it sleeps
 * for LOOP_PAUSE_US of its environment, 300 microseconds by default. The file
 * that LOOP_BEGUN of its environment names is made when the first one is over. The
 * file LOOP_REGIONS has the number of those that are over.
 */
#include "truth.h"

#include <signal.h>

#define MAX_REGIONS 1000000

static volatile sig_atomic_t stop;

struct region_time {
	unsigned long long start, end;
	unsigned tasks;
};

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

static unsigned long work(unsigned long n)
{
	for (unsigned long i = 0; i < 2000; i++)
		n = n * 6364136223846793005ull + 1442695040888963407ull;
	return n;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct region_time *times;
	const char *pause_us = getenv("LOOP_PAUSE_US");
	long pause_ns = pause_us ? strtol(pause_us, NULL, 10) % 1000000 * 1000 : 300000;
	unsigned long long until;
	unsigned long created = 0, ran = 0, sum = 0;
	size_t regions = 0;
	FILE *out, *count = getenv("LOOP_REGIONS") ? fopen(getenv("LOOP_REGIONS"), "we") : NULL;

	if (argc != 3) {
		fprintf(stderr, "usage: %s MILLISECONDS FILE\n", argv[0]);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	times = calloc(MAX_REGIONS, sizeof(*times));
	if (!times)
		return 2;
	until = now_ns() + strtoull(argv[1], NULL, 10) * 1000000ull;
	while (!stop && regions < MAX_REGIONS && now_ns() < until) {
		struct region_time *r = &times[regions++];
		struct timespec pause = {.tv_nsec = pause_ns};

		r->tasks = 5 + (regions - 1) % 25;
		r->start = now_ns();
#pragma omp parallel
#pragma omp single
		{
			for (unsigned i = 0; i < r->tasks - 2; i++) {
#pragma omp task shared(ran, sum)
				{
					__atomic_fetch_add(&sum, work(i), __ATOMIC_RELAXED);
					__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
				}
			}
#pragma omp taskwait
#pragma omp task shared(ran)
			{
#pragma omp task shared(ran)
				__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
				__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
			}
		}
		r->end = now_ns();
		created += r->tasks;
		if (count)
			fprintf(count, "%zu\n", regions), rewind(count);
		if (regions == 1 && getenv("LOOP_BEGUN"))
			fclose(fopen(getenv("LOOP_BEGUN"), "we"));
		nanosleep(&pause, NULL);
	}
	out = fopen(argv[2], "we");
	if (!out) {
		fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
		return 2;
	}
	for (size_t i = 0; i < regions; i++)
		fprintf(out, "%llu %llu %u\n", times[i].start, times[i].end, times[i].tasks);
	if (fclose(out) != 0)
		return 2;
	printf("{\"program\":\"loop_forever\",\"regions\":%zu,\"tasks\":%lu,\"correct\":%s,\"threads\":%d}\n",
	       regions, created, ran == created ? "true" : "false", omp_get_max_threads());
	free(times);
	return ran != created;
}
