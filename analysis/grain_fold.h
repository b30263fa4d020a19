/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of a trace while it is written, for jobs of which not all events are kept: counts and times
 * by construct, in memory that does not grow with the number of events. README.md says what is exact.
 */
#ifndef GRAIND_GRAIN_FOLD_H
#define GRAIND_GRAIN_FOLD_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_folder;

/* `max_bytes` of memory at most; 0: 8 GiB, or three quarters of the machine's. */
int trace_folder__new(uint64_t max_bytes, struct trace_folder **out);
void trace_folder__free(struct trace_folder *folder);
/*
 * Before the first range: of the files after the first one some parallel regions are kept (fold_regions.h),
 * as struct trace_event in the file, which stays the caller's, from its beginning, in no more than max_bytes.
 */
int trace_folder__keep(struct trace_folder *folder, int fd, uint64_t max_bytes);
/*
 * Whole chunks of a trace file, in order; from == 0: of the next file, from its header on. -EBADMSG: no such
 * chunks are there; -E2BIG, -ENOMEM. After an error no more ranges can follow.
 */
int trace_folder__range(struct trace_folder *folder, int fd, uint64_t from, uint64_t to);
/*
 * Before the first range of the second file: up to this time the first one has all events that come from
 * rings that are read one after the other; later ones may lack those of some threads.
 */
void trace_folder__whole(struct trace_folder *folder, uint64_t ns);
/* Where the next range begins: the end of the chunk that `to` was in. */
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
