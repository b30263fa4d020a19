/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Some parallel regions of a long job are kept with all their records: the slowest that there is room for,
 * the last one, and every so many'th, so that these are spread over all of the run. Each is an outermost one
 * that overlaps no other, and is kept whole. In memory, and in a file, that do not grow with the run.
 */
#ifndef GRAIND_FOLD_REGIONS_H
#define GRAIND_FOLD_REGIONS_H

#include "analysis/fold_ring.h"

#include <stdio.h>

#define FOLD_SETTLE (UINT64_C(256) << 10)
/* Of every so many'th so many are kept at most; from half of that on. */
#define FOLD_REGIONS_EVERY 16

/* Why a region is kept; a bit for each. */
enum fold_why { FOLD_WHY_SLOWEST = 1, FOLD_WHY_LAST = 2, FOLD_WHY_EVERY = 4 };

struct fold_regions_opts {
	int fd;		    /* struct trace_event after each other; the caller's */
	uint64_t max_bytes; /* of that file */
	uint64_t ring;	    /* records, a power of two; 0: FOLD_RING_RECORDS */
	/*
	 * So many records later come, at most, those that are as early; where words are read, so many later
	 * than their round. Less than half of `ring`; 0: FOLD_SETTLE.
	 */
	uint64_t settle;
	struct budget *budget;
};

struct fold_regions;

int fold_regions__new(const struct fold_regions_opts *opts, struct fold_regions **out);
void fold_regions__free(struct fold_regions *regions); /* accepts NULL */

/*
 * What came up to now, and the rest of it up to after_ns, is kept anyway: only regions that begin later are.
 * Without this none are. `whole_ns`: of events that are no words, all up to then have come, what is later may
 * lack some; 0: not known.
 */
void fold_regions__start(struct fold_regions *regions, uint64_t after_ns, uint64_t whole_ns);
/*
 * The words of threads are read that are not later than `ns` (struct trace_words_head); the next records are
 * of those, and of what waited to be sorted.
 */
void fold_regions__round(struct fold_regions *regions, uint64_t ns);
/* The next records, before they are folded; `content` is there until fold_regions__free. */
int fold_regions__records(struct fold_regions *regions, const struct trace_content *content);
/* Of those records: an outermost region begins, or ends; events are missing. */
int fold_regions__begin(struct fold_regions *regions, const struct trace_record *record);
int fold_regions__end(struct fold_regions *regions, const struct trace_record *record);
void fold_regions__lost(struct fold_regions *regions, const struct trace_record *record);
/* They are folded. */
int fold_regions__folded(struct fold_regions *regions);
/*
 * No more comes. Lines of a trace: what was kept of how many, and where each is in the file (trace_format.h).
 */
int fold_regions__finish(struct fold_regions *regions, FILE *out);

#endif
