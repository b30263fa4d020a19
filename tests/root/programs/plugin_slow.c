/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes SLOW_MS milliseconds to load, and until there is the file SLOW_UNTIL, during which nobody else can
 * load anything.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static __attribute__((constructor)) void load(void)
{
	const char *text = getenv("SLOW_MS"), *file = getenv("SLOW_UNTIL");
	long ms = text ? atol(text) : 0;
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&time, &time) != 0)
		;
	while (file && access(file, F_OK))
		usleep(1000);
}
