/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies that no symbol and no instruction before a call tells of: a pointer
 * that is only known at run time. Rounds of a region of two with TASKS tasks
 * until SIGTERM; then says how many rounds there were.
 */
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define TASKS 20

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long size, long align,
	       bool condition, unsigned flags, void **depend, int priority, void *detach);

static volatile sig_atomic_t ended;
static int done;

static void on_end(int signal)
{
	(void)signal;
	ended = 1;
}

static void work(void *data)
{
	__atomic_fetch_add(&done, *(int *)data, __ATOMIC_RELAXED);
}

static void member(void *data);
static void (*volatile bodies[2])(void *) = {member, work};

static void member(void *data)
{
	int one = 1;

	if (omp_get_thread_num() == 0)
		for (int i = 0; i < TASKS; i++)
			GOMP_task(bodies[1], &one, NULL, sizeof(one), sizeof(one), true, 0, NULL, 0, NULL);
	(void)data;
}

int main(void)
{
	int rounds = 0;

	signal(SIGTERM, on_end);
	while (!ended) {
		GOMP_parallel(bodies[0], NULL, 2, 0);
		rounds++;
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	printf("%d %d\n", rounds, done);
	return done != rounds * TASKS;
}
