/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * phases FAST: parallel regions of two threads and 200 tasks, which in the first FAST of them take some ten
 * microseconds each, then sleep for a millisecond. From SIGUSR1 on each waits for the one before. Ends with
 * SIGTERM and says how many tasks there were.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TASKS 200

static volatile sig_atomic_t serial, over;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		serial = 1;
	else
		over = 1;
}

static void task(int sleeps)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	unsigned long x = 1;

	if (sleeps) {
		nanosleep(&nap, NULL);
		return;
	}
	for (int i = 0; i < 8000; i++) {
		x *= 6364136223846793005ul;
		__asm__ volatile("" : "+r"(x));
	}
}

static void region(int in_turn, int sleeps)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < TASKS; i++) {
#pragma omp task
		task(sleeps);
		if (in_turn) {
#pragma omp taskwait
		}
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	long fast = argc > 1 ? atol(argv[1]) : 0, regions = 0;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (; !over; regions++)
		region(serial, regions >= fast);
	printf("{\"tasks\":%ld}\n", regions * TASKS);
	return 0;
}
