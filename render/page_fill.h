/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of page_columns__fill share. */
#ifndef GRAIND_RENDER_PAGE_FILL_H
#define GRAIND_RENDER_PAGE_FILL_H

#include "render/page_columns.h"

/* Of a context's fragments, in ticks; first > last: it has none. */
struct page_body {
	uint64_t first, last, exec;
	uint32_t first_item, item_count;
	uint32_t parent, depth;
};

/* Of a join, what its waiter did around it: so many fragments before it, the end of the last, the next one's
 * start. */
struct page_wait {
	uint64_t from_ns, to_ns;
	uint32_t after;
};

struct page_fill {
	struct page_columns *out;
	const struct grain_graph *graph;
	struct page_body *bodies; /* per context */
	struct page_wait *waits;  /* per join */
	char *id, *base;	  /* identifiers; room for the longest so far */
	size_t id_room, base_room;
};

/* From the start of the recording; durations. */
static inline uint64_t page_fill__time(const struct page_fill *f, uint64_t ns)
{
	const struct page_columns *c = f->out;

	return ns < c->start_ns ? 0 : (ns - c->start_ns + c->tick_ns / 2) / c->tick_ns;
}

static inline uint64_t page_fill__ticks(const struct page_fill *f, uint64_t ns)
{
	return (ns + f->out->tick_ns / 2) / f->out->tick_ns;
}

/* Bounds that a browser can count with. */
static inline bool page_fill__bounded(const struct grain_iterations *it)
{
	const int64_t most = INT64_C(1) << 53;

	return !it->hidden && it->chunks >= 1 && it->lower < most && it->upper < most && it->lower > -most &&
	       it->upper > -most && (!it->is_unsigned || (it->lower >= 0 && it->upper >= 0));
}

/* In this order. 0 or -ENOMEM. */
int page_fill__fragments(struct page_fill *f); /* page_fragments.c; bodies, too */
int page_fill__contexts(struct page_fill *f);  /* page_contexts.c */
int page_fill__names(struct page_fill *f);     /* page_names.c */
int page_fill__tables(struct page_fill *f);    /* page_tables.c */

/*
 * The id of `index`, written into *buffer, which grows. 0 or -ENOMEM. `write`
 * is as grain_graph__context_id.
 */
typedef size_t page_id_writer(const struct grain_graph *graph, uint32_t index, char *buffer, size_t size);
int page_fill__id(const struct page_fill *f, page_id_writer *write, uint32_t index, char **buffer,
		  size_t *room, size_t *length);

#endif
