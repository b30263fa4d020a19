/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a program: a dlopen that fails by a signal when it is to load graind's
 * library; with WORK_MS in the environment one that takes so long the first time, and
 * until there is the file WORK_UNTIL.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void *dlopen(const char *name, int flags)
{
	static int calls;
	const char *work = getenv("WORK_MS"), *file = getenv("WORK_UNTIL");
	int ours = name && strstr(name, "libgrainshim");
	volatile int *volatile nothing = NULL;
	void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	long until = now_ms() + (work && ours && !calls++ ? atol(work) : 0);

	if (ours && !work)
		*nothing = 0;
	while (now_ms() < until || (work && ours && calls == 1 && file && access(file, F_OK)))
		;
	return work ? real(name, flags) : NULL;
}
