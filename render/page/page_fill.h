/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of page_columns__fill() share. */
#ifndef GRAIND_RENDER_PAGE_FILL_H
#define GRAIND_RENDER_PAGE_FILL_H

#include "render/page/page_columns.h"

/* Begin and end of a context's fragments in ticks. first > last: it has no fragments. */
struct page_body {
	uint64_t first, last, exec;
};

/*
 * The fragments of a waiter around its join: how many are before it, the end of the last of these, and the
 * begin of the next one.
 */
struct page_wait {
	uint64_t from_ns, to_ns;
	uint32_t after;
};

struct page_gather; /* page_fragments.c */
struct page_names;  /* page_names.c */

struct page_fill {
	struct page_columns *out;
	const struct grain_graph *graph;
	uint32_t *depths; /* depths of the contexts up to the present one; the same holds for out->parents */
	struct page_wait *waits; /* per join */
	struct page_gather *gather;
	struct page_names *names;
	char *id, *base; /* buffers for identifiers; they grow to the longest identifier so far */
	size_t id_room, base_room;
};

/* Convert ns to ticks: times relative to the start of the recording; durations. */
static inline uint64_t page_fill__ticks(const struct page_fill *f, uint64_t ns)
{
	return (ns + f->out->tick_ns / 2) >> f->out->tick_shift;
}

static inline uint64_t page_fill__time(const struct page_fill *f, uint64_t ns)
{
	return ns < f->out->start_ns ? 0 : page_fill__ticks(f, ns - f->out->start_ns);
}

/* Whether a browser can represent the bounds exactly. */
static inline bool page_fill__bounded(const struct grain_iterations *it)
{
	const int64_t most = INT64_C(1) << 53;

	return !it->hidden && it->chunks >= 1 && it->lower < most && it->upper < most && it->lower > -most &&
	       it->upper > -most && (!it->is_unsigned || (it->lower >= 0 && it->upper >= 0));
}

/* Call these in this order. They return 0 or -ENOMEM. */
int page_fill__contexts(struct page_fill *f);  /* page_contexts.c; uses page_gather and page_names */
int page_fill__fragments(struct page_fill *f); /* page_fragments.c; of all contexts */
int page_fill__others(struct page_fill *f);    /* page_names.c; regions and loops */
void page_fill__tables(struct page_fill *f);   /* page_tables.c */

/* page_fragments.c: keeps the fragments of the context, and what is around its joins. */
int page_gather__new(struct page_gather **out);
void page_gather__free(struct page_gather *gather); /* accepts NULL */
int page_gather__add(struct page_fill *f, uint32_t context, const struct grain_context *c,
		     struct page_body *body);

/* page_names.c: adds the identifiers of contexts. */
int page_names__new(struct page_fill *f, struct page_names **out);
void page_names__free(struct page_names *names); /* accepts NULL */
int page_names__add(struct page_fill *f, uint32_t context, const struct grain_context *c);

/*
 * Writes the identifier of `index` into *buffer, which grows. `write` is a function such as
 * grain_graph__context_id(). Returns 0 or -ENOMEM.
 */
typedef size_t page_id_writer(const struct grain_graph *graph, uint32_t index, char *buffer, size_t size);
int page_fill__id(const struct page_fill *f, page_id_writer *write, uint32_t index, char **buffer,
		  size_t *room, size_t *length);

#endif
