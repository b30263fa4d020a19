// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session/refusals.h"

#include "uprobes/capture/capture.h"

static void leave(struct refusals *refusals, size_t at)
{
	if (refusals->list[at].pid)
		capture__accept_process(refusals->capture, refusals->list[at].pid);
	refusals->list[at].pid = 0;
}

void refusals__add(struct refusals *refusals, pid_t pid, bool by_policy)
{
	size_t at = refusals->next++ % REFUSALS_MOST;

	leave(refusals, at);
	refusals->list[at].pid = pid;
	refusals->list[at].by_policy = by_policy;
	capture__refuse_process(refusals->capture, pid);
}

bool refusals__has(const struct refusals *refusals, pid_t pid)
{
	for (size_t i = 0; i < REFUSALS_MOST; i++)
		if (refusals->list[i].pid == pid)
			return true;
	return false;
}

void refusals__forget(struct refusals *refusals, pid_t pid)
{
	for (size_t i = 0; i < REFUSALS_MOST; i++)
		if (refusals->list[i].pid == pid)
			leave(refusals, i);
}

void refusals__follow(struct refusals *refusals, unsigned int generation)
{
	for (size_t i = 0; refusals->policy != generation && i < REFUSALS_MOST; i++)
		if (refusals->list[i].by_policy)
			leave(refusals, i);
	refusals->policy = generation;
}
