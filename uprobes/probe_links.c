// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/probe_links.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define UPROBE_MULTI_RETURN 1u

/* BPF_LINK_CREATE for uprobe_multi; younger than the headers this may be built with. */
struct multi_attr {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, reference_counters, cookies;
	uint32_t count, multi_flags, pid, padding;
};

struct probe_links {
	int *fds;
	size_t fd_count;
	struct bpf_link **perf;
	size_t perf_count;
};

int probe_links__new(struct probe_links **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void probe_links__free(struct probe_links *links)
{
	if (!links)
		return;
	for (size_t i = 0; i < links->fd_count; i++)
		close(links->fds[i]);
	for (size_t i = 0; i < links->perf_count; i++)
		bpf_link__destroy(links->perf[i]);
	free(links->fds);
	free(links->perf);
	free(links);
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

bool probe_links__multi_works(int program_fd)
{
	uint64_t offset = 0;
	int fd = multi_link(program_fd, "/", &offset, NULL, 1, false, 0);

	/* A kernel that knows the link type gets as far as refusing a directory. */
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EBADF;
}

/* Before Linux 6.10 the kernel compares the thread, not the process; the BPF program filters then. */
static bool filters_by_process(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

static int fail_attach(struct uprobes_error *err, int code, const char *path, const char *event)
{
	const char *hint = code == -EPERM || code == -EACCES
				   ? "; attaching perf-event uprobes needs CAP_SYS_ADMIN on this kernel"
				   : "";

	snprintf(err->text, sizeof(err->text), "cannot attach to %s in %s: %s%s", event, path,
		 strerror(-code), hint);
	return code;
}

static int attach_multi(struct probe_links *links, int program_fd, const struct probe_point *points,
			size_t count, const char *path, pid_t pid, struct uprobes_error *err)
{
	uint64_t *offsets = calloc(2 * count, sizeof(*offsets)), *cookies = offsets + count;
	int *fds = realloc(links->fds, (links->fd_count + 2) * sizeof(*fds));
	size_t before = links->fd_count;
	int r = 0;

	if (fds)
		links->fds = fds;
	if (!offsets || !fds) {
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
			links->fds[links->fd_count++] = r;
			r = 0;
		}
	}
	free(offsets);
	if (r) {
		while (links->fd_count > before)
			close(links->fds[--links->fd_count]);
		return fail_attach(err, r, path, "all points");
	}
	return 0;
}

static int attach_perf(struct probe_links *links, struct bpf_program *program,
		       const struct probe_point *points, size_t count, const char *path, pid_t pid,
		       struct uprobes_error *err)
{
	struct bpf_link **perf = realloc(links->perf, (links->perf_count + 2 * count) * sizeof(*perf));
	size_t before = links->perf_count;

	if (!perf)
		return fail_attach(err, -ENOMEM, path, "all points");
	links->perf = perf;
	for (size_t i = 0; i < 2 * count; i++) {
		const struct probe_point *p = &points[i / 2];
		bool at_return = i & 1;
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = at_return,
			    .bpf_cookie = at_return ? p->return_cookie : p->entry_cookie);
		struct bpf_link *link;

		if (!opts.bpf_cookie)
			continue;
		link = bpf_program__attach_uprobe_opts(program, pid ? pid : -1, path, p->offset, &opts);
		if (!link) {
			int code = -errno;

			while (links->perf_count > before)
				bpf_link__destroy(links->perf[--links->perf_count]);
			return fail_attach(err, code, path, p->event);
		}
		links->perf[links->perf_count++] = link;
	}
	return 0;
}

int probe_links__attach(struct probe_links *links, struct bpf_program *program, bool multi,
			const struct probe_point *points, size_t count, const char *path, pid_t pid,
			struct uprobes_error *err)
{
	if (multi)
		return attach_multi(links, bpf_program__fd(program), points, count, path, pid, err);
	return attach_perf(links, program, points, count, path, pid, err);
}
