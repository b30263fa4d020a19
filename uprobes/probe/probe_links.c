// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/probe/probe_links.h"
#include "uprobes/probe/probe_turns.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define UPROBE_MULTI_RETURN 1u

/*
 * Attributes of BPF_LINK_CREATE for uprobe_multi. Some of the headers that this is built with do not have
 * them yet.
 */
struct multi_attr {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, reference_counters, cookies;
	uint32_t count, multi_flags, pid, padding;
};

struct link {
	struct probe_link link;
	pid_t pid;
};

/* A file whose points are attached for each process. */
struct linked_file {
	struct bpf_program *program;
	bool multi;
	struct probe_point *points;
	size_t count;
	int fd;
};

struct probe_links {
	struct probe_closing closing;
	struct link *list;
	size_t count, room;
	struct linked_file *files;
	size_t file_count;
	pid_t *pids;
	size_t pid_count;
	bool paused;
};

int probe_links__new(bool everyone, uid_t owner, struct probe_links **out)
{
	struct probe_links *links = calloc(1, sizeof(*links));

	if (links)
		links->pids = calloc(1, sizeof(*links->pids));
	if (!links || !links->pids) {
		free(links);
		return -ENOMEM;
	}
	links->closing.owner = owner;
	links->pid_count = everyone; /* only with process 0 */
	*out = links;
	return 0;
}

void probe_links__own(struct probe_links *links, uid_t owner)
{
	links->closing.owner = owner;
}

uint64_t probe_links__pausing_ns(const struct probe_links *links)
{
	return __atomic_load_n(&links->closing.urgent_ns, __ATOMIC_RELAXED);
}

static void close_from(struct probe_links *links, size_t from)
{
	while (links->count > from)
		probe_turns__close(&links->closing, links->list[--links->count].link, false);
}

void probe_links__free(struct probe_links *links)
{
	if (!links)
		return;
	close_from(links, 0);
	probe_turns__await(&links->closing);
	for (size_t i = 0; i < links->file_count; i++) {
		close(links->files[i].fd);
		free(links->files[i].points);
	}
	free(links->list);
	free(links->files);
	free(links->pids);
	free(links);
}

/* Makes room for `more` links. */
static bool reserve(struct probe_links *links, size_t more)
{
	size_t room = links->count + more > 2 * links->room ? links->count + more : 2 * links->room;
	struct link *list;

	if (links->count + more <= links->room)
		return true;
	list = reallocarray(links->list, room, sizeof(*list));
	if (!list)
		return false;
	links->list = list;
	links->room = room;
	return true;
}

/* The points of one link; `cookies` may be NULL. */
struct multi_points {
	const uint64_t *offsets, *cookies;
	size_t count;
	bool at_return;
};

static int multi_link(int program_fd, const char *path, const struct multi_points *points, pid_t pid)
{
	struct multi_attr attr = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = PROBE_ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)points->offsets,
		.cookies = (uintptr_t)points->cookies,
		.count = (uint32_t)points->count,
		.multi_flags = points->at_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

int probe_links__try_multi(void)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)PROBE_ATTACH_UPROBE_MULTI);
	/* A positive answer never changes, so it is kept. */
	static atomic_bool has;
	const uint64_t offset = 0;
	const struct multi_points one = {.offsets = &offset, .count = 1};
	int program, fd;

	if (atomic_load(&has))
		return 0;
	program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trial", "Dual BSD/GPL", nothing,
				sizeof(nothing) / sizeof(nothing[0]), &opts);
	fd = program < 0 ? program : multi_link(program, "/", &one, 0);

	if (program >= 0)
		close(program);
	if (fd >= 0)
		close(fd);
	/* If the kernel knows this link type, the call fails only because the path is a directory. */
	if (fd < 0 && fd != -EBADF)
		return fd;
	atomic_store(&has, true);
	return 0;
}

