/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/terminal/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOMENT_NS 400000000u
#define REFRESH_NS 100000000u
#define BAR 40

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void progress__start(struct progress *progress, const char *what)
{
	const char *term = getenv("TERM");

	*progress = (struct progress){.what = what,
				      .start_ns = now_ns(),
				      .terminal = isatty(STDERR_FILENO) && term && *term};
}

void progress__update(void *ctx, double done)
{
	struct progress *progress = ctx;
	uint64_t now;
	int filled;

	if (!progress->terminal)
		return;
	now = now_ns();
	if (now - progress->start_ns < MOMENT_NS || now - progress->shown_ns < REFRESH_NS)
		return;
	if (!(done >= 0))
		done = 0;
	if (done > 1)
		done = 1;
	filled = (int)(done * BAR);
	fprintf(stderr, "\r%s [%.*s%*s] %3d %%", progress->what, filled,
		"########################################", BAR - filled, "", (int)(done * 100));
	fflush(stderr);
	progress->shown_ns = now;
	progress->shown = true;
}

void progress__end(struct progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r%*s\r", 78, "");
	progress->shown = false;
}
