// SPDX-License-Identifier: BSD-2-Clause
/*
 * attach_cost LIBRARY PID: what attaching the full probe set for a process that
 * has mapped the library takes, in milliseconds, as JSON: planning, the first
 * attach, one more process, and detaching everything.
 */
#include "uprobes/capture/capture.h"
#include "uprobes/make_plan/make_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const struct capture_opts opts = {.several = true,
					  .ready = 1u << RUNTIME_LIBGOMP | 1u << RUNTIME_LIBOMP};
	struct uprobes_error err = {.text = ""};
	struct capture *capture = NULL;
	struct probe_plan *plan = NULL;
	double start, planned, opened, attached, added;
	pid_t pid;

	if (argc != 3)
		return 2;
	pid = atoi(argv[2]);
	start = now_ms();
	if (probe_plan__create(argv[1], &plan, &err))
		goto fail;
	planned = now_ms() - start;
	if (capture__open(&opts, &capture, &err) || capture__add_process(capture, pid, &err))
		goto fail;
	opened = now_ms();
	if (capture__attach(capture, plan, argv[1], &err))
		goto fail;
	attached = now_ms() - opened;
	start = now_ms();
	if (capture__add_process(capture, getppid(), &err))
		goto fail;
	added = now_ms() - start;
	start = now_ms();
	capture__free(capture);
	printf("{\"points\":%zu,\"plan_ms\":%.2f,\"attach_ms\":%.2f,\"add_ms\":%.2f,\"detach_ms\":%.2f}\n",
	       probe_plan__count(plan), planned, attached, added, now_ms() - start);
	probe_plan__free(plan);
	return 0;
fail:
	fprintf(stderr, "%s\n", err.text);
	capture__free(capture);
	probe_plan__free(plan);
	return 1;
}
