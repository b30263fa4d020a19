// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/fold/fold_ring.h"
#include "analysis/trace/trace_content.h"
#include "analysis/trace/trace_format.h"

#include <stdlib.h>
#include <string.h>

/* Records per block; blocks without records of the wanted time are skipped. */
#define BLOCK UINT64_C(1024)
#define READINGS ((TRACE_READING_MAX + TRACE_COUNTERS_EACH - 1) / TRACE_COUNTERS_EACH)

static uint64_t bytes_of(const struct fold_ring *ring)
{
	return ring->room * sizeof(*ring->records) + ring->room / BLOCK * sizeof(*ring->blocks);
}

int fold_ring__init(struct fold_ring *ring, uint64_t room, struct budget *budget)
{
	*ring = (struct fold_ring){.room = room, .budget = budget};
	if (budget__take(budget, bytes_of(ring))) {
		ring->room = 0;
		return -E2BIG;
	}
	ring->records = malloc(room * sizeof(*ring->records));
	ring->blocks = calloc(room / BLOCK, sizeof(*ring->blocks));
	return ring->records && ring->blocks ? 0 : -ENOMEM;
}

void fold_ring__free(struct fold_ring *ring)
{
	free(ring->records);
	free(ring->blocks);
	if (ring->room)
		budget__give(ring->budget, bytes_of(ring));
	*ring = (struct fold_ring){.room = 0};
}

int fold_ring__add(struct fold_ring *ring, const struct trace_record *records, size_t count)
{
	if (count > ring->room)
		return -E2BIG;
	for (size_t i = 0; i < count; i++) {
		uint64_t place = ring->next++ & (ring->room - 1);
		struct fold_ring_block *block = &ring->blocks[place / BLOCK];

		if (place % BLOCK == 0)
			*block = (struct fold_ring_block){.first_ns = UINT64_MAX};
		ring->records[place] = records[i];
		if (records[i].time_ns < block->first_ns)
			block->first_ns = records[i].time_ns;
		if (records[i].time_ns > block->last_ns)
			block->last_ns = records[i].time_ns;
	}
	return 0;
}

bool fold_ring__has(const struct fold_ring *ring, const struct fold_span *span, uint64_t more)
{
	return ring->next + more - span->first <= ring->room;
}

/* A thread that may be a member of the region. */
struct visitor {
	bool inside;
	uint8_t readings;
	uint64_t reading[READINGS]; /* counter values of its next event */
};

struct pick {
	struct fold_picked *list;
	size_t count, room, most;
};

static int push(struct pick *pick, uint64_t time_ns, uint64_t position)
{
	if (pick->count == pick->most)
		return -EFBIG;
	if (pick->count == pick->room) {
		size_t room = pick->room ? 2 * pick->room : 1024;
		struct fold_picked *list = reallocarray(pick->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		pick->list = list;
		pick->room = room;
	}
	pick->list[pick->count++] = (struct fold_picked){time_ns, position};
	return 0;
}

static bool enters(const struct fold_span *span, const struct trace_record *rec, uint64_t position)
{
	if (rec->thread == span->thread)
		return position == span->begin;
	return rec->kind == TRACE_MEMBER_BEGIN && rec->arg > 0;
}

static int visit(struct pick *pick, struct visitor *visitor, const struct fold_span *span,
		 const struct trace_record *rec, uint64_t position)
{
	int error = 0;

	/* The reader made this record from the record of the lock's acquisition, which is kept. */
	if (rec->flags & RECORD_LOCK_BEGIN)
		return 0;
	if (!visitor->inside && enters(span, rec, position)) {
		visitor->inside = true;
		for (unsigned i = 0; i < visitor->readings && !error; i++)
			error = push(pick, rec->time_ns, visitor->reading[i]);
	}
	if (visitor->inside)
		return error ? error : push(pick, rec->time_ns, position);
	if (rec->kind != TRACE_COUNTERS)
		visitor->readings = 0;
	else if (visitor->readings < READINGS)
		visitor->reading[visitor->readings++] = position;
	return 0;
}

static bool is_of(const struct fold_span *span, const struct trace_record *rec, uint64_t position)
{
	return rec->time_ns >= span->begin_ns && rec->time_ns <= span->end_ns &&
	       (rec->thread != span->thread || position <= span->end);
}

static int compare(const void *a, const void *b)
{
	const struct fold_picked *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static void sort(struct pick *pick)
{
	for (size_t i = 1; i < pick->count; i++)
		if (compare(&pick->list[i - 1], &pick->list[i]) > 0) {
			qsort(pick->list, pick->count, sizeof(*pick->list), compare);
			return;
		}
}

static bool may_be_in(const struct fold_ring_block *block, const struct fold_span *span)
{
	return block->first_ns <= span->end_ns && block->last_ns >= span->begin_ns;
}

int fold_ring__pick(const struct fold_ring *ring, const struct fold_span *span, uint32_t threads, size_t most,
		    struct fold_picked **out, size_t *count)
{
	struct visitor *visitors = calloc(threads ? threads : 1, sizeof(*visitors));
	struct pick pick = {.most = most};
	int error = visitors ? 0 : -ENOMEM;

	*out = NULL;
	*count = 0;
	for (uint64_t at = span->first; at < ring->next && !error; at++) {
		const struct trace_record *rec = fold_ring__at(ring, at);

		if (at % BLOCK == 0 && !may_be_in(&ring->blocks[(at & (ring->room - 1)) / BLOCK], span)) {
			at += BLOCK - 1;
			continue;
		}
		if (rec->thread < threads && is_of(span, rec, at))
			error = visit(&pick, &visitors[rec->thread], span, rec, at);
	}
	free(visitors);
	if (error) {
		free(pick.list);
		return error;
	}
	sort(&pick);
	*out = pick.list;
	*count = pick.count;
	return 0;
}
