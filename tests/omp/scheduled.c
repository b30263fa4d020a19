/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scheduled KIND NUMBER: things that the scheduler sees, and what the kernel
 * itself says of them, one "NAME THREAD VALUE" a line.
 *
 * scheduled 0 MS: two tasks of two threads: one sleeps three times for MS, "slept" ns in all, the other
 * computes for MS.
 *
 * scheduled 1 MS: each member of a team computes for MS of its thread's CPU time: "cpu", all that its thread
 * has had from its begin to that in another region; "stolen", what the hypervisor took of all CPUs meanwhile.
 *
 * scheduled 2 N: the only member moves N times between the CPUs that it may use: "moves".
 *
 * scheduled 3 N: a task yields its CPU N times.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "truth.h"

#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_TEAM 64

static unsigned long long thread_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (unsigned long long)time.tv_sec * 1000000000ull + (unsigned long long)time.tv_nsec;
}

static void say(const char *name, unsigned long long value)
{
#pragma omp critical(say)
	printf("%s %ld %llu\n", name, syscall(SYS_gettid), value);
}

static void compute(long ms)
{
	unsigned long long end = thread_ns() + (unsigned long long)ms * 1000000ull;

	while (thread_ns() < end)
		;
}

static void tasks(long ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	unsigned long long slept = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task shared(slept)
		{
			unsigned long long begin = now_ns();

			for (int i = 0; i < 3; i++)
				nanosleep(&time, NULL);
			slept = now_ns() - begin;
		}
#pragma omp task
		compute(ms);
	}
	say("slept", slept);
}

/* The kernel counts it in ticks. */
static unsigned long long stolen_ns(void)
{
	unsigned long long ticks;
	FILE *file = fopen("/proc/stat", "r");
	int got = file ? fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) : 0;

	if (file)
		fclose(file);
	return got == 1 ? ticks * (1000000000ull / (unsigned)sysconf(_SC_CLK_TCK)) : 0;
}

/* A thread is asked in a second region: its clock has all since its begin in the first one. */
static void team(long ms)
{
	unsigned long long ns[MAX_TEAM], stolen = stolen_ns();
	long tids[MAX_TEAM];
	int members = omp_get_max_threads() < MAX_TEAM ? omp_get_max_threads() : MAX_TEAM;

#pragma omp parallel num_threads(members)
	{
		ns[omp_get_thread_num()] = thread_ns();
		compute(ms);
	}
#pragma omp parallel num_threads(members)
	{
		int me = omp_get_thread_num();

		ns[me] = thread_ns() - ns[me];
		tids[me] = syscall(SYS_gettid);
	}
	stolen = stolen_ns() - stolen;
	for (int i = 0; i < members; i++) {
		printf("cpu %ld %llu\n", tids[i], ns[i]);
		printf("stolen %ld %llu\n", tids[i], stolen);
	}
}

static void move(long times)
{
	unsigned long long moves = 0;
	cpu_set_t may;

	sched_getaffinity(0, sizeof(may), &may);
#pragma omp parallel num_threads(1)
	for (int cpu = 0; times && CPU_COUNT(&may) > 1; cpu = (cpu + 1) % CPU_SETSIZE) {
		cpu_set_t one;
		int before = sched_getcpu();

		if (!CPU_ISSET(cpu, &may) || cpu == before)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		moves += sched_getcpu() != before;
		times--;
	}
	say("moves", moves);
}

static void yield(long times)
{
#pragma omp parallel num_threads(1)
	for (long i = 0; i < times; i++) {
		compute(1);
		sched_yield();
	}
}

int main(int argc, char **argv)
{
	long arg[2] = {1, 200};

	program__args(argc, argv, arg, 2);
	if (arg[0] == 0)
		tasks(arg[1]);
	else if (arg[0] == 1)
		team(arg[1]);
	else if (arg[0] == 2)
		move(arg[1]);
	else
		yield(arg[1]);
	return 0;
}
