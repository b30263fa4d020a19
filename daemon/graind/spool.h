/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps what a job writes below its ceiling. Up to half of it the trace has all events. What comes then goes
 * to files without a name that are gone once a worker has made statistics of them; the statistics, of the
 * trace's events too, are lines of the trace in the end. Some parallel regions of that time, which the worker
 * has kept in another such file, become windows of the trace then.
 */
#ifndef GRAIND_SPOOL_H
#define GRAIND_SPOOL_H

#include "daemon/common/trace_writer.h"

#include <sys/types.h>

#define SPOOL_LEAST_BYTES (UINT64_C(8) << 20)
#define SPOOL_DEFAULT_BYTES (UINT64_C(1) << 30)

struct spool;

/* `dirfd` and `trace` stay the caller's, and are there for as long as the spool. */
int spool__new(int dirfd, const char *name, uid_t uid, gid_t gid, uint64_t max_bytes,
	       struct trace_writer *trace, struct spool **out);
/*
 * What follows are words of a round, which ends at that time (struct trace_words_head). The trace's events
 * end between two rounds, unless one is very large: less of what they have is then of some threads only.
 */
void spool__round(struct spool *spool, uint64_t ns);
/* All events that are no words have been given that happened up to this time. */
void spool__given(struct spool *spool, uint64_t ns);
/* Where the next events go. Waits, where the worker is behind and the ceiling reached. */
struct trace_writer *spool__writer(struct spool *spool);
/* The file that the next events go to, the spool's until the next call of another function; -1: the trace. */
int spool__later(const struct spool *spool);
/* What was written can be read. */
void spool__flush(struct spool *spool);
/* Events that did not reach a file. */
uint64_t spool__dropped(const struct spool *spool);
/* The trace has windows already, of another kind: no regions are kept. */
void spool__parted(struct spool *spool);
bool spool__is_parted(const struct spool *spool);
/* Whether events are no longer kept. */
bool spool__folds(const struct spool *spool);
/* The statistics, within so many seconds, go into the trace; nothing does where all events are there. Frees
 * it. */
int spool__finish(struct spool *spool, unsigned int seconds);
void spool__free(struct spool *spool); /* accepts NULL */

#endif
