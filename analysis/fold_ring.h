/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latest records that were folded, and what of them belongs to one parallel region. A record's position
 * is how many came before it. Records of one thread are in the order of their times; those of another may
 * come later than records that are younger.
 */
#ifndef GRAIND_FOLD_RING_H
#define GRAIND_FOLD_RING_H

#include "analysis/resolve.h"

#define FOLD_RING_RECORDS (UINT64_C(1) << 20)

/* From the record with which an outermost region begins to that with which it ends. */
struct fold_span {
	uint64_t first;	     /* position before which there is nothing of the region */
	uint64_t begin, end; /* positions */
	uint64_t begin_ns, end_ns;
	uint32_t thread; /* that encountered it */
};

struct fold_ring_block {
	uint64_t first_ns, last_ns;
};

struct fold_ring {
	struct trace_record *records;
	struct fold_ring_block *blocks;
	uint64_t room;
	uint64_t next; /* the position of the next record */
	struct budget *budget;
};

/* `room`: a power of two. -E2BIG, -ENOMEM. */
int fold_ring__init(struct fold_ring *ring, uint64_t room, struct budget *budget);
void fold_ring__free(struct fold_ring *ring);
/* All of them take the places of older ones. More than there is room for at a time is -E2BIG. */
int fold_ring__add(struct fold_ring *ring, const struct trace_record *records, size_t count);
/* Whether all that may belong to the region would be there when `more` records have come. */
bool fold_ring__has(const struct fold_ring *ring, const struct fold_span *span, uint64_t more);

struct fold_picked {
	uint64_t time_ns, position;
};
/*
 * What belongs to the region, in the order of time, the caller's: of the thread that encountered it all from
 * begin to end, of others what they tell from when they become members on. -EFBIG: that is more than `most`;
 * after an error there is nothing.
 */
int fold_ring__pick(const struct fold_ring *ring, const struct fold_span *span, uint32_t threads, size_t most,
		    struct fold_picked **out, size_t *count);
static inline const struct trace_record *fold_ring__at(const struct fold_ring *ring, uint64_t position)
{
	return &ring->records[position & (ring->room - 1)];
}

#endif
