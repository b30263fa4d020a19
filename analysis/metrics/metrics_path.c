// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the heaviest path back from its end and marks it. If the graph has only some windows of one run,
 * each window has its own path. Together they are the known parts of one path.
 */
#include "analysis/metrics/metrics_span.h"

/* A position on the way back along the heaviest path: just before `item` of `context`. */
struct position {
	uint32_t context, item;
};

static struct position after_end(const struct grain_graph *g, uint32_t context)
{
	return (struct position){context, g->contexts[context].first_item + g->contexts[context].item_count};
}

/* Returns the position before the end of the context from which the path came to its join. */
static struct position leave(struct grain_graph *g, uint32_t context)
{
	g->contexts[context].flags |= CONTEXT_LEFT;
	return after_end(g, context);
}

static void mark_dependence(struct grain_graph *g, uint32_t from, uint32_t to)
{
	size_t i;

	for (i = graph__first_dependence(g, to); i < g->depend_count && g->depends[i].to == to; i++)
		if (g->depends[i].from == from)
			g->depends[i].critical = true;
}

static void mark_depend_wait(struct grain_graph *g, uint32_t from, uint32_t join)
{
	size_t i;

	for (i = graph__first_depend_wait(g, join);
	     i < g->depend_wait_count && g->depend_waits[i].join == join; i++)
		if (g->depend_waits[i].from == from)
			g->depend_waits[i].critical = true;
}

static struct position through_join(struct span *s, const struct item *item, struct position p)
{
	const struct meeting *m = &s->meetings[item->ref];

	s->marked->joins[item->ref].flags |= JOIN_CRITICAL;
	if (!(item->flags & ITEM_JUMP))
		return p;
	if (m->arrival)
		return (struct position){.context = m->winner, .item = m->item};
	if (!(s->graph->joins[item->ref].flags & JOIN_YIELD))
		return leave(s->marked, m->winner);
	mark_depend_wait(s->marked, m->winner, item->ref);
	return after_end(s->graph, m->winner);
}

/*
 * Marks the path from its end to its start. Takes at most `limit` steps, because a damaged graph may have a
 * circle.
 */
static void mark(struct span *s, uint32_t last)
{
	struct grain_graph *g = s->marked;
	struct position p = after_end(g, last);
	size_t limit = 2 * (g->item_count + g->context_count) + 2;
	bool onward = false; /* the path goes on to the next item of the same context */

	while (limit--) {
		struct context *c = &g->contexts[p.context];
		struct item *item;

		if (p.item <= c->first_item) {
			if (s->after && s->after[p.context] != GRAIN_NONE) {
				mark_dependence(g, s->after[p.context], p.context);
				p = after_end(g, s->after[p.context]);
				onward = false;
				continue;
			}
			if (c->item == GRAIN_NONE || c->parent == GRAIN_NONE)
				return;
			c->flags |= CONTEXT_ENTERED;
			g->items[c->item].flags |= ITEM_CRITICAL;
			p = (struct position){.context = c->parent, .item = c->item};
			onward = true;
			continue;
		}
		item = &g->items[--p.item];
		if (onward)
			item->flags |= ITEM_ONWARD;
		onward = true;
		if (item->kind == GRAIN_FORK)
			continue;
		item->flags |= ITEM_CRITICAL;
		if (item->kind == GRAIN_FRAGMENT) {
			c->flags |= CONTEXT_CRITICAL;
		} else if (item->kind == GRAIN_JOIN) {
			p = through_join(s, item, p);
			onward = !(item->flags & ITEM_JUMP) || s->meetings[item->ref].arrival;
		} else if (item->kind == GRAIN_REGION && item->flags & ITEM_JUMP &&
			   !s->ends[item->ref].arrival) {
			p = leave(g, s->ends[item->ref].winner);
			onward = false;
		} else if (item->kind == GRAIN_CHUNK_ITEM) {
			p = leave(g, item->ref);
			onward = false;
		}
	}
}

/* Returns the window of a context that has no time of its own: the window of its creation. */
static size_t window_of(const struct grain_graph *g, const struct context *c)
{
	uint64_t time = c->start_ns;

	if (!time && c->item != GRAIN_NONE)
		time = g->items[c->item].start_ns;
	return graph__window_at(g, time);
}

int span__heaviest(const struct span *s, uint32_t **last, size_t *count, uint64_t *burdened)
{
	const struct grain_graph *g = s->graph;
	bool follow = graph__windows_follow(g);
	uint64_t *most = NULL;
	int error;

	*count = follow ? g->stream->window_count : 1;
	*burdened = 0;
	error = memory__array(s->memory, *count, sizeof **last, (void **)last);
	if (error == 0)
		error = memory__array(s->memory, *count, sizeof *most, (void **)&most);
	for (size_t w = 0; w < *count && error == 0; w++)
		(*last)[w] = GRAIN_NONE;
	for (size_t i = 0; i < g->context_count && error == 0; i++) {
		size_t w = follow ? window_of(g, &g->contexts[i]) : 0;

		if ((*last)[w] == GRAIN_NONE || s->walks[i].path > s->walks[(*last)[w]].path)
			(*last)[w] = (uint32_t)i;
		if (s->walks[i].burdened > most[w])
			most[w] = s->walks[i].burdened;
	}
	for (size_t w = 0; w < *count && error == 0; w++)
		*burdened += most[w];
	memory__release(s->memory, (void **)&most, *count, sizeof *most);
	return error;
}

void span__release_heaviest(const struct span *s, uint32_t **last, size_t count)
{
	memory__release(s->memory, (void **)last, count, sizeof **last);
}

int span__conclude(struct span *s)
{
	struct grain_graph *g = s->marked;
	uint32_t *last = NULL;
	size_t count;
	int error = span__heaviest(s, &last, &count, &g->totals.burdened_span_ns);

	for (size_t i = 0; i < g->context_count; i++) {
		g->path_start[i] = s->walks[i].start;
		g->path_end[i] = s->walks[i].path;
	}
	for (size_t w = 0; w < count && error == 0; w++) {
		if (last[w] == GRAIN_NONE)
			continue;
		g->totals.span_ns += g->path_end[last[w]];
		mark(s, last[w]);
	}
	span__release_heaviest(s, &last, count);
	return error;
}
