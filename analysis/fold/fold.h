/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of records that are not kept: counts and times by construct. They are computed in one pass over
 * the records in their order. Memory grows with what is open at a time (tasks that have not ended, threads,
 * call sites), not with the number of records. Internal to analysis; others use grain_fold.h.
 */
#ifndef GRAIND_FOLD_H
#define GRAIND_FOLD_H

#include "analysis/event/folded.h"
#include "analysis/trace/trace_content.h"

struct fold;
struct fold_regions;

int fold__new(struct budget *budget, struct fold **out);
void fold__free(struct fold *fold); /* accepts NULL */
/*
 * Takes the next records, sorted as well as trace_events sorts them. `keyed`: a key is never used for a
 * second task. Returns 0, -E2BIG or -ENOMEM.
 */
int fold__records(struct fold *fold, const struct trace_content *content, bool keyed);
/*
 * From now on, reports regions to `regions`, which belongs to the caller. An error there is no error of the
 * statistics: after it, regions are no longer reported.
 */
void fold__tell(struct fold *fold, struct fold_regions *regions);
/* Returns the error that `regions` returned, or 0. */
int fold__regions_error(const struct fold *fold);
/* No more records come. Everything that is still open is incomplete. */
void fold__finish(struct fold *fold);
const struct fold_totals *fold__totals(const struct fold *fold);
size_t fold__row_count(const struct fold *fold);
const struct fold_row *fold__row(const struct fold *fold, size_t index);

/* Writes the lines @folded and @folded-row (trace_format.h). */
int fold__write(const struct fold *fold, uint64_t damaged_chunks, FILE *out);

/* fold_rows.c */
struct fold_rows {
	struct fold_row *rows;
	size_t count, capacity;
	struct number_map index; /* hash of a row's site, ident and kind -> the first row with that hash */
	uint32_t *next;		 /* per row: the next row with the same hash */
	uint32_t last[64];	 /* cache of the rows that were found last */
};
int fold_rows__find(struct fold_rows *rows, uint64_t site, uint64_t ident, enum fold_kind kind,
		    struct budget *budget, uint32_t *out);
void fold_row__add(struct fold_row *row, uint64_t exec_ns, uint64_t create_ns, uint64_t wait_ns);
void fold_rows__free(struct fold_rows *rows);

#endif
