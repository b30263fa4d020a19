// SPDX-License-Identifier: BSD-2-Clause
/* Part of the tree: processes with shadow stacks, on kernels whose probes would kill them. */
#include "daemon/graind/process/shadow_stack.h"
#include "daemon/graind/tree/tree_state.h"

#include <stdio.h>

int tree__refuse_shadow_stack(struct tree *tree, struct target *target, struct failure *failure)
{
	const char *why = tree->samples_only ? NULL : shadow_stack__why_not_process(target->pid);

	target->shadow_stack = why != NULL;
	if (!why || (tree->fast && !tree->file_count))
		return 0;
	tree->shadowed++;
	return failure__set(failure, 422, "process %d %s", (int)target->pid, why);
}

bool tree__has_shadow_stack(const struct tree *tree)
{
	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].shadow_stack)
			return true;
	return false;
}

void tree__note_shadow_stacks(const struct tree *tree, struct tree_member *member)
{
	char text[400];

	if (!tree->shadowed)
		return;
	snprintf(text, sizeof(text),
		 "%llu programs have shadow stacks, which this kernel's probes do not keep: they were left "
		 "alone; start them with GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK, or record all with grainctl "
		 "run --fast",
		 (unsigned long long)tree->shadowed);
	tree_member__note(member, text);
}
