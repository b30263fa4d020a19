// SPDX-License-Identifier: BSD-2-Clause
/*
 * Part of the tree: limits how many processes are followed. Each process with probes makes every probe hit
 * in the same file slower, for all users. Setting and removing its probes also delays all others who set or
 * remove probes.
 */
#include "daemon/graind/limits/cpu_budget.h"
#include "daemon/graind/tree/tree_state.h"

#include <stdio.h>

/* Removing probes takes about as long as setting them. */
#define BOTH_WAYS 2

static int take_place(struct tree *tree, struct target *target, bool child, struct failure *failure)
{
	uid_t account = tree->attachment.share.account;
	unsigned int seconds;
	char why[400];

	target->share = (struct budget_share){.account = account};
	if (child && account && !cpu_budget__allows(CPU_OF_CHILDREN, account, &seconds))
		return failure__set(failure, 429, "probes in children have taken too much time");
	if (budget__take(budget__host(), &target->share, BUDGET_PROCESSES, 1, why, sizeof(why)) != 0)
		return failure__set(failure, 429, "%s", why);
	return 0;
}

int tree__set_probes(struct tree *tree, struct target *target, bool child, struct failure *failure)
{
	struct uprobes_error err = {.text = ""};
	uint64_t before_ns = urgency__cpu_ns();
	int error;

	if (take_place(tree, target, child, failure) != 0) {
		tree->crowded += child;
		return -1;
	}
	error = capture__add_process(tree->capture, target->pid, &err);
	if (child)
		cpu_budget__spend(CPU_OF_CHILDREN, target->share.account,
				  BOTH_WAYS * (urgency__cpu_ns() - before_ns));
	if (!error)
		return 0;
	budget__give_back(budget__host(), &target->share);
	return failure__set(failure, 503, "%s", err.text);
}

void tree__take_probes(struct tree *tree, struct target *target)
{
	capture__drop_process(tree->capture, target->pid);
	budget__give_back(budget__host(), &target->share);
}

static void note(struct tree_member *member, uint64_t count, const char *what)
{
	char text[240];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%llu child processes %s", (unsigned long long)count, what);
	tree_member__note(member, text);
}

void tree__note_missed(const struct tree *tree, struct tree_member *member)
{
	tree__note_shadow_stacks(tree, member);
	note(member, tree->missed,
	     "ended before they could be probed; whether they used OpenMP is not known");
	note(member, tree->crowded,
	     "were not followed: so many of one user's have probes already, or so much time went into "
	     "setting "
	     "them, that others would feel it; whether they used OpenMP is not known");
}
