/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switches ROUNDS OPENMP: on one CPU a byte goes to and fro between two threads
 * ROUNDS times, through pipes, so that each handing over is one switch. OPENMP 1:
 * they are a team; 0: two processes without OpenMP. As JSON the nanoseconds of
 * a switch. The team's first hand over waits for the file WAITS_FOR of its
 * environment.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "truth.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static int pipes[2][2];

static void hand_over(int side, long rounds)
{
	char byte = 0;

	for (long i = 0; i < rounds; i++) {
		if (side == 0 && write(pipes[0][1], &byte, 1) != 1)
			exit(1);
		if (read(pipes[1 - side][0], &byte, 1) != 1)
			exit(1);
		if (side == 1 && write(pipes[1][1], &byte, 1) != 1)
			exit(1);
	}
}

static void as_team(long rounds)
{
#pragma omp parallel num_threads(2)
	hand_over(omp_get_thread_num(), rounds);
}

static void as_processes(long rounds)
{
	pid_t child = fork();

	if (child == 0) {
		hand_over(1, rounds);
		_exit(0);
	}
	hand_over(0, rounds);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	unsigned long long start;
	long arg[2] = {20000, 1};
	cpu_set_t one;
	int cpu = sched_getcpu();

	program__args(argc, argv, arg, 2);
	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(pipes[0]) || pipe(pipes[1])) {
		perror("switches");
		return 1;
	}
	if (arg[1])
		as_team(1); /* the team is there */
	program__wait();
	start = now_ns();
	if (arg[1])
		as_team(arg[0]);
	else
		as_processes(arg[0]);
	printf("{\"switches\":%ld,\"ns_per_switch\":%.1f}\n", 2 * arg[0],
	       (double)(now_ns() - start) / (2.0 * (double)arg[0]));
	return 0;
}
