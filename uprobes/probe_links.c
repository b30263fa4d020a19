// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/probe_links.h"
#include "uprobes/detach_gate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define UPROBE_MULTI_RETURN 1u
/* Of links at a time. The kernel closes those of perf events one by one: of them so many in the whole
 * program. */
#define CLOSERS 16
#define PERF_CLOSERS 2

/* BPF_LINK_CREATE for uprobe_multi; younger than the headers this may be built with. */
struct multi_attr {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, reference_counters, cookies;
	uint32_t count, multi_flags, pid, padding;
};

/* One of the two. */
struct link {
	int fd; /* uprobe_multi, or -1 */
	struct bpf_link *perf;
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

/* What closing links has cost; of those who do that, and of those who ask. */
struct closing_cost {
	uint64_t ns;
	unsigned int users;
};

struct probe_links {
	struct closing_cost *cost;
	struct link *list;
	size_t count, room;
	struct linked_file *files;
	size_t file_count;
	pid_t *pids;
	size_t pid_count;
	bool paused;
};

int probe_links__new(bool everyone, struct probe_links **out)
{
	struct probe_links *links = calloc(1, sizeof(*links));

	if (links) {
		links->cost = calloc(1, sizeof(*links->cost));
		links->pids = calloc(1, sizeof(*links->pids));
	}
	if (!links || !links->cost || !links->pids) {
		if (links) {
			free(links->cost);
			free(links->pids);
		}
		free(links);
		return -ENOMEM;
	}
	links->cost->users = 1;
	links->pid_count = everyone; /* the process 0 */
	*out = links;
	return 0;
}

static struct closing_cost *hold_cost(struct closing_cost *cost)
{
	__atomic_add_fetch(&cost->users, 1, __ATOMIC_RELAXED);
	return cost;
}

static void release_cost(struct closing_cost *cost)
{
	if (__atomic_sub_fetch(&cost->users, 1, __ATOMIC_ACQ_REL) == 0)
		free(cost);
}

uint64_t probe_links__pausing_ns(const struct probe_links *links)
{
	return __atomic_load_n(&links->cost->ns, __ATOMIC_RELAXED);
}

static void close_link(struct link *link)
{
	detach_gate__enter(link->perf ? PERF_CLOSERS : UINT_MAX);
	if (link->fd >= 0)
		close(link->fd);
	bpf_link__destroy(link->perf);
	detach_gate__leave();
}

struct closing {
	struct link *list;
	size_t count, next;
	struct closing_cost *cost; /* NULL: nobody asks */
};

static uint64_t own_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Until it is done the program passes breakpoints for nothing. */
static void be_urgent(void)
{
	const struct sched_param param = {.sched_priority = 1};

	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param);
}

