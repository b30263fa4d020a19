/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps some parallel regions of a long job with all their records: the slowest one for which there is room,
 * the last one, and every n-th, spread over the whole run. Only outermost regions that overlap no other
 * region are kept, and only completely. Memory and file do not grow with the run.
 */
#ifndef GRAIND_FOLD_REGIONS_H
#define GRAIND_FOLD_REGIONS_H

#include "analysis/fold/fold_ring.h"

#include <stdio.h>

#define FOLD_SETTLE (UINT64_C(256) << 10)
/*
 * The largest number of every-n-th regions that are kept. When there are more, n doubles and half of them are
 * dropped.
 */
#define FOLD_REGIONS_EVERY 16

/* Why a region is kept; a bit for each. */
enum fold_why { FOLD_WHY_SLOWEST = 1, FOLD_WHY_LAST = 2, FOLD_WHY_EVERY = 4 };

struct fold_regions_opts {
	int fd;		    /* the caller's file for struct trace_event, one after another */
	uint64_t max_bytes; /* the largest size of that file */
	uint64_t ring;	    /* records, a power of two; 0: FOLD_RING_RECORDS */
	/*
	 * How many records late a record may come in the order of time. If there are words: how late after
	 * the records of its round. Less than half of `ring`; 0: FOLD_SETTLE.
	 */
	uint64_t settle;
	struct budget *budget;
};

struct fold_regions;

int fold_regions__new(const struct fold_regions_opts *opts, struct fold_regions **out);
void fold_regions__free(struct fold_regions *regions); /* accepts NULL */

/*
 * Begins to keep regions. All events up to now and up to after_ns are kept anyway, so only later regions are
 * considered. All events up to `whole_ns` have come, except words; later ones may be missing. 0: unknown.
 */
void fold_regions__start(struct fold_regions *regions, uint64_t after_ns, uint64_t whole_ns);
/*
 * The words up to `ns` (struct trace_words_head) have been read. The next records are from these words, and
 * records that waited to be sorted.
 */
void fold_regions__round(struct fold_regions *regions, uint64_t ns);
/* Takes the next records, before they are folded; `content` must exist until fold_regions__free(). */
int fold_regions__records(struct fold_regions *regions, const struct trace_content *content);
/* In these records an outermost region begins or ends, or events are lost. */
int fold_regions__begin(struct fold_regions *regions, const struct trace_record *record);
int fold_regions__end(struct fold_regions *regions, const struct trace_record *record);
void fold_regions__lost(struct fold_regions *regions, const struct trace_record *record);
/* These records have been folded. */
int fold_regions__folded(struct fold_regions *regions);
/*
 * No more records come. Writes lines of a trace: how many regions were kept out of how many, and where each
 * is in the file (trace_format.h).
 */
int fold_regions__finish(struct fold_regions *regions, FILE *out);

#endif
