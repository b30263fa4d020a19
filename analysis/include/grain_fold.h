/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes statistics of a trace while it is written, for jobs that do not keep all events: counts and times
 * by construct. The memory does not grow with the number of events. FORMATS.md defines what is exact.
 */
#ifndef GRAIND_GRAIN_FOLD_H
#define GRAIND_GRAIN_FOLD_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_folder;

/*
 * `max_bytes` is the memory bound; 0: 8 GiB, or three quarters of the machine's memory. Returns 0 or a
 * negative errno.
 */
int trace_folder__new(uint64_t max_bytes, struct trace_folder **out);
void trace_folder__free(struct trace_folder *folder);
/*
 * Keeps some parallel regions of the files after the first one (fold_regions.h). Call it before the first
 * range. They are written as struct trace_event to the file `fd` from its beginning, at most max_bytes. The
 * caller keeps the file.
 */
int trace_folder__keep(struct trace_folder *folder, int fd, uint64_t max_bytes);
/*
 * Reads whole chunks of a trace file, in order. from == 0 starts the next file, with its header. -EBADMSG:
 * there are no such chunks. Also -E2BIG or -ENOMEM. No range may follow an error.
 */
int trace_folder__range(struct trace_folder *folder, int fd, uint64_t from, uint64_t to);
/*
 * Call it before the first range of the second file. The first file has all events up to `ns` that come from
 * per-CPU rings. The rings are read one after another, so later events of some threads may be missing.
 */
void trace_folder__whole(struct trace_folder *folder, uint64_t ns);
/* Returns where the next range begins: the end of the last chunk that was read. */
uint64_t trace_folder__reached(const struct trace_folder *folder);
/*
 * After the last range: the statistics as lines of a trace (trace_format.h), also of what was read before an
 * error. Nothing can follow. Of regions that are kept, in the order of time:
 *     @folded-part begin_ns=N end_ns=N every=N    of the first file; each N'th region after it is kept
 *     @folded-region begin_ns=N end_ns=N first=N count=N why=N    its events from number `first` on; why:
 * bits of enum fold_why
 */
int trace_folder__finish(struct trace_folder *folder, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
