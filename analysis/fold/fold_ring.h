/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of the most recent records that were folded. It finds the records of one parallel region. The
 * position of a record is the number of records before it. The records of one thread are in the order of
 * time; those of different threads need not be.
 */
#ifndef GRAIND_FOLD_RING_H
#define GRAIND_FOLD_RING_H

#include "analysis/trace/trace_content.h"

#define FOLD_RING_RECORDS (UINT64_C(1) << 20)

/* An outermost region, from its first record to its last. */
struct fold_span {
	uint64_t first;	     /* a position: none of its records is before it */
	uint64_t begin, end; /* positions of the records that begin and end it */
	uint64_t begin_ns, end_ns;
	uint32_t thread; /* the thread that began it */
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

/* `room`: the number of records, a power of two. Returns 0, -E2BIG or -ENOMEM. */
int fold_ring__init(struct fold_ring *ring, uint64_t room, struct budget *budget);
void fold_ring__free(struct fold_ring *ring);
/* Adds the records in place of the oldest ones. -E2BIG: the ring is too small for so many. */
int fold_ring__add(struct fold_ring *ring, const struct trace_record *records, size_t count);
/* Whether all records of the region will still be in the ring after `more` more records. */
bool fold_ring__has(const struct fold_ring *ring, const struct fold_span *span, uint64_t more);

struct fold_picked {
	uint64_t time_ns, position;
};
/*
 * Finds the records of the region: all records of the thread that began it, from begin to end, and those of
 * other threads while they are members. *out has them in the order of time; the caller frees it. -EFBIG:
 * there are more than `most`. After an error *out is not set.
 */
int fold_ring__pick(const struct fold_ring *ring, const struct fold_span *span, uint32_t threads, size_t most,
		    struct fold_picked **out, size_t *count);
static inline const struct trace_record *fold_ring__at(const struct fold_ring *ring, uint64_t position)
{
	return &ring->records[position & (ring->room - 1)];
}

#endif
