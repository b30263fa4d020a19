// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/prospect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Each prospect holds a few descriptors. */
#define OPEN_FILES 8

void prospect__free(struct prospect *prospect)
{
	if (!prospect)
		return;
	module_table__free(&prospect->modules);
	if (prospect->search)
		runtime_find__end(prospect->search, NULL, 0);
	free(prospect->runtimes);
	if (prospect->pidfd >= 0)
		close(prospect->pidfd);
	free(prospect);
}

/* Of the runtimes that the process has mapped; false: that cannot be known. */
static bool begin_search(struct prospect *prospect, pid_t pid)
{
	struct uprobes_error ignored;

	prospect->runtimes = calloc(ATTACH_MAX_RUNTIMES, sizeof(*prospect->runtimes));
	return prospect->runtimes && runtime_find__begin(pid, &prospect->search, &ignored) == 0;
}

void prospect__search(struct prospect *prospect)
{
	if (!prospect->search)
		return;
	prospect->runtime_count =
		(int)runtime_find__end(prospect->search, prospect->runtimes, ATTACH_MAX_RUNTIMES);
	prospect->search = NULL;
}

/* What is gone first with the process is read first. */
struct prospect *prospect__read(pid_t pid)
{
	struct prospect *prospect = calloc(1, sizeof(*prospect));

	if (!prospect)
		return NULL;
	prospect->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (prospect->pidfd < 0 || process__read(pid, &prospect->process) || prospect->process.dead ||
	    module_table__refresh(&prospect->modules, pid) || !begin_search(prospect, pid)) {
		prospect__free(prospect);
		return NULL;
	}
	for (size_t i = 0; i < prospect->modules.count && i < OPEN_FILES; i++)
		module_table__open(&prospect->modules, &prospect->modules.modules[i], pid);
	prospect->profile = policy__decide(&prospect->process);
	if (runtime_find__is_quick(prospect->search))
		prospect__search(prospect);
	return prospect;
}

/* CLOCK_MONOTONIC, a tick of the kernel's late at most; UINT64_MAX: nobody knows. */
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

struct prospect *prospect__refresh(struct prospect *prospect, uint64_t time_ns)
{
	struct process *now = malloc(sizeof(*now));
	pid_t pid = prospect->process.pid;
	bool lives = now && process__read(pid, now) == 0 && !now->dead;

	/* Looked at after that: what was read is of the process with this descriptor. */
	if (lives && !process__has_ended(prospect->pidfd)) {
		prospect->process = *now;
		prospect->profile = policy__decide(now);
	} else if (lives && started_ns(pid) <= time_ns) {
		prospect__free(prospect);
		prospect = prospect__read(pid);
		if (prospect)
			prospect__search(prospect);
	}
	free(now);
	return prospect;
}
