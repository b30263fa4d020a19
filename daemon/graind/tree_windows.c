// SPDX-License-Identifier: BSD-2-Clause
/* The ceiling of a tree: its processes, those that write by themselves among them, have the same windows. */
#include "daemon/graind/tree.h"

static void each(void *owner, windows_visit visit, const void *ctx)
{
	const struct tree *tree = owner;

	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member)
			visit(tree->targets[i].member->job, tree->targets[i].member->recorder, ctx);
}

/* Rings that processes fill by themselves need no probes. */
static bool need_no_probes(void *owner)
{
	const struct tree *tree = owner;

	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].wants_probes)
			return false;
	return true;
}

static void pause_them(void *owner)
{
	tree__pause_shims(owner);
}

static void resume_them(void *owner)
{
	tree__resume_shims(owner);
}

static double cost_of_them(void *owner)
{
	return tree__cost_of_shims(owner);
}

void tree__limit(struct tree *tree, const struct job *job)
{
	static const struct windows_members probed = {.each = each};
	static const struct windows_members fast = {
		.each = each,
		.need_no_probes = need_no_probes,
		.pause = pause_them,
		.resume = resume_them,
		.cost_ns = cost_of_them,
	};

	if (!tree->samples_only)
		windows__open(&tree->windows, tree->capture, tree->ns_per_event, job->ceiling_percent,
			      tree->fast ? &fast : &probed, tree);
}
