/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's links of attached probes: uprobe_multi or perf events; private to uprobes/. */
#ifndef GRAIND_PROBE_LINKS_H
#define GRAIND_PROBE_LINKS_H

#include "uprobes/capture.h"

#include <bpf/libbpf.h>

#define PROBE_ATTACH_UPROBE_MULTI 48 /* enum bpf_attach_type, Linux 6.6 */

struct probe_links;

/* `everyone`: files that are added are probed in all processes, and none is added. */
int probe_links__new(bool everyone, struct probe_links **out);
/* Detaches everything; accepts NULL. */
void probe_links__free(struct probe_links *links);

/* Whether the kernel can attach programs by uprobe_multi (Linux >= 6.6): 0, or why not. */
int probe_links__try_multi(void);

/*
 * Attaches `program` to every point of the plan in the file `path`, for the
 * thread group `pid` or, when that is 0, everywhere. All or nothing.
 */
int probe_links__attach(struct probe_links *links, struct bpf_program *program, bool multi,
			const struct probe_point *points, size_t count, const char *path, pid_t pid,
			struct uprobes_error *err);

/*
 * For processes that come and go: the points of a file are attached for every
 * process added before or after. A link for this very process, which never
 * gets there, keeps them registered, so that further links take no time.
 */
int probe_links__add_file(struct probe_links *links, struct bpf_program *program, bool multi,
			  const struct probe_point *points, size_t count, const char *path,
			  struct uprobes_error *err);
int probe_links__add_process(struct probe_links *links, pid_t pid, struct uprobes_error *err);
/*
 * After a thread other than the first has executed a program: the kernel had
 * followed the first. Takes up to a tenth of a second, of which nothing is seen.
 */
int probe_links__renew_process(struct probe_links *links, pid_t pid, struct uprobes_error *err);
void probe_links__drop_process(struct probe_links *links, pid_t pid);

/*
 * Takes the breakpoints out of all processes, so that passing them costs
 * nothing, and puts them back: only while nothing but process links that the
 * kernel tells apart are there (uprobe_multi, Linux 6.10). Pausing does not wait
 * for the kernel to let go of the links.
 */
bool probe_links__can_pause(const struct probe_links *links);
void probe_links__pause(struct probe_links *links);
/* CPU time that it has taken so far. */
uint64_t probe_links__pausing_ns(const struct probe_links *links);
int probe_links__resume(struct probe_links *links, struct uprobes_error *err);

/* Whether the kernel tells processes apart; else the BPF program has to. */
bool probe_links__filter_by_process(bool multi);
/* Whether links of that kind can be paused. */
bool probe_links__pausable(bool multi);

#endif
