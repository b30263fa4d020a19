/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is kept of records that are not: counts and times by construct, in one pass over the records in
 * their order, in memory that follows what is open at a time (tasks that are not over, threads, call
 * sites) and not how much there was. Internal to analysis; grain_fold.h is what others use.
 */
#ifndef GRAIND_FOLD_H
#define GRAIND_FOLD_H

#include "analysis/resolve.h"
#include "analysis/running_stat.h"

/* Bucket b counts values v with 2^(b-1) <= v < 2^b; bucket 0 those that are 0. */
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
		wait;			/* of complete instances; create: of a chunk its book-keeping */
	uint64_t buckets[FOLD_BUCKETS]; /* of exec */
};

struct fold_totals {
	uint64_t events, lost, lost_switches, tasks, chunks, runtime_tasks, regions, shares;
	uint64_t incomplete, no_create, never_begun, never_ended, unclosed, unmatched_ends;
	uint64_t work_ns; /* fragments of all contexts */
	uint64_t first_ns, last_ns;
	uint64_t most_open; /* tasks that were open at a time */
};

struct fold;
struct fold_regions;

int fold__new(struct budget *budget, struct fold **out);
void fold__free(struct fold *fold); /* accepts NULL */
/* The next records, sorted as far as trace_events sorts. `keyed`: a key names one task, ever. -E2BIG,
 * -ENOMEM. */
int fold__records(struct fold *fold, const struct trace_content *content, bool keyed);
/*
 * From now on `regions`, the caller's, is told of regions. What it fails with is no error of the sums: it is
 * told no more then.
 */
void fold__tell(struct fold *fold, struct fold_regions *regions);
/* What it failed with; 0. */
int fold__regions_error(const struct fold *fold);
/* Nothing comes any more: what is open is incomplete. */
void fold__finish(struct fold *fold);
const struct fold_totals *fold__totals(const struct fold *fold);
size_t fold__row_count(const struct fold *fold);
const struct fold_row *fold__row(const struct fold *fold, size_t index);

/* The lines @folded and @folded-row (trace_format.h). */
int fold__write(const struct fold *fold, uint64_t damaged_chunks, FILE *out);

/* fold_rows.c */
struct fold_rows {
	struct fold_row *rows;
	size_t count, capacity;
	struct number_map index; /* a hash of what names a row -> the first row with it */
	uint32_t *next;		 /* of rows with one hash */
	uint32_t last[64];	 /* those that were met last */
};
int fold_rows__find(struct fold_rows *rows, uint64_t site, uint64_t ident, enum fold_kind kind,
		    struct budget *budget, uint32_t *out);
void fold_row__add(struct fold_row *row, uint64_t exec_ns, uint64_t create_ns, uint64_t wait_ns);
void fold_rows__free(struct fold_rows *rows);

#endif
