// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints what a round trip between two processes on one CPU costs the first of them, in nanoseconds of its
 * CPU time: two context switches and two wakeups, of which it has one each. The least of many measures.
 */
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TRIPS 2000
#define MEASURES 100

static double cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(void)
{
	int there[2], back[2];
	double least = 0;
	cpu_set_t one;
	char byte = 0;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (pipe(there) || pipe(back) || sched_setaffinity(0, sizeof(one), &one))
		return 1;
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		return 0;
	}
	for (int i = 0; i < MEASURES; i++) {
		double began = cpu_ns(), each;

		for (int k = 0; k < TRIPS; k++)
			if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				return 1;
		each = (cpu_ns() - began) / TRIPS;
		least = i == 0 || each < least ? each : least;
	}
	printf("%.0f\n", least);
	return 0;
}
