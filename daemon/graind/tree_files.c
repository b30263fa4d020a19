// SPDX-License-Identifier: BSD-2-Clause
/* Of a tree: which runtimes its processes have mapped, and the probes in them. */
#include "daemon/graind/tree.h"
#include "uprobes/process_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHIM_LIBRARY "libgrainshim.so"

/* Attached for all processes; its index, also when it cannot be probed, or TREE_MAX_FILES. */
static size_t add_file(struct tree *tree, const struct runtime_file *file, struct failure *failure)
{
	size_t index = tree->file_count;

	if (index == TREE_MAX_FILES) {
		failure__set(failure, 503, "too many OpenMP runtimes are in use at a time");
		return index;
	}
	tree->files[index] = *file;
	tree->bodies[index] = false;
	tree->usable[index] = attach__add(tree->capture, file, &tree->bodies[index], failure) == 0;
	if (tree->bodies[index] && !tree->program_bodies)
		tree->program_bodies = program_bodies__new(tree->capture);
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

/* What records by itself is not: a library of a process that has mapped ours, which came first. */
static bool is_probed(const struct tree *tree, const struct target *target, const struct runtime_file *file)
{
	if (!tree->fast)
		return true;
	/* The library is yet to come. */
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
			add_file(tree, &files[i], &ignored);
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
	member__note(target->member, text);
}

int tree__look(struct tree *tree, struct target *target, struct failure *failure)
{
	struct runtime_file *mapped;
	int count, probed = 0, usable = 0;

	target->look = false;
	if (tree->samples_only)
		return 0;
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
			index = add_file(tree, &mapped[i], failure);
			/* One that waits for them has done nothing yet. */
			target->late |= !target->wants_probes;
			if (index == TREE_MAX_FILES || !tree->usable[index])
				note_file(target, &mapped[i], failure->text, 0);
			else if (target->mapped_ns && !target->wants_probes)
				note_file(target, &mapped[i], NULL, job__now_ns() - target->mapped_ns);
		}
		if (index < TREE_MAX_FILES) {
			usable += tree->usable[index];
			target->bodies |= tree->bodies[index];
		}
	}
	if (target->bodies && tree->program_bodies)
		program_bodies__look(tree->program_bodies, target->pid);
	target->mapped_ns = 0;
	target->probed = probed;
	free(mapped);
	/* One that cannot be probed is a failure only when there is no other. */
	if (probed && !usable)
		return failure->text[0] ? -1
					: failure__set(failure, 422, "its OpenMP runtime cannot be probed");
	return count < 0 ? -1 : usable;
}
