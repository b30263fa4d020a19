// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cost ceiling of a tree. All its processes have the same windows, including processes that
 * libgrainshim records.
 */
#include "daemon/graind/tree/tree_state.h"

static void each(void *owner, windows_visit visit, const void *ctx)
{
	const struct tree *tree = owner;

	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member)
			visit(tree->targets[i].member->job, tree->targets[i].member->recorder, ctx);
}

/* Processes that libgrainshim records need no probes. */
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

static bool records_any(const struct tree *tree)
{
	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member)
			return true;
	return false;
}

void tree__limit(struct tree *tree, bool waits)
{
	static const struct windows_members probed = {.each = each};
	static const struct windows_members fast = {
		.each = each,
		.need_no_probes = need_no_probes,
		.pause = pause_them,
		.resume = resume_them,
		.cost_ns = cost_of_them,
	};

	if (tree->limited || tree->samples_only ||
	    (!waits && attach__measures(&tree->attachment, records_any(tree))))
		return;
	tree->limited = true;
	tree->ns_per_event = attach__ns_per_event(&tree->attachment);
	windows__open(&tree->windows, tree->capture, tree->ns_per_event, tree->ceiling_percent,
		      tree->fast ? &fast : &probed, tree);
	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member && tree->targets[i].member->costless)
			tree_member__cost(tree->targets[i].member, tree->ns_per_event);
}
