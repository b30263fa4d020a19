/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches probes and holds the kernel's links to them: uprobe_multi or perf events. */
#ifndef GRAIND_PROBE_LINKS_H
#define GRAIND_PROBE_LINKS_H

#include "uprobes/plan/probe_point.h"
#include "uprobes/plan/uprobes_error.h"

#include <bpf/libbpf.h>
#include <sys/types.h>

#define PROBE_ATTACH_UPROBE_MULTI 48 /* enum bpf_attach_type, Linux 6.6 */

struct probe_links;

/*
 * `everyone`: added files are probed in all processes, and no process is added. `owner`: the user who takes
 * turns to set probes (probe_turns.h). Returns 0 or -ENOMEM.
 */
int probe_links__new(bool everyone, uid_t owner, struct probe_links **out);
/* Sets another owner. Call it before anything is attached. */
void probe_links__own(struct probe_links *links, uid_t owner);
/* Detaches everything; accepts NULL. */
void probe_links__free(struct probe_links *links);

/*
 * Whether the kernel can attach programs by uprobe_multi (Linux >= 6.6). Returns 0 or the errno that says
 * why not.
 */
int probe_links__try_multi(void);

/* A BPF program and the points of a file that it is attached to. */
struct probe_set {
	struct bpf_program *program;
	bool multi; /* by uprobe_multi links instead of perf events */
	const struct probe_point *points;
	size_t count;
	const char *path; /* path of the file */
};

/*
 * Attaches the program to every point, for the thread group `pid`, or for all processes if that is 0. All
 * or nothing. Returns 0, or a negative errno with *err set.
 */
int probe_links__attach(struct probe_links *links, const struct probe_set *set, pid_t pid,
			struct uprobes_error *err);

/*
 * For a set of processes that changes. The points of every added file are attached in every added process,
 * in any order. A link for graind itself, which never executes these points, keeps them registered, so
 * further links are quick.
 */
int probe_links__add_file(struct probe_links *links, const struct probe_set *set, struct uprobes_error *err);
int probe_links__add_process(struct probe_links *links, pid_t pid, struct uprobes_error *err);
/*
 * Call it after a thread other than the first has executed a program: the kernel has followed the first
 * thread. Takes up to a tenth of a second, in which nothing is recorded.
 */
int probe_links__renew_process(struct probe_links *links, pid_t pid, struct uprobes_error *err);
void probe_links__drop_process(struct probe_links *links, pid_t pid);

/*
 * Pausing removes the breakpoints from all processes, so passing them costs nothing. Resuming sets them
 * again. It is possible only while all links are for added processes, and the kernel tells processes apart
 * (uprobe_multi, Linux 6.10). Pausing does not wait until the kernel has released the links.
 */
bool probe_links__can_pause(const struct probe_links *links);
void probe_links__pause(struct probe_links *links);
/* CPU time that pausing has taken so far, in ns. */
uint64_t probe_links__pausing_ns(const struct probe_links *links);
int probe_links__resume(struct probe_links *links, struct uprobes_error *err);

/*
 * Whether the kernel calls the program only for the given process. If not, the BPF program must check that.
 */
bool probe_links__filter_by_process(bool multi);
/* Whether links of this kind can be paused. */
bool probe_links__pausable(bool multi);

#endif