static void *close_some(void *argument)
{
	struct closing *closing = argument;
	uint64_t before = own_cpu_ns();
	size_t i;

	if (closing->cost)
		be_urgent();
	while ((i = __atomic_fetch_add(&closing->next, 1, __ATOMIC_RELAXED)) < closing->count)
		close_link(&closing->list[i]);
	if (closing->cost)
		__atomic_add_fetch(&closing->cost->ns, own_cpu_ns() - before, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * For each link the kernel waits until no CPU runs the program any more. Those
 * that are closed at the same time share a part of that.
 */
static void close_links(struct link *list, size_t count, struct closing_cost *cost)
{
	struct closing closing = {.list = list, .count = count, .cost = cost};
	pthread_t helpers[CLOSERS - 1];
	size_t n = 0;

	while (n < CLOSERS - 1 && n + 1 < count &&
	       pthread_create(&helpers[n], NULL, close_some, &closing) == 0)
		n++;
	close_some(&closing);
	while (n > 0)
		pthread_join(helpers[--n], NULL);
}

void probe_links__free(struct probe_links *links)
{
	if (!links)
		return;
	close_links(links->list, links->count, NULL);
	release_cost(links->cost);
	for (size_t i = 0; i < links->file_count; i++) {
		close(links->files[i].fd);
		free(links->files[i].points);
	}
	free(links->list);
	free(links->files);
	free(links->pids);
	free(links);
}

/* Room for `more` links. */
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

static void close_from(struct probe_links *links, size_t first)
{
	close_links(links->list + first, links->count - first, NULL);
	links->count = first;
}

static int multi_link(int program_fd, const char *path, const uint64_t *offsets, const uint64_t *cookies,
		      size_t count, bool at_return, pid_t pid)
{
	struct multi_attr attr = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = PROBE_ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = (uint32_t)count,
		.multi_flags = at_return ? UPROBE_MULTI_RETURN : 0,
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
	const uint64_t offset = 0;
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trial", "Dual BSD/GPL", nothing,
				    sizeof(nothing) / sizeof(nothing[0]), &opts);
	int fd = program < 0 ? program : multi_link(program, "/", &offset, NULL, 1, false, 0);

	if (program >= 0)
		close(program);
	if (fd >= 0)
		close(fd);
	/* A kernel that knows the link type gets as far as refusing a directory. */
	return fd >= 0 || fd == -EBADF ? 0 : fd;
}

/* Before Linux 6.10 the kernel compares the thread, not the process; the BPF program filters then. */
static bool filters_by_process(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

/* A path in /proc/self/fd/ tells a reader nothing: the file's own is told. */
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

static int attach_multi(struct probe_links *links, int program_fd, const struct probe_point *points,
			size_t count, const char *path, pid_t pid, struct uprobes_error *err)
{
	uint64_t *offsets = calloc(2 * count, sizeof(*offsets)), *cookies = offsets + count;
	size_t before = links->count;
	int r = 0;

	if (!offsets || !reserve(links, 2)) {
		free(offsets);
		return fail_attach(err, -ENOMEM, path, "all points");
	}
	for (int at_return = 0; at_return <= 1 && r == 0; at_return++) {
		size_t n = 0;

		for (size_t i = 0; i < count; i++) {
			uint64_t cookie = at_return ? points[i].return_cookie : points[i].entry_cookie;

			if (!cookie)
				continue;
			offsets[n] = points[i].offset;
			cookies[n++] = cookie;
		}
		if (!n)
			continue;
		r = multi_link(program_fd, path, offsets, cookies, n, at_return,
			       filters_by_process() ? pid : 0);
		if (r >= 0) {
			links->list[links->count++] = (struct link){.fd = r, .pid = pid};
			r = 0;
		}
	}
	free(offsets);
	if (r) {
		close_from(links, before);
		return fail_attach(err, r, path, "all points");
	}
	return 0;
}

static int attach_perf(struct probe_links *links, struct bpf_program *program,
		       const struct probe_point *points, size_t count, const char *path, pid_t pid,
		       struct uprobes_error *err)
{
	size_t before = links->count;
	int code = 0;

	if (!reserve(links, 2 * count))
		return fail_attach(err, -ENOMEM, path, "all points");
	detach_gate__hold();
	for (size_t i = 0; !code && i < 2 * count; i++) {
		const struct probe_point *p = &points[i / 2];
		bool at_return = i & 1;
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = at_return,
			    .bpf_cookie = at_return ? p->return_cookie : p->entry_cookie);
		struct bpf_link *link;

		if (!opts.bpf_cookie)
			continue;
		link = bpf_program__attach_uprobe_opts(program, pid ? pid : -1, path, p->offset, &opts);
		if (link)
			links->list[links->count++] = (struct link){.fd = -1, .perf = link, .pid = pid};
		else
			code = fail_attach(err, -errno, path, p->event);
	}
	detach_gate__release();
	if (code)
		close_from(links, before);
	return code;
}

int probe_links__attach(struct probe_links *links, struct bpf_program *program, bool multi,
			const struct probe_point *points, size_t count, const char *path, pid_t pid,
			struct uprobes_error *err)
{
	if (multi)
		return attach_multi(links, bpf_program__fd(program), points, count, path, pid, err);
	return attach_perf(links, program, points, count, path, pid, err);
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
	return probe_links__attach(links, file->program, file->multi, file->points, file->count, path, pid,
				   err);
}

struct dropped {
	struct closing_cost *cost; /* NULL: nobody asks */
	size_t count;
	struct link list[];
};

static void *close_dropped(void *argument)
{
	struct dropped *dropped = argument;

	if (dropped->cost)
		be_urgent();
	close_links(dropped->list, dropped->count, dropped->cost);
	if (dropped->cost)
		release_cost(dropped->cost);
	free(dropped);
	return NULL;
}

/* Whoever drains the rings does not wait for the kernel. `cost`: where what that takes is added; NULL. */
static void drop(struct probe_links *links, pid_t pid, struct closing_cost *cost)
{
	struct dropped *dropped = calloc(1, sizeof(*dropped) + links->count * sizeof(dropped->list[0]));
	pthread_t thread;

	for (size_t i = links->count; i > 0; i--) {
		if (links->list[i - 1].pid != pid)
			continue;
		if (dropped)
			dropped->list[dropped->count++] = links->list[i - 1];
		else
			close_link(&links->list[i - 1]);
		links->list[i - 1] = links->list[--links->count];
	}
	if (dropped && cost)
		dropped->cost = hold_cost(cost);
	if (dropped && dropped->count && pthread_create(&thread, NULL, close_dropped, dropped) == 0)
		pthread_detach(thread);
	else if (dropped)
		close_dropped(dropped);
}

/* Everywhere, where only the BPF program tells processes apart. */
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
		/* One that has ended meanwhile needs no probes. */
		r = r == -ESRCH ? 0 : r;
	}
	if (r)
		close_from(links, before);
	return r;
}

int probe_links__add_file(struct probe_links *links, struct bpf_program *program, bool multi,
			  const struct probe_point *points, size_t count, const char *path,
			  struct uprobes_error *err)
{
	struct linked_file *files = reallocarray(links->files, links->file_count + 1, sizeof(*files)), *file;
	int r;

	if (!files)
		return fail_attach(err, -ENOMEM, path, "all points");
	links->files = files;
	file = &files[links->file_count];
	*file = (struct linked_file){.program = program, .multi = multi, .count = count};
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return fail_attach(err, -errno, path, "all points");
	file->points = calloc(count, sizeof(*points));
	if (!file->points) {
		close(file->fd);
		return fail_attach(err, -ENOMEM, path, "all points");
	}
	memcpy(file->points, points, count * sizeof(*points));
	/* The names belong to the plan, which may go. */
	for (size_t i = 0; i < count; i++)
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
		drop(links, pid, NULL);
	else
		pids[links->pid_count++] = pid;
	return r;
}

int probe_links__renew_process(struct probe_links *links, pid_t pid, struct uprobes_error *err)
{
	int r = 0;

	/* One after the other: while both are there every event comes twice. */
	for (size_t i = links->count; i > 0; i--) {
		if (links->list[i - 1].pid != pid)
			continue;
		close_link(&links->list[i - 1]);
		links->list[i - 1] = links->list[--links->count];
	}
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
		drop(links, links->pids[i], links->cost);
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

			/* One that has ended meanwhile needs no probes. */
			r = failed && failed != -ESRCH ? failed : r;
		}
	}
	return r;
}

void probe_links__drop_process(struct probe_links *links, pid_t pid)
{
	drop(links, pid, NULL);
	for (size_t i = 0; i < links->pid_count; i++) {
		if (links->pids[i] == pid) {
			links->pids[i] = links->pids[--links->pid_count];
			return;
		}
	}
}
