// SPDX-License-Identifier: BSD-2-Clause
/* Part of the tree: the runtimes that its processes have mapped, and their probes. */
#include "daemon/graind/base/clock.h"
#include "daemon/graind/tree/tree_state.h"
#include "uprobes/runtime/process_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHIM_LIBRARY "libgrainshim.so"

/*
 * Attaches to a file for all processes. Returns its index, even if it cannot be probed, or TREE_MAX_FILES.
 * `unseen`: no process has mapped the file yet. Such a file is not added if its probes could kill a process
 * that maps it.
 */
static size_t add_file(struct tree *tree, const struct runtime_file *file, bool unseen,
		       struct failure *failure)
{
	size_t index = tree->file_count;
	bool lost = false;

	if (index == TREE_MAX_FILES) {
		failure__set(failure, 503, "too many OpenMP runtimes are in use at a time");
		return index;
	}
	tree->files[index] = *file;
	tree->bodies[index] = false;
	if (tree__has_shadow_stack(tree))
		tree->usable[index] =
			failure__set(failure, 422,
				     "another process of the job has a shadow stack, which this "
				     "kernel's probes do not keep") == 0;
	else
		tree->usable[index] =
			attach__add(tree->capture, file, unseen, &lost, &tree->bodies[index], failure) == 0;
	if (lost && unseen)
		return TREE_MAX_FILES;
	if (tree->bodies[index] && !tree->program_bodies)
		tree->program_bodies = program_bodies__new(tree->capture, PLAN_BODIES, false);
	tree->file_count++;
	return index;
}

static int is_library(void *unused, const struct process_mapping *mapping)
{
	const char *name = strrchr(mapping->path, '/');

	(void)unused;
	return name && !strcmp(name + 1, SHIM_LIBRARY);
}

static bool is_program(pid_t pid, const struct runtime_file *file)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode;
}

/*
 * Whether the runtime of the process must be probed. A runtime that libgrainshim records is not probed. A
 * process that has mapped libgrainshim loaded it before the runtime.
 */
static bool is_probed(const struct tree *tree, const struct target *target, const struct runtime_file *file)
{
	if (!tree->fast)
		return true;
	/* The library will be injected later. */
	if (tree->attached)
		return file->runtime == RUNTIME_LIBOMP && !target->no_probes;
	if (is_program(target->pid, file))
		return true;
	if (file->runtime == RUNTIME_LIBOMP && target->wants_probes)
		return true;
	return process_maps__each(target->pid, is_library, NULL) == 0;
}

void tree__add_system_files(struct tree *tree)
{
	struct runtime_file *files = calloc(2, sizeof(*files));
	struct failure ignored;
	int count = files && !tree->fast ? attach__system(files) : 0;

	for (int i = 0; i < count; i++)
		if (runtime_find__index(tree->files, tree->file_count, &files[i]) == tree->file_count)
			add_file(tree, &files[i], true, &ignored);
	free(files);
}

const char *tree__name_runtimes(const struct tree *tree, const struct target *target)
{
	struct runtime_file *mapped = calloc(ATTACH_MAX_RUNTIMES, sizeof(*mapped));
	struct failure ignored;
	int count = mapped ? attach__find(target->pid, mapped, &ignored) : 0;
	const char *name;
	int used = 0;

	for (int i = 0; i < count; i++) {
		size_t index = runtime_find__index(tree->files, tree->file_count, &mapped[i]);

		if (tree->fast || (index < tree->file_count && tree->usable[index]))
			mapped[used++] = mapped[i];
	}
	name = attach__name(mapped, used);
	free(mapped);
	return name;
}

static void note_file(struct target *target, const struct runtime_file *file, const char *why,
		      uint64_t late_ns)
{
	char text[700];

	if (!target->member)
		return;
	if (why)
		snprintf(text, sizeof(text), "not observed: %s", why);
	else
		snprintf(text, sizeof(text),
			 "late: %.400s was found %.1f ms after it was mapped; what it did until then is "
			 "missing",
			 file->path, (double)late_ns / 1e6);
	tree_member__note(target->member, text);
}

void tree__tell_loops(const struct tree *tree, struct target *target)
{
	size_t understood, missing;
	char text[200];

	if (!tree->loops || !target->member)
		return;
	program_bodies__loops(tree->loops, &understood, &missing);
	if (missing <= target->loops_told)
		return;
	snprintf(text, sizeof(text),
		 "static loops: %zu of the %zu that GCC wrote into the program are not understood; what "
		 "threads "
		 "do in them is missing",
		 missing, understood + missing);
	tree_member__note(target->member, text);
	target->loops_told = missing;
}

int tree__look(struct tree *tree, struct target *target, struct failure *failure)
{
	struct runtime_file *mapped;
	int count, probed = 0, usable = 0;

	target->look = false;
	if (tree->samples_only || target->refused)
		return 0;
	if (tree__refuse_shadow_stack(tree, target, failure) != 0) {
		tree__take_probes(tree, target);
		target->refused = true;
		note_file(target, NULL, failure->text, 0);
		return -1;
	}
	mapped = calloc(ATTACH_MAX_RUNTIMES, sizeof(*mapped));
	count = mapped ? attach__find(target->pid, mapped, failure)
		       : failure__set(failure, 503, "graind is out of memory");
	for (int i = 0; i < count; i++) {
		size_t index = runtime_find__index(tree->files, tree->file_count, &mapped[i]);
		bool known = index < tree->file_count;

		if (!is_probed(tree, target, &mapped[i]))
			continue;
		probed++;
		if (!known) {
			failure->text[0] = 0;
			index = add_file(tree, &mapped[i], false, failure);
			/* A process that waits for its probes has not used the runtime yet. */
			target->late |= !target->wants_probes;
			if (index == TREE_MAX_FILES || !tree->usable[index])
				note_file(target, &mapped[i], failure->text, 0);
			else if (target->mapped_ns && !target->wants_probes)
				note_file(target, &mapped[i], NULL, clock__now_ns() - target->mapped_ns);
		}
		if (index < TREE_MAX_FILES) {
			usable += tree->usable[index];
			target->bodies |= tree->bodies[index];
		}
	}
	if (target->bodies && tree->program_bodies)
		program_bodies__look(tree->program_bodies, target->pid);
	if (count > 0 && !tree->loops)
		tree->loops = program_bodies__new(tree->capture, PLAN_LOOPS, false);
	for (int i = 0; tree->loops && i < count; i++)
		if (!is_program(target->pid, &mapped[i]))
			program_bodies__leave_out(tree->loops, mapped[i].device, mapped[i].inode);
	if (count > 0 && tree->loops)
		program_bodies__look(tree->loops, target->pid);
	tree__tell_loops(tree, target);
	target->mapped_ns = 0;
	target->probed = probed;
	free(mapped);
	/* If a runtime cannot be probed, this is a failure only if there is no other runtime. */
	if (probed && !usable)
		return failure->text[0] ? -1
					: failure__set(failure, 422, "its OpenMP runtime cannot be probed");
	return count < 0 ? -1 : usable;
}
