// SPDX-License-Identifier: BSD-2-Clause
/* Part of the tree: processes that libgrainshim records. Takes their connections and drains their rings. */
#include "daemon/graind/base/log.h"
#include "daemon/graind/shim/shim_server.h"
#include "daemon/graind/tree/tree_state.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The process waits until its libomp is probed, and uses libomp only after that. */
static void probe(struct tree *tree, struct target *target, int connection)
{
	struct failure failure = {.status = 0};

	target->wants_probes = true;
	if (tree__look(tree, target, &failure) < 0)
		log__line(LOG_WARNING, "process %d: its libomp is not recorded: %s", (int)target->pid,
			  failure.text);
	/* The process gets its job when it is examined again. */
	target->look = true;
	send(connection, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(connection);
}

/*
 * Whether the process connected as another user, who may still hold the other end of the connection. This
 * happens if it has executed a set-uid program since.
 */
static bool has_changed(const struct target *target, const struct shim_coming *coming)
{
	struct process now;

	return process__read_ids(target->pid, &now) != 0 || now.uid != coming->uid;
}

/* Begins the recording of a process that has connected. */
static bool welcome(struct tree *tree, struct target *target, int connection)
{
	struct failure failure = {.status = 0};
	int error = 0;

	target->by_itself = true;
	/* The process waits for its rings, so everything that must be known about it can be read now. */
	if ((target->member && target->member->recorder) || tree__begin(tree, target, &failure)) {
		const struct shim_rings_opts opts = {
			.lossless = tree->lossless,
			.pauses = windows__pauses(&tree->windows),
			.counters = tree->counters,
		};

		error = shim_rings__new(target->pid, connection, &opts, &target->member->shim);
		if (!error)
			return true;
		failure__set(&failure, 503, "%s: %s",
			     error == -EPIPE ? "it no longer waited for graind, try again"
					     : "no memory to share with it",
			     strerror(-error));
		tree_member__note(target->member, failure.text);
	} else {
		close(connection);
	}
	log__line(LOG_WARNING, "process %d is not recorded: %s", (int)target->pid, failure.text);
	target->refused = true;
	/* The process may have executed another program, which connects again. */
	target->left = error == -EPIPE;
	return false;
}

void tree__drain_shims(struct tree *tree)
{
	tree->fullest = 0;

	for (size_t i = 0; i < tree->target_count; i++) {
		struct target *target = &tree->targets[i];
		struct inside_counts counts;
		struct shim_coming coming = {.libomp = false};
		int connection = -1;
		long got;

		if (!target->previous && !target->refused)
			connection = shim_server__take(target->pid, tree->followed_ns, &coming);
		if (connection >= 0 && has_changed(target, &coming)) {
			close(connection);
			connection = -1;
		}
		/* The process connects for libgomp. If it loads libomp later, libomp is probed. */
		if (connection >= 0 && target->no_probes && !coming.libomp) {
			target->no_probes = false;
			target->look = true;
		}
		if (connection >= 0)
			urgency__rest(&tree->urgency);
		if (connection >= 0 && coming.wants_probes)
			probe(tree, target, connection);
		else if (connection >= 0 && target->member && target->member->shim)
			close(connection);
		else if (connection >= 0 && welcome(tree, target, connection))
			tree->fullest = SHIM_RING_WORDS;
		if (!target->member || !target->member->shim)
			continue;
		urgency__rush(&tree->urgency, URGENCY_DRAIN);
		got = shim_rings__drain(target->member->shim, target->member->recorder, false);
		shim_rings__counts(target->member->shim, &counts);
		recorder__inside(target->member->recorder, &counts);
		if ((uint64_t)got > tree->fullest)
			tree->fullest = (uint64_t)got;
	}
}

/* Returns NULL if the target has none. */
static struct shim_rings *rings_of(const struct target *target)
{
	return target->member ? target->member->shim : NULL;
}

static void for_all(struct tree *tree, void (*change)(struct shim_rings *))
{
	for (size_t i = 0; i < tree->target_count; i++)
		if (rings_of(&tree->targets[i]))
			change(rings_of(&tree->targets[i]));
}

void tree__disable_shims(struct tree *tree)
{
	for_all(tree, shim_rings__disable);
}

void tree__pause_shims(struct tree *tree)
{
	for_all(tree, shim_rings__pause);
}

void tree__resume_shims(struct tree *tree)
{
	for_all(tree, shim_rings__resume);
}

double tree__cost_of_shims(struct tree *tree)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double most_ns = 0, all_ns = 0;

	for (size_t i = 0; i < tree->target_count; i++) {
		struct shim_rings *rings = rings_of(&tree->targets[i]);
		uint64_t most, all;
		double ns;

		if (!rings)
			continue;
		shim_rings__pace(rings, &most, &all);
		ns = shim_rings__ns_per_event(rings);
		most_ns = fmax(most_ns, ns * (double)most);
		all_ns += ns * (double)all;
	}
	/* Several threads may share a CPU. */
	return fmax(most_ns, all_ns / (double)(cpus > 0 ? cpus : 1));
}