/* Before Linux 6.10 the kernel compares the thread instead of the process. Then the BPF program filters. */
static bool filters_by_process(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

/* A path in /proc/self/fd/ tells a reader nothing, so the message has the file's own path. */
static int fail_attach(struct uprobes_error *err, int code, const char *path, const char *event)
{
	char own[384];
	ssize_t length = strncmp(path, "/proc/self/fd/", 14) == 0 ? readlink(path, own, sizeof(own) - 1) : -1;
	const char *hint = code == -EPERM || code == -EACCES
				   ? "; perf-event uprobes need CAP_SYS_ADMIN on this kernel: grainctl "
				     "doctor says how graind gets it"
				   : "";

	if (length > 0)
		own[length] = '\0';
	snprintf(err->text, sizeof(err->text), "cannot attach to %s in %s: %s%s", event,
		 length > 0 ? own : path, strerror(-code), hint);
	return code;
}

static int attach_multi(struct probe_links *links, const struct probe_set *set, pid_t pid,
			struct uprobes_error *err)
{
	uint64_t *offsets = calloc(2 * set->count, sizeof(*offsets)), *cookies = offsets + set->count;
	size_t before = links->count;
	struct probe_turn turn;
	int r = 0;

	if (!offsets || !reserve(links, 2)) {
		free(offsets);
		return fail_attach(err, -ENOMEM, set->path, "all points");
	}
	for (int at_return = 0; at_return <= 1 && r == 0; at_return++) {
		struct multi_points points = {offsets, cookies, 0, at_return};

		for (size_t i = 0; i < set->count; i++) {
			const struct probe_point *p = &set->points[i];
			uint64_t cookie = at_return ? p->return_cookie : p->entry_cookie;

			if (!cookie)
				continue;
			offsets[points.count] = p->offset;
			cookies[points.count++] = cookie;
		}
		if (!points.count)
			continue;
		probe_turns__begin(&turn, links->closing.owner, false);
		r = multi_link(bpf_program__fd(set->program), set->path, &points,
			       filters_by_process() ? pid : 0);
		probe_turns__end(&turn);
		if (r >= 0) {
			links->list[links->count++] = (struct link){{.fd = r}, pid};
			r = 0;
		}
	}
	free(offsets);
	if (r) {
		close_from(links, before);
		return fail_attach(err, r, set->path, "all points");
	}
	return 0;
}

static int attach_perf(struct probe_links *links, const struct probe_set *set, pid_t pid,
		       struct uprobes_error *err)
{
	size_t before = links->count;
	struct probe_turn turn;
	int code = 0;

	if (!reserve(links, 2 * set->count))
		return fail_attach(err, -ENOMEM, set->path, "all points");
	probe_turns__begin(&turn, links->closing.owner, true);
	for (size_t i = 0; !code && i < 2 * set->count; i++) {
		const struct probe_point *p = &set->points[i / 2];
		bool at_return = i & 1;
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = at_return,
			    .bpf_cookie = at_return ? p->return_cookie : p->entry_cookie);
		struct bpf_link *link;

		if (!opts.bpf_cookie)
			continue;
		link = bpf_program__attach_uprobe_opts(set->program, pid ? pid : -1, set->path, p->offset,
						       &opts);
		if (link)
			links->list[links->count++] = (struct link){{.fd = -1, .perf = link}, pid};
		else
			code = fail_attach(err, -errno, set->path, p->event);
	}
	probe_turns__end(&turn);
	if (code)
		close_from(links, before);
	return code;
}

int probe_links__attach(struct probe_links *links, const struct probe_set *set, pid_t pid,
			struct uprobes_error *err)
{
	return set->multi ? attach_multi(links, set, pid, err) : attach_perf(links, set, pid, err);
}

bool probe_links__filter_by_process(bool multi)
{
	return !multi || filters_by_process();
}

static int attach_file(struct probe_links *links, const struct linked_file *file, pid_t pid,
		       struct uprobes_error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return probe_links__attach(links,
				   &(struct probe_set){.program = file->program,
						       .multi = file->multi,
						       .points = file->points,
						       .count = file->count,
						       .path = path},
				   pid, err);
}

/* Closes links in the background, because the thread that drains the rings must not wait for the kernel. */
static void drop_into(struct probe_closing *closing, struct probe_links *links, pid_t pid, bool urgent)
{
	for (size_t i = links->count; i > 0; i--) {
		if (links->list[i - 1].pid != pid)
			continue;
		probe_turns__close(closing, links->list[i - 1].link, urgent);
		links->list[i - 1] = links->list[--links->count];
	}
}

static void drop(struct probe_links *links, pid_t pid, bool urgent)
{
	drop_into(&links->closing, links, pid, urgent);
}

