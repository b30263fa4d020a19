// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session/candidate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The largest number of mapped files that a candidate keeps open. */
#define OPEN_FILES 8

void candidate__free(struct candidate *candidate)
{
	if (!candidate)
		return;
	module_table__free(&candidate->modules);
	if (candidate->search)
		runtime_find__end(candidate->search, NULL, 0);
	free(candidate->runtimes);
	if (candidate->pidfd >= 0)
		close(candidate->pidfd);
	free(candidate);
}

/* Begins the search for the runtimes that the process has mapped. False: the search is not possible. */
static bool begin_search(struct candidate *candidate, pid_t pid)
{
	struct uprobes_error ignored;

	candidate->runtimes = calloc(ATTACH_MAX_RUNTIMES, sizeof(*candidate->runtimes));
	return candidate->runtimes && runtime_find__begin(pid, &candidate->search, &ignored) == 0;
}

void candidate__search(struct candidate *candidate)
{
	if (!candidate->search)
		return;
	candidate->runtime_count =
		(int)runtime_find__end(candidate->search, candidate->runtimes, ATTACH_MAX_RUNTIMES);
	candidate->search = NULL;
}

/* The order of the reads matters: what vanishes first at the end of the process is read first. */
struct candidate *candidate__read(pid_t pid)
{
	struct candidate *candidate = calloc(1, sizeof(*candidate));

	if (!candidate)
		return NULL;
	candidate->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (candidate->pidfd < 0 || process__read(pid, &candidate->process) || candidate->process.dead ||
	    module_table__refresh(&candidate->modules, pid) || !begin_search(candidate, pid)) {
		candidate__free(candidate);
		return NULL;
	}
	for (size_t i = 0; i < candidate->modules.count && i < OPEN_FILES; i++)
		module_table__open(&candidate->modules, &candidate->modules.modules[i], pid);
	candidate->profile = policy__decide(&candidate->process);
	if (runtime_find__is_quick(candidate->search))
		candidate__search(candidate);
	return candidate;
}

/*
 * Returns when the process started (CLOCK_MONOTONIC). The result is late by less than a kernel tick.
 * UINT64_MAX: unknown.
 */
static uint64_t started_ns(pid_t pid)
{
	struct timespec boot, now;
	uint64_t ticks;

	if (!process__stat(pid, 22, &ticks))
		return UINT64_MAX;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK) -
			  (double)(boot.tv_sec - now.tv_sec) * 1e9 - (double)(boot.tv_nsec - now.tv_nsec));
}

struct candidate *candidate__refresh(struct candidate *candidate, uint64_t time_ns)
{
	struct process *now = malloc(sizeof(*now));
	pid_t pid = candidate->process.pid;
	bool lives = now && process__read(pid, now) == 0 && !now->dead;

	/* This test must follow the reading: if the process still exists now, the data belong to it. */
	if (lives && !process__has_ended(candidate->pidfd)) {
		candidate->process = *now;
		candidate->profile = policy__decide(now);
	} else if (lives && started_ns(pid) <= time_ns) {
		candidate__free(candidate);
		candidate = candidate__read(pid);
		if (candidate)
			candidate__search(candidate);
	}
	free(now);
	return candidate;
}
