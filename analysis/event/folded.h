/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of a whole run, for a trace that has events of only a part of it. They come from the lines that
 * fold__write() writes. Internal to analysis.
 */
#ifndef GRAIND_FOLDED_H
#define GRAIND_FOLDED_H

#include "analysis/event/event_build.h"
#include "analysis/base/running_stat.h"

/* Bucket b counts values v with 2^(b-1) <= v < 2^b. Bucket 0 counts the value 0. */
#define FOLD_BUCKETS 65
#define FOLD_ROWS_MAX 16384u

enum fold_kind { FOLD_TASK, FOLD_TASKLOOP, FOLD_LOOP, FOLD_SECTIONS, FOLD_KINDS };
const char *fold_kind__name(enum fold_kind kind);

/* All explicit tasks, or all chunks, of one call site. */
struct fold_row {
	uint64_t site, ident; /* addresses; 0: unknown */
	uint8_t kind;	      /* enum fold_kind */
	uint64_t instances, leaves, undeferred, incomplete;
	struct running_stat exec, create,
		wait;			/* of complete instances; create: book-keeping, if it is a chunk */
	uint64_t buckets[FOLD_BUCKETS]; /* histogram of exec */
};

struct fold_totals {
	uint64_t events, lost, lost_switches, tasks, chunks, runtime_tasks, regions, shares;
	uint64_t incomplete, no_create, never_begun, never_ended, unclosed, unmatched_ends;
	uint64_t work_ns; /* fragments of all contexts */
	uint64_t first_ns, last_ns;
	uint64_t most_open; /* the largest number of tasks that were open at the same time */
};

struct folded_row {
	struct fold_row sums;
	uint32_t site;	 /* index as in records */
	uint32_t source; /* index into the stream's sources, GRAIN_NONE */
};

struct folded {
	struct fold_totals totals;
	uint64_t damaged;	      /* number of trace chunks that could not be read as events */
	uint64_t graph_lost;	      /* number of lost events in the graph's part */
	uint64_t graph_lost_switches; /* number of lost switches among these */
	char *why;		      /* why the statistics end early; NULL: they are of the whole run */
	uint64_t regions_seen, unkept_large, unkept_overlapping, unkept_lost, unkept_room,
		unkept_edge; /* numbers of regions after the graph's part that were seen but not kept, by
				reason */
	char *unkept_why;    /* why no regions were kept; NULL: some could be */
	struct folded_row *rows;
	size_t count;
};

bool folded__is_line(const char *line, size_t bytes);
/* Reads a @folded or @folded-row line. -EBADMSG: `why` says what is wrong. */
int folded__line(struct event_stream *stream, const char *line, size_t bytes, struct budget *budget,
		 char why[128]);
void folded__free(struct folded *folded); /* accepts NULL */

#endif
