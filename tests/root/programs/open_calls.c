/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taskloops whose calls stay open.
 * usage: open_calls calm TASKS PAUSE_MS: one taskloop that executes its tasks at once, with a pause in each;
 * open_calls within DEPTH PAUSE_MS: taskloops of two tasks, each in the first task of another, with a pause
 * in the innermost; or open_calls deep DEPTH SECONDS: as many taskloops within each other, left by longjmp,
 * again and again
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static jmp_buf out;
static volatile sig_atomic_t over;

static void at_alarm(int signal)
{
	(void)signal;
	over = 1;
}

static void deeper(int left)
{
	if (!left || over)
		longjmp(out, 1);
#pragma omp taskloop if (0) num_tasks(1) firstprivate(left)
	for (int i = 0; i < 1; i++)
		deeper(left - 1);
}

static void deep(int depth, unsigned int seconds)
{
	signal(SIGALRM, at_alarm);
	alarm(seconds);
	while (!over)
		if (!setjmp(out))
			deeper(depth);
}

static void within(int left, int pause_ms)
{
	if (!left) {
		usleep((useconds_t)pause_ms * 1000);
		return;
	}
#pragma omp taskloop if (0) num_tasks(2) firstprivate(left, pause_ms)
	for (int i = 0; i < 20; i++)
		if (!i)
			within(left - 1, pause_ms);
}

static void calm(int tasks, int pause_ms)
{
	int done = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop if (0) num_tasks(tasks) shared(done)
	for (int i = 0; i < tasks * 10; i++)
		if (i % 10 == 0) {
			usleep((useconds_t)pause_ms * 1000);
			done++;
		}
	printf("%d\n", done);
}

int main(int argc, char **argv)
{
	struct rlimit stack = {1l << 30, 1l << 30};

	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "calm")) {
		calm(atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	if (!strcmp(argv[1], "within")) {
		within(atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	if (setrlimit(RLIMIT_STACK, &stack))
		return 1;
	deep(atoi(argv[2]), (unsigned int)atoi(argv[3]));
	return 0;
}
