// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/prospects.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each holds a few descriptors. */
#define MAX_PROSPECTS 256
#define OPEN_FILES 8

struct prospects {
	struct prospect *list[MAX_PROSPECTS]; /* the oldest first */
	size_t count;
};

int prospects__new(struct prospects **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void prospect__free(struct prospect *prospect)
{
	if (!prospect)
		return;
	module_table__free(&prospect->modules);
	if (prospect->pidfd >= 0)
		close(prospect->pidfd);
	free(prospect);
}

void prospects__free(struct prospects *prospects)
{
	if (!prospects)
		return;
	for (size_t i = 0; i < prospects->count; i++)
		prospect__free(prospects->list[i]);
	free(prospects);
}

static struct prospect *take_at(struct prospects *prospects, size_t index)
{
	struct prospect *prospect = prospects->list[index];

	prospects->count--;
	for (; index < prospects->count; index++)
		prospects->list[index] = prospects->list[index + 1];
	return prospect;
}

struct prospect *prospects__take(struct prospects *prospects, pid_t pid)
{
	for (size_t i = 0; prospects && i < prospects->count; i++)
		if (prospects->list[i]->process.pid == pid)
			return take_at(prospects, i);
	return NULL;
}

void prospects__forget(struct prospects *prospects, pid_t pid)
{
	prospect__free(prospects__take(prospects, pid));
}

void prospects__look(struct prospects *prospects, pid_t pid, const char *runtime, bool late)
{
	struct prospect *prospect = prospects ? calloc(1, sizeof(*prospect)) : NULL;

	prospects__forget(prospects, pid);
	if (!prospect)
		return;
	*prospect = (struct prospect){.runtime = runtime, .late = late};
	prospect->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (prospect->pidfd < 0 || process__read(pid, &prospect->process) || prospect->process.dead ||
	    module_table__refresh(&prospect->modules, pid)) {
		prospect__free(prospect);
		return;
	}
	prospect->profile = policy__decide(&prospect->process);
	for (size_t i = 0; i < prospect->modules.count && i < OPEN_FILES; i++)
		module_table__open(&prospect->modules, &prospect->modules.modules[i], pid);
	if (prospects->count == MAX_PROSPECTS)
		prospect__free(take_at(prospects, 0));
	prospects->list[prospects->count++] = prospect;
}
