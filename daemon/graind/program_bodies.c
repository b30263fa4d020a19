// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/program_bodies.h"
#include "daemon/graind/log.h"
#include "daemon/graind/plan_cache.h"

#include "bpf/cookie.h"
#include "uprobes/process_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_FILES 256

/* A file that was looked at. */
struct program_file {
	uint64_t device, inode;
	uint64_t *offsets; /* of the functions that are probed, or that cannot be */
	size_t count, room;
	bool complained;
};

struct program_bodies {
	struct capture *capture;
	struct program_file files[MAX_FILES];
	size_t file_count;
};

struct program_bodies *program_bodies__new(struct capture *capture)
{
	struct program_bodies *bodies = calloc(1, sizeof(*bodies));

	if (bodies)
		bodies->capture = capture;
	return bodies;
}

void program_bodies__free(struct program_bodies *bodies)
{
	if (!bodies)
		return;
	for (size_t i = 0; i < bodies->file_count; i++)
		free(bodies->files[i].offsets);
	free(bodies);
}

static struct program_file *find_file(struct program_bodies *bodies, const struct process_mapping *mapping)
{
	for (size_t i = 0; i < bodies->file_count; i++)
		if (bodies->files[i].device == mapping->device && bodies->files[i].inode == mapping->inode)
			return &bodies->files[i];
	return NULL;
}

static void add_offset(struct program_file *file, uint64_t offset)
{
	if (file->count == file->room) {
		size_t room = file->room ? 2 * file->room : 64;
		uint64_t *offsets = reallocarray(file->offsets, room, sizeof(*offsets));

		if (!offsets)
			return;
		file->offsets = offsets;
		file->room = room;
	}
	file->offsets[file->count++] = offset;
}

static bool has_offset(const struct program_file *file, uint64_t offset)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->offsets[i] == offset)
			return true;
	return false;
}

/* `offset` 0: all bodies of the file. Whether a probe was added. */
static bool probe(struct program_bodies *bodies, struct program_file *file, pid_t pid,
		  const struct process_mapping *mapping, uint64_t offset)
{
	int fd = process_maps__open(pid, mapping, NULL, 0), error = fd < 0 ? fd : 0;
	struct uprobes_error err = {.text = ""};
	struct probe_plan *plan = NULL;
	char path[64];

	if (!error) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		error = plan_cache__bodies(fd, mapping->path, offset, &plan, &err);
	}
	if (!error)
		error = capture__attach(bodies->capture, plan, path, &err);
	for (size_t i = 0; !error && i < probe_plan__count(plan); i++) {
		const struct probe_point *point = probe_plan__point(plan, i);

		add_offset(file, point->offset + (uint64_t)(int64_t)COOKIE_OFF(point->entry_cookie));
	}
	/* Most files have none. */
	if (error && error != -ENOENT && error != -ESRCH && !file->complained) {
		log__line(LOG_WARNING, "the bodies of OpenMP constructs in %.300s are not observed: %s",
			  mapping->path, err.text[0] ? err.text : "the file cannot be opened");
		file->complained = true;
	}
	probe_plan__free(plan);
	if (fd >= 0)
		close(fd);
	return !error;
}

static struct program_file *add_file(struct program_bodies *bodies, pid_t pid,
				     const struct process_mapping *mapping)
{
	struct program_file *file = &bodies->files[bodies->file_count];

	if (bodies->file_count == MAX_FILES)
		return NULL;
	*file = (struct program_file){.device = mapping->device, .inode = mapping->inode};
	bodies->file_count++;
	probe(bodies, file, pid, mapping, 0);
	return file;
}

struct search {
	struct program_bodies *bodies;
	pid_t pid;
	uint64_t address;
	bool late;
};

static int look_at(void *ctx, const struct process_mapping *mapping)
{
	struct search *search = ctx;

	if (!find_file(search->bodies, mapping))
		add_file(search->bodies, search->pid, mapping);
	return 0;
}

void program_bodies__look(struct program_bodies *bodies, pid_t pid)
{
	struct search search = {.bodies = bodies, .pid = pid};

	process_maps__each(pid, look_at, &search);
}

static int look_for(void *ctx, const struct process_mapping *mapping)
{
	struct search *search = ctx;
	struct program_file *file;
	uint64_t offset;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	offset = search->address - mapping->start + mapping->offset;
	file = find_file(search->bodies, mapping);
	if (file && has_offset(file, offset))
		return 1;
	search->late = true;
	if (!file)
		file = add_file(search->bodies, search->pid, mapping);
	if (file && !has_offset(file, offset) && !probe(search->bodies, file, search->pid, mapping, offset))
		add_offset(file, offset);
	return 1;
}

bool program_bodies__seen(struct program_bodies *bodies, pid_t pid, uint64_t address)
{
	struct search search = {.bodies = bodies, .pid = pid, .address = address};

	process_maps__each(pid, look_for, &search);
	return search.late;
}
