/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gives_up UID SECONDS: tasks all the time, as root for half a second, then as
 * that user, without executing another program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static unsigned long tasks_until(double end)
{
	unsigned long ran = 0;

	while (seconds() < end) {
		const struct timespec pause = {.tv_nsec = 1000000};

#pragma omp parallel
#pragma omp single
		for (int i = 0; i < 10; i++)
#pragma omp task shared(ran)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		nanosleep(&pause, NULL);
	}
	return ran;
}

int main(int argc, char **argv)
{
	double begin = seconds();
	unsigned long before, after;

	if (argc != 3)
		return 2;
	before = tasks_until(begin + 0.5);
	if (setuid((uid_t)atoi(argv[1])) != 0) {
		perror("setuid");
		return 2;
	}
	after = tasks_until(begin + 0.5 + atof(argv[2]));
	printf("%lu %lu\n", before, after);
	return 0;
}
