/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gives_up UID THEIRS OVER: tasks all the time, as root until there is the file
 * THEIRS, then as that user, without executing another program, until there is
 * the file OVER, and some after that. Prints how many there were in each part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_AFTER 200

/* Runs tasks until there is the file, or without a file some. */
static unsigned long tasks_until(const char *file)
{
	unsigned long ran = 0;

	for (unsigned int i = 0; file ? access(file, F_OK) != 0 : i < ROUNDS_AFTER; i++) {
		const struct timespec pause = {.tv_nsec = 1000000};

#pragma omp parallel
#pragma omp single
		for (int task = 0; task < 10; task++)
#pragma omp task shared(ran)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		nanosleep(&pause, NULL);
	}
	return ran;
}

int main(int argc, char **argv)
{
	unsigned long before, theirs;

	if (argc != 4)
		return 2;
	before = tasks_until(argv[2]);
	if (setuid((uid_t)atoi(argv[1])) != 0) {
		perror("setuid");
		return 2;
	}
	theirs = tasks_until(argv[3]);
	printf("%lu %lu %lu\n", before, theirs, tasks_until(NULL));
	return 0;
}
