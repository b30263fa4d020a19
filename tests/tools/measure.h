/* SPDX-License-Identifier: BSD-2-Clause */
/* Time and memory of the program that measures itself, on one core. */
#ifndef GRAIND_TOOLS_MEASURE_H
#define GRAIND_TOOLS_MEASURE_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Without what the kernel needs to hand out memory. */
static inline double user_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

/* Of this program alone: what getrusage knows began before it. */
static inline long status_kb(const char *field)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, field, strlen(field)) == 0)
			kb = atol(line + strlen(field));
	if (f)
		fclose(f);
	return kb;
}

static inline void use_one_core(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	/* Where that is not allowed, the program still has only one thread. */
	(void)sched_setaffinity(0, sizeof(one), &one);
}

#endif
