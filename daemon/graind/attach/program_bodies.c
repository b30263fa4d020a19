// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/attach/program_bodies.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/attach/attach.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/plan/plan_cache.h"
#include "daemon/graind/process/process.h"

#include "bpf/abi/cookie.h"
#include "uprobes/runtime/process_maps.h"
#include "uprobes/runtime/system_file.h"
#include "uprobes/static_loops/static_loops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The maximum number of files. Each file that a process maps as executable counts. */
#define MAX_FILES 1024

/* A file whose bodies were looked up. */
struct program_file {
	uint64_t device, inode;
	uid_t account;	   /* the account of the process in which it was first seen */
	uint64_t *offsets; /* offsets of the functions that are probed or cannot be probed */
	size_t count, room;
	bool complained;
};

struct program_bodies {
	struct capture *capture;
	enum plan_subject subject;
	bool unseen;
	struct program_file files[MAX_FILES];
	size_t file_count;
	size_t loops, loops_missing;
};

struct program_bodies *program_bodies__new(struct capture *capture, enum plan_subject subject, bool unseen)
{
	struct program_bodies *bodies = calloc(1, sizeof(*bodies));

	if (!bodies)
		return NULL;
	bodies->capture = capture;
	bodies->subject = subject;
	bodies->unseen = unseen;
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

#define SCAN_BYTES (1u << 16)

/*
 * Whether a file of the system contains the name of a function that GCC's static loops call. Most files do
 * not, so no worker has to look into them. Users' files are not read here, as reading them may take for
 * ever.
 */
static bool may_have_loops(int fd)
{
	/*
	 * omp_get_num_threads or omp_get_num_teams. The other text is of libgomp: if libgomp is linked into
	 * the file, its names may be missing.
	 */
	static const char name[] = "omp_get_num_t", text[] = "GOMP_SPINCOUNT";
	char bytes[SCAN_BYTES + sizeof(text)];
	struct stat file;
	size_t kept = 0;
	off_t at = 0;
	ssize_t got;

	if (fstat(fd, &file) != 0 || !system_file__is(fd, &file))
		return true;
	while ((got = pread(fd, bytes + kept, SCAN_BYTES, at)) > 0) {
		size_t count = kept + (size_t)got;

		if (memmem(bytes, count, name, sizeof(name) - 1) ||
		    memmem(bytes, count, text, sizeof(text) - 1))
			return true;
		kept = count < sizeof(text) - 2 ? count : sizeof(text) - 2;
		memmove(bytes, bytes + count - kept, kept);
		at += got;
	}
	return got < 0;
}

/* Probes the body at `offset`; 0: all bodies of the file. Returns whether a probe was added. */
static bool probe(struct program_bodies *bodies, struct program_file *file, pid_t pid,
		  const struct process_mapping *mapping, uint64_t offset)
{
	int fd = process_maps__open(pid, mapping, NULL, 0), error = fd < 0 ? fd : 0;
	struct uprobes_error err = {.text = ""};
	struct cached_plan *cached = NULL;
	const struct probe_plan *plan = NULL;
	struct process process;
	char path[64];

	if (!error && bodies->subject == PLAN_LOOPS && !may_have_loops(fd))
		error = -ENOENT;
	if (!error)
		error = process__read_ids(pid, &process);
	if (!error)
		error = plan_cache__get(&(struct plan_wish){.fd = fd,
							    .name = mapping->path,
							    .user = process.uid,
							    .subject = bodies->subject,
							    .offset = offset},
					&cached, &err);
	if (!error) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		plan = cached_plan__plan(cached);
		if (attach__may_kill(bodies->capture, plan, bodies->unseen)) {
			snprintf(err.text, sizeof(err.text),
				 "programs with shadow stacks may use it, and would be killed");
			error = -ENOTSUP;
		} else {
			error = capture__attach(bodies->capture, plan, path, &err);
		}
	}
	for (size_t i = 0; !error && bodies->subject == PLAN_BODIES && i < probe_plan__count(plan); i++) {
		const struct probe_point *point = probe_plan__point(plan, i);

		add_offset(file, point->offset + (uint64_t)(int64_t)COOKIE_OFF(point->entry_cookie));
	}
	if (!error && bodies->subject == PLAN_LOOPS) {
		size_t understood, missing;

		static_loops__count(plan, &understood, &missing);
		bodies->loops += understood;
		bodies->loops_missing += missing;
	}
	/* Most files have no bodies, so -ENOENT is usual. */
	if (error && error != -ENOENT && error != -ESRCH && !file->complained) {
		log__line(LOG_WARNING, "the %s in %.300s are not observed: %s",
			  bodies->subject == PLAN_LOOPS ? "static loops" : "bodies of OpenMP constructs",
			  mapping->path, err.text[0] ? err.text : "the file cannot be opened");
		file->complained = true;
	}
	plan_cache__put(cached);
	if (fd >= 0)
		close(fd);
	return !error;
}

/* A user may have at most as many files as are left for others. */
static bool has_room(const struct program_bodies *bodies, uid_t account)
{
	size_t of_user = 0;

	for (size_t i = 0; i < bodies->file_count; i++)
		of_user += bodies->files[i].account == account;
	return fair_share__allow(account, of_user, fair_share__left(MAX_FILES, bodies->file_count, 0));
}

static struct program_file *add_file(struct program_bodies *bodies, pid_t pid,
				     const struct process_mapping *mapping)
{
	struct program_file *file = &bodies->files[bodies->file_count];
	uid_t account = account__of_process(pid);

	if (!has_room(bodies, account))
		return NULL;
	*file = (struct program_file){.device = mapping->device, .inode = mapping->inode, .account = account};
	bodies->file_count++;
	probe(bodies, file, pid, mapping, 0);
	return file;
}

void program_bodies__leave_out(struct program_bodies *bodies, uint64_t device, uint64_t inode)
{
	const struct process_mapping mapping = {.device = device, .inode = inode};

	if (!find_file(bodies, &mapping) && bodies->file_count < MAX_FILES / 2)
		bodies->files[bodies->file_count++] =
			(struct program_file){.device = device, .inode = inode, .account = 0};
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

void program_bodies__loops(const struct program_bodies *bodies, size_t *understood, size_t *missing)
{
	*understood = bodies->loops;
	*missing = bodies->loops_missing;
}
