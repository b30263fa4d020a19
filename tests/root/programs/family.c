// SPDX-License-Identifier: BSD-2-Clause
/*
 * family STEP... : a process that does OpenMP, forks and executes as told.
 *
 *   tasks:N       a region in which one thread makes N tasks
 *   fork:A,B,..   a child without exec does the steps A, B, ... (with '.' for ':')
 *   spawn:A,B,..  a child executes this program with these steps
 *   exec:A,B,..   this process executes this program with these steps
 *   thread-exec:A the same from another thread than the first
 *   wait          until all children have ended
 *   sleep:MS
 *   until:FILE    until there is this file
 *   stop          SIGSTOP for itself; somebody else continues it
 *   die           SIGKILL for itself, in a region with tasks under way
 *   leave         forks and lets the parent exit at once; the child goes on
 *
 * Each process prints "PID STEP" for what it has done.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int sink;

static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

static void tasks(int count)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < count; i++) {
#pragma omp task
		work(2000);
	}
}

static void die(void)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 100000; i++) {
		if (i == 500)
			raise(SIGKILL);
#pragma omp task
		work(2000);
	}
}

/* "A,B.1,C" becomes {"family", "A", "B:1", "C"}; ends with NULL. */
static char **parse(const char *list)
{
	char **argv = calloc(64, sizeof(*argv)), *copy = strdup(list);
	int n = 1;

	argv[0] = "family";
	for (char *step = strtok(copy, ","); step && n < 63; step = strtok(NULL, ",")) {
		for (char *c = step; *c; c++)
			if (*c == '.')
				*c = ':';
		argv[n++] = step;
	}
	return argv;
}

static void run(char **steps);

static void *exec_here(void *argv)
{
	execve("/proc/self/exe", argv, environ);
	_exit(99);
}

static void one(const char *step)
{
	const char *rest = strchr(step, ':');
	size_t length = rest ? (size_t)(rest - step) : strlen(step);
	pid_t child;

	rest = rest ? rest + 1 : "";
	if (!strncmp(step, "exec", length) || !strncmp(step, "thread-exec", length)) {
		pthread_t thread;

		fflush(stdout);
		if (*step == 'e')
			exec_here(parse(rest));
		pthread_create(&thread, NULL, exec_here, parse(rest));
		pause();
	} else if (!strncmp(step, "tasks", length)) {
		tasks(atoi(rest));
	} else if (!strncmp(step, "fork", length)) {
		fflush(stdout);
		child = fork();
		if (child == 0) {
			run(parse(rest) + 1);
			exit(0);
		}
	} else if (!strncmp(step, "spawn", length)) {
		fflush(stdout);
		posix_spawn(&child, "/proc/self/exe", NULL, NULL, parse(rest), environ);
	} else if (!strncmp(step, "wait", length)) {
		while (wait(NULL) > 0)
			;
	} else if (!strncmp(step, "sleep", length)) {
		usleep((useconds_t)atoi(rest) * 1000);
	} else if (!strncmp(step, "until", length)) {
		while (access(rest, F_OK))
			usleep(1000);
	} else if (!strncmp(step, "stop", length)) {
		raise(SIGSTOP);
	} else if (!strncmp(step, "die", length)) {
		die();
	} else if (!strncmp(step, "leave", length)) {
		fflush(stdout);
		if (fork())
			_exit(0);
	}
	printf("%d %s\n", (int)getpid(), step);
}

static void run(char **steps)
{
	for (; *steps; steps++)
		one(*steps);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	(void)argc;
	run(argv + 1);
	return 0;
}
