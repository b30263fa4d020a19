// SPDX-License-Identifier: BSD-2-Clause
/* Part of the tree: begins the recording of a process, and passes on what is known of its memory. */
#include "daemon/graind/shim/shim_counters.h"
#include "daemon/graind/tree/tree_state.h"

/*
 * A process that has ended still counts as the same: if it had executed another program, that would have
 * been reported before.
 */
static bool may_be_told(const struct tree *tree, pid_t pid)
{
	struct process now;

	return process__read_ids(pid, &now) != 0 || now.dead || process__belongs_to(&now, tree->uid);
}

void tree__tell_maps(struct tree *tree, const struct target *target)
{
	struct module_table maps = {0};

	if (!tree->watch || target->refused)
		return;
	watch__take_maps(tree->watch, target->pid, &maps);
	if (may_be_told(tree, target->pid))
		recorder__add_modules(target->member->recorder, &maps);
	module_table__free(&maps);
}

/* Despite the request the process got probes, and no counters were opened for them. */
static void tell_no_counters(struct recorder *recorder, const struct counter_set *asked)
{
	struct counter_set none = *asked;

	shim_counters__none(&none, "this process is recorded by probes: ask for counters without --fast");
	recorder__counters(recorder, &none);
}

bool tree__begin(struct tree *tree, struct target *target, struct failure *failure)
{
	const struct tree_member_start start = {
		.runtime = tree__name_runtimes(tree, target),
		.method = capture__method_name(tree->capture),
		.ns_per_event = target->by_itself ? 0 : tree->ns_per_event,
		.attach_ns = target->attached_ns > target->since_ns ? target->attached_ns : target->since_ns,
		.late = target->late,
		.source = tree->samples_only  ? "samples"
			  : target->by_itself ? "shim"
					      : "uprobes",
		.no_kernel_names = tree->no_kernel_names,
	};

	if (!target->member)
		target->member = tree_member__new(tree->jobs, target->process, target->pidfd,
						  target->parent_job, failure);
	if (!target->member)
		return false;
	target->member->job->max_bytes = tree->max_bytes;
	if (tree_member__begin(target->member, &start, tree->capture, failure) != 0)
		return false;
	target->member->costless = !target->by_itself && !tree->samples_only && !tree->limited;
	tree__tell_maps(tree, target);
	tree__tell_loops(tree, target);
	if (tree->fast && !target->by_itself && tree->counters)
		tell_no_counters(target->member->recorder, tree->counters);
	windows__enter(&tree->windows, target->member->job);
	if (tree->fast && !target->by_itself)
		tree_member__note(
			target->member,
			"recorded by probes, as without --fast: its OpenMP runtime is linked into the "
			"program, or is a libomp that runs GCC's code or has another tool, or "
			"libgrainshim.so is not loaded");
	if (target->bodies)
		tree_member__note(
			target->member,
			"libgomp is one whose calls of task and region bodies were not recognised: they are "
			"observed in the program's own functions, which costs it more");
	return true;
}
