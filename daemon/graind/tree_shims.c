// SPDX-License-Identifier: BSD-2-Clause
/* Of a tree whose processes write by themselves: who has come, and what they have written. */
#include "daemon/graind/log.h"
#include "daemon/graind/shim_server.h"
#include "daemon/graind/tree.h"

#include <string.h>
#include <unistd.h>

/* A process that has come by itself is recorded from now on. */
static bool welcome(struct tree *tree, struct target *target)
{
	struct failure failure = {.status = 0};
	int connection = shim_server__take(target->pid), error = 0;

	if (connection < 0)
		return false;
	target->by_itself = true;
	/* It waits: until it has the rings, what must be known of it can be read. */
	if ((target->member && target->member->recorder) || tree__begin(tree, target, &failure)) {
		error = shim_rings__new(target->pid, connection, tree->lossless, &target->member->shim);
		if (!error)
			return true;
		failure__set(&failure, 503, "no memory to share with it: %s", strerror(-error));
	} else {
		close(connection);
	}
	log__line(LOG_WARNING, "process %d is not recorded: %s", (int)target->pid, failure.text);
	target->refused = true;
	return false;
}

/* So many events to come soon that nobody may sleep. */
#define SOON 1000

long tree__drain_shims(struct tree *tree)
{
	long all = 0;

	for (size_t i = 0; i < tree->target_count; i++) {
		struct target *target = &tree->targets[i];
		struct inside_counts counts;
		long got;

		if (!target->previous && !target->refused && !(target->member && target->member->shim))
			all += welcome(tree, target) ? SOON : 0;
		if (!target->member || !target->member->shim)
			continue;
		got = shim_rings__drain(target->member->shim, target->member->recorder);
		shim_rings__counts(target->member->shim, &counts);
		recorder__inside(target->member->recorder, &counts);
		target->member->got += got;
		all += got;
	}
	return all;
}
