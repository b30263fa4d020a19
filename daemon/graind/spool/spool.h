/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool keeps the files of a job below its limit of bytes. Up to half of the limit, all events go to
 * the trace. Later events go to files without a name, which are deleted when a worker has computed
 * statistics from them. At the end the statistics, which include the trace's events, become lines of the
 * trace. Some parallel regions of the later time, which the worker has kept in another unnamed file, become
 * windows of the trace.
 */
#ifndef GRAIND_SPOOL_H
#define GRAIND_SPOOL_H

#include "daemon/common/trace/trace_writer.h"

#include <sys/types.h>

#define SPOOL_LEAST_BYTES (UINT64_C(8) << 20)
#define SPOOL_DEFAULT_BYTES (UINT64_C(1) << 30)

struct spool;

struct spool_opts {
	int dirfd;
	const char *name; /* name of the trace's file in that directory */
	struct trace_writer *trace;
	uid_t uid; /* the user whose rights the worker has */
	gid_t gid;
	uint64_t max_bytes; /* the limit */
};

/* `dirfd`, `name` and `trace` belong to the caller and must exist as long as the spool. */
int spool__new(const struct spool_opts *opts, struct spool **out);
/*
 * Says that the next words belong to a round, which ends at `ns` (struct trace_words_head). The trace's
 * events end between two rounds. A very large round may be divided; then the last part has events of some
 * threads only.
 */
void spool__round(struct spool *spool, uint64_t ns);
/* Says that all events up to `ns` have been written, except words. */
void spool__given(struct spool *spool, uint64_t ns);
/*
 * Returns the writer for the next events. If the limit is reached because the worker is late, this waits as
 * long as the callback of spool__waits() returns true. Without a callback it never waits. After that,
 * events are dropped and counted until there is room, and a mark in the trace says where they are missing.
 * `must`: the next events must be written, and are never dropped.
 */
struct trace_writer *spool__writer(struct spool *spool, bool must);
/* Sets the callback that decides every millisecond whether to wait longer for room. */
void spool__waits(struct spool *spool, bool (*waits)(void *ctx), void *ctx);
/* Whether spool__writer() would return at once without dropping events. */
bool spool__has_room(const struct spool *spool);
/*
 * Returns the file that gets the next events. The spool owns it. It is valid until another spool function
 * is called. -1: the events go to the trace.
 */
int spool__later(const struct spool *spool);
/* Writes buffered data to the file, so that other processes can read them. */
void spool__flush(struct spool *spool);
/* Number of events that were dropped. */
uint64_t spool__dropped(const struct spool *spool);
/* Tells the spool that the trace already has windows of another kind. Then no regions are kept. */
void spool__parted(struct spool *spool);
bool spool__is_parted(const struct spool *spool);
/* Whether new events are no longer kept, but only counted in statistics. */
bool spool__folds(const struct spool *spool);
/*
 * Waits at most `seconds` for the statistics, writes them into the trace (nothing if the trace has all
 * events), and frees the spool. 0 or a negative errno.
 */
int spool__finish(struct spool *spool, unsigned int seconds);
void spool__free(struct spool *spool); /* accepts NULL */

#endif
