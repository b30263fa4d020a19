/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifiers by path enumeration. They are written from their ends towards the root. */
#include "analysis/graph/graph_ids.h"

/* Counts the characters. If there is room, stores all but the last `skip` of them, downwards from `at`. */
struct writer {
	char *at;
	size_t skip, length;
	size_t limit; /* the largest number of characters to store; 0: no limit */
};

static void put(struct writer *w, char c)
{
	w->length++;
	if (!w->at || (w->limit && w->length > w->limit))
		return;
	if (w->skip)
		w->skip--;
	else
		*--w->at = c;
}

static void put_number(struct writer *w, uint64_t n)
{
	do
		put(w, (char)('0' + n % 10));
	while (n /= 10);
}

static void put_signed(struct writer *w, int64_t n)
{
	put_number(w, n < 0 ? -(uint64_t)n : (uint64_t)n);
	if (n < 0)
		put(w, '-');
}

static void put_bound(struct writer *w, bool is_unsigned, int64_t n)
{
	if (is_unsigned)
		put_number(w, (uint64_t)n);
	else
		put_signed(w, n);
}

/* What is still to be written: the path of a context or of a region. */
struct place {
	uint32_t context, region;
};

static void enter_scope(const struct grain_graph *g, struct writer *w, struct place *at, uint32_t context,
			uint32_t single)
{
	const struct context *c = &g->contexts[context];

	*at = (struct place){.context = context, .region = GRAIN_NONE};
	if (single == GRAIN_NONE)
		return;
	put_number(w, single);
	put(w, 's');
	put(w, '.');
	if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		*at = (struct place){.context = GRAIN_NONE, .region = c->region};
}

static void put_loop(struct writer *w, struct place *at, const struct loop *loop, uint32_t context)
{
	put_number(w, loop->ordinal);
	put(w, loop->sections ? 'x' : 'l');
	put(w, '/');
	*at = (struct place){.context = context, .region = loop->region};
	if (loop->region != GRAIN_NONE)
		at->context = GRAIN_NONE;
	else if (context == GRAIN_NONE)
		at->context = 0;
}

static void put_chunk(const struct grain_graph *g, struct writer *w, struct place *at,
		      const struct context *c)
{
	const struct chunk *chunk = &g->chunks[c->number];
	const struct loop *loop = &g->loops[chunk->loop];
	bool is_unsigned = g->stream->loops && g->stream->loops[chunk->loop].is_unsigned;

	put(w, ']');
	if (chunk->copy) {
		put_number(w, chunk->copy);
		put(w, ';');
	}
	if (chunk__by_member(chunk)) {
		put_number(w, g->contexts[c->parent].ordinal);
		put(w, 't');
	} else {
		put_bound(w, is_unsigned, chunk->upper);
		if (!loop->sections || chunk->upper != chunk->lower) {
			put(w, ',');
			put_bound(w, is_unsigned, chunk->lower);
		}
	}
	put(w, '[');
	put_loop(w, at, loop, c->parent);
}

static void put_path(const struct grain_graph *g, struct writer *w, struct place at)
{
	for (;;) {
		const struct context *c;

		if (at.context == GRAIN_NONE) {
			const struct region *region = &g->regions[at.region];

			put_number(w, region->ordinal);
			if (!region->begun) {
				put(w, 'r');
				put(w, '?');
				return;
			}
			put(w, 'p');
			put(w, '.');
			enter_scope(g, w, &at, region->parent, region->single);
			continue;
		}
		c = &g->contexts[at.context];
		if (c->kind == GRAIN_CHUNK) {
			put_chunk(g, w, &at, c);
			continue;
		}
		put_number(w, c->ordinal);
		if (c->kind == GRAIN_INITIAL)
			return;
		if (c->flags & CONTEXT_SPLIT)
			put(w, 't');
		if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE) {
			put(w, '.');
			at = (struct place){.context = GRAIN_NONE, .region = c->region};
		} else if (c->parent == GRAIN_NONE) {
			put(w, '?');
			return;
		} else {
			put(w, '.');
			enter_scope(g, w, &at, context__parent(g, c), c->single);
		}
	}
}

static void put_join(const struct grain_graph *g, struct writer *w, uint32_t join)
{
	const struct join *j = &g->joins[join];
	struct place at = {.context = GRAIN_NONE, .region = j->region};

	put_number(w, j->ordinal);
	put(w, j->region != GRAIN_NONE ? 'b' : j->flags & JOIN_YIELD ? 'y' : 'j');
	put(w, '/');
	if (j->region == GRAIN_NONE)
		at = (struct place){.context = j->waiter, .region = GRAIN_NONE};
	put_path(g, w, at);
}

static void put_id(const struct grain_graph *g, struct writer *w, enum id_kind kind, uint32_t index)
{
	switch (kind) {
	case ID_CONTEXT:
		put_path(g, w, (struct place){.context = index, .region = GRAIN_NONE});
		break;
	case ID_REGION:
		put_path(g, w, (struct place){.context = GRAIN_NONE, .region = index});
		break;
	case ID_JOIN:
		put_join(g, w, index);
		break;
	case ID_LOOP: {
		struct place at;

		put_loop(w, &at, &g->loops[index], g->loops[index].context);
		put_path(g, w, at);
		break;
	}
	}
}

size_t graph__id(const struct grain_graph *g, enum id_kind kind, uint32_t index, char *buffer, size_t size)
{
	struct writer count = {0}, w = {0};
	size_t kept;

	put_id(g, &count, kind, index);
	if (size == 0)
		return count.length;
	kept = count.length < size ? count.length : size - 1;
	w.skip = count.length - kept;
	w.at = buffer + kept;
	put_id(g, &w, kind, index);
	buffer[kept] = '\0';
	return count.length;
}

size_t graph__id_before(const struct grain_graph *g, enum id_kind kind, uint32_t index, char *end,
			size_t room)
{
	struct writer w = {.at = end, .limit = room};

	put_id(g, &w, kind, index);
	return w.length;
}

size_t grain_graph__context_id(const struct grain_graph *graph, uint32_t context, char *buffer, size_t size)
{
	return graph__id(graph, ID_CONTEXT, context, buffer, size);
}

size_t grain_graph__join_id(const struct grain_graph *graph, uint32_t join, char *buffer, size_t size)
{
	return graph__id(graph, ID_JOIN, join, buffer, size);
}

size_t grain_graph__region_id(const struct grain_graph *graph, uint32_t region, char *buffer, size_t size)
{
	return graph__id(graph, ID_REGION, region, buffer, size);
}

size_t grain_graph__loop_id(const struct grain_graph *graph, uint32_t loop, char *buffer, size_t size)
{
	return graph__id(graph, ID_LOOP, loop, buffer, size);
}