/* Attaches for all processes if only the BPF program can tell processes apart. */
static int attach_first(struct probe_links *links, const struct linked_file *file, struct uprobes_error *err)
{
	size_t before = links->count;
	int r = 0;

	if (!probe_links__filter_by_process(file->multi))
		return attach_file(links, file, 0, err);
	if (file->multi)
		r = attach_file(links, file, getpid(), err);
	for (size_t i = 0; !r && !links->paused && i < links->pid_count; i++) {
		r = attach_file(links, file, links->pids[i], err);
		/* A process that has ended meanwhile needs no probes. */
		r = r == -ESRCH ? 0 : r;
	}
	if (r)
		close_from(links, before);
	return r;
}

int probe_links__add_file(struct probe_links *links, const struct probe_set *set, struct uprobes_error *err)
{
	struct linked_file *files = reallocarray(links->files, links->file_count + 1, sizeof(*files)), *file;
	int r;

	if (!files)
		return fail_attach(err, -ENOMEM, set->path, "all points");
	links->files = files;
	file = &files[links->file_count];
	*file = (struct linked_file){.program = set->program, .multi = set->multi, .count = set->count};
	file->fd = open(set->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return fail_attach(err, -errno, set->path, "all points");
	file->points = calloc(set->count, sizeof(*file->points));
	if (!file->points) {
		close(file->fd);
		return fail_attach(err, -ENOMEM, set->path, "all points");
	}
	memcpy(file->points, set->points, set->count * sizeof(*file->points));
	/* The plan owns the names and may be freed. */
	for (size_t i = 0; i < set->count; i++)
		file->points[i].event = file->points[i].function = "a point";
	r = attach_first(links, file, err);
	if (r) {
		close(file->fd);
		free(file->points);
		return r;
	}
	links->file_count++;
	return 0;
}

int probe_links__add_process(struct probe_links *links, pid_t pid, struct uprobes_error *err)
{
	pid_t *pids = reallocarray(links->pids, links->pid_count + 1, sizeof(*pids));
	int r = 0;

	if (!pids)
		return fail_attach(err, -ENOMEM, "a process", "all points");
	links->pids = pids;
	for (size_t i = 0; !r && !links->paused && i < links->file_count; i++)
		if (probe_links__filter_by_process(links->files[i].multi))
			r = attach_file(links, &links->files[i], pid, err);
	if (r)
		drop(links, pid, false);
	else
		pids[links->pid_count++] = pid;
	return r;
}

int probe_links__renew_process(struct probe_links *links, pid_t pid, struct uprobes_error *err)
{
	struct probe_closing closing = {.owner = links->closing.owner};
	int r = 0;

	/* The old link is closed first: while both exist, every event comes twice. */
	drop_into(&closing, links, pid, true);
	probe_turns__await(&closing);
	for (size_t i = 0; !r && !links->paused && i < links->file_count; i++)
		if (probe_links__filter_by_process(links->files[i].multi))
			r = attach_file(links, &links->files[i], pid, err);
	return r;
}

bool probe_links__pausable(bool multi)
{
	return multi && filters_by_process();
}

bool probe_links__can_pause(const struct probe_links *links)
{
	bool can = links->file_count > 0;

	for (size_t i = 0; i < links->file_count; i++)
		can &= probe_links__pausable(links->files[i].multi);
	return can;
}

void probe_links__pause(struct probe_links *links)
{
	if (links->paused)
		return;
	links->paused = true;
	for (size_t i = 0; i < links->pid_count; i++)
		drop(links, links->pids[i], true);
}

int probe_links__resume(struct probe_links *links, struct uprobes_error *err)
{
	int r = 0;

	if (!links->paused)
		return 0;
	links->paused = false;
	for (size_t k = 0; k < links->pid_count; k++) {
		for (size_t i = 0; i < links->file_count; i++) {
			int failed = attach_file(links, &links->files[i], links->pids[k], err);

			/* A process that has ended meanwhile needs no probes. */
			r = failed && failed != -ESRCH ? failed : r;
		}
	}
	return r;
}

void probe_links__drop_process(struct probe_links *links, pid_t pid)
{
	drop(links, pid, false);
	for (size_t i = 0; i < links->pid_count; i++) {
		if (links->pids[i] == pid) {
			links->pids[i] = links->pids[--links->pid_count];
			return;
		}
	}
}
