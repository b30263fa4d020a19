/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes heaviest paths. The walk through a context stops at a join until everything has arrived that the
 * join synchronizes. So the order follows from the graph alone, not from times on different clocks.
 */
#include "analysis/metrics/metrics_span.h"

#include <string.h>

#define AHEAD 2 /* prefetch distance in items */

static void go_on(struct span *s, uint32_t context)
{
	s->walks[context].link = s->ready;
	s->ready = context;
}

static void arrive(struct span *s, struct meeting *m, uint32_t context, bool arrival)
{
	const struct walk *w = &s->walks[context];
	uint64_t path = w->path;

	if (!m->any || path > m->path) {
		m->path = path;
		m->winner = context;
		m->item = w->item;
		m->arrival = arrival;
		m->any = true;
	}
	if (w->burdened > m->burdened)
		m->burdened = w->burdened;
}

static void start(struct span *s, uint32_t context, uint64_t path, uint64_t burdened)
{
	struct walk *w = &s->walks[context];

	if (w->started)
		return;
	w->started = true;
	s->waiting--;
	w->burdened = burdened;
	w->start = w->path = path;
	__builtin_prefetch(&s->graph->items[w->item]);
	go_on(s, context);
}

/* A predecessor of a task's begin is over: its creation, or the task `from` that it depends on. */
static void permit(struct span *s, uint32_t context, uint64_t path, uint64_t burdened, uint32_t from)
{
	struct walk *w = &s->walks[context];

	if (w->started)
		return;
	if (path > w->start) {
		w->start = path;
		s->after[context] = from;
	}
	if (burdened > w->burdened)
		w->burdened = burdened;
	if (--s->pending[context] == 0)
		start(s, context, w->start, w->burdened);
}

/* Notes that at this item the path of another context is heavier. */
static void jump(struct span *s, uint32_t item)
{
	if (s->marked)
		s->marked->items[item].flags |= ITEM_JUMP;
}

/* Lets all contexts that wait at a meeting go on from its heaviest path. */
static void release(struct span *s, struct meeting *m)
{
	uint32_t c = m->waiters;

	m->released = true;
	m->waiters = GRAIN_NONE;
	while (c != GRAIN_NONE) {
		uint32_t next = s->walks[c].link;

		if (s->walks[c].path < m->path) {
			s->walks[c].path = m->path;
			jump(s, s->walks[c].item);
		}
		if (s->walks[c].burdened < m->burdened)
			s->walks[c].burdened = m->burdened;
		s->walks[c].item++;
		go_on(s, c);
		c = next;
	}
}

static void stand(struct span *s, struct meeting *m, uint32_t context)
{
	s->walks[context].link = m->waiters;
	m->waiters = context;
	if (m->released || m->pending == 0)
		release(s, m);
}

static void count_down(struct span *s, struct meeting *m)
{
	if (m->pending && --m->pending == 0)
		release(s, m);
}

/* The cost of creating a team: the time from the region's begin to the begin of member 0. */
static uint64_t fork_cost(const struct grain_graph *g, const struct region *region, const struct item *item)
{
	uint32_t first = region->threads ? g->members[region->first_member].context : GRAIN_NONE;

	if (first == GRAIN_NONE || g->contexts[first].start_ns < item->start_ns ||
	    g->contexts[first].start_ns > graph__item_end(g, (uint32_t)(item - g->items)))
		return 0;
	return g->contexts[first].start_ns - item->start_ns;
}

static void start_team(struct span *s, uint32_t context, const struct item *item)
{
	const struct grain_graph *g = s->graph;
	const struct region *region = &g->regions[item->ref];
	uint32_t k;

	s->walks[context].burdened += fork_cost(g, region, item);
	for (k = 0; k < region->threads; k++) {
		uint32_t member = g->members[region->first_member + k].context;

		if (member != GRAIN_NONE && g->contexts[member].parent == context)
			start(s, member, s->walks[context].path, s->walks[context].burdened);
	}
}

static uint64_t weight(const struct span *s, uint32_t context, const struct item *item)
{
	return s->scale ? metrics__scaled(s->graph, s->scale, context, item) : item->own_ns;
}

/* Prefetches what the item refers to. */
static void fetch(const struct span *s, const struct item *item)
{
	if (item->kind == GRAIN_FORK || item->kind == GRAIN_CHUNK_ITEM)
		__builtin_prefetch(&s->walks[item->ref], 1);
	else if (item->kind == GRAIN_JOIN)
		__builtin_prefetch(&s->meetings[item->ref], 1);
}

/* Walks a context as far as possible. Returns false if it waits. */
static bool step(struct span *s, uint32_t context)
{
	const struct grain_graph *g = s->graph;
	struct walk *w = &s->walks[context];
	const struct item *item = &g->items[w->item];
	struct meeting *m;

	if (w->past - w->item > AHEAD)
		fetch(s, item + AHEAD);
	switch (item->kind) {
	case GRAIN_FRAGMENT:
		s->walks[context].path += weight(s, context, item);
		w->burdened += item->own_ns;
		break;
	case GRAIN_FORK:
		w->burdened += item->own_ns;
		if (s->pending)
			permit(s, item->ref, s->walks[context].path, w->burdened, GRAIN_NONE);
		else
			start(s, item->ref, s->walks[context].path, w->burdened);
		break;
	case GRAIN_BOOKKEEPING:
		w->burdened += item->own_ns;
		break;
	case GRAIN_JOIN:
		m = &s->meetings[item->ref];
		arrive(s, m, context, true);
		stand(s, m, context);
		/* A barrier also waits for its members. */
		if (g->joins[item->ref].region != GRAIN_NONE)
			count_down(s, m);
		return false;
	case GRAIN_REGION:
		m = &s->ends[item->ref];
		start_team(s, context, item);
		arrive(s, m, context, true);
		stand(s, m, context);
		return false;
	case GRAIN_CHUNK_ITEM:
		start(s, item->ref, s->walks[context].path, w->burdened);
		return false; /* goes on when the chunk has ended */
	}
	w->item++;
	return true;
}

static void permit_successors(struct span *s, uint32_t context)
{
	uint32_t i;

	for (i = s->first_successor[context]; i < s->first_successor[context + 1]; i++) {
		const struct successor *next = &s->successors[i];

		if (next->join) {
			arrive(s, &s->meetings[next->index], context, false);
			count_down(s, &s->meetings[next->index]);
		} else {
			permit(s, next->index, s->walks[context].path, s->walks[context].burdened, context);
		}
	}
}

static void end(struct span *s, uint32_t context)
{
	const struct context *c = &s->graph->contexts[context];
	struct walk *w = &s->walks[context];
	struct meeting *m;

	w->done = true;
	if (w->kind == GRAIN_CHUNK) {
		uint32_t member = c->parent;

		s->walks[member].path = s->walks[context].path;
		s->walks[member].burdened = w->burdened;
		jump(s, s->walks[member].item++);
		go_on(s, member);
		return;
	}
	if (w->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE) {
		m = &s->ends[c->region];
		arrive(s, m, context, false);
		count_down(s, m);
		return;
	}
	if (s->pending)
		permit_successors(s, context);
	if (w->join == GRAIN_NONE)
		return;
	m = &s->meetings[w->join];
	arrive(s, m, context, false);
	count_down(s, m);
}

static void drain(struct span *s)
{
	while (s->ready != GRAIN_NONE) {
		uint32_t context = s->ready;
		struct walk *w = &s->walks[context];

		s->ready = w->link;
		while (w->item < w->past && step(s, context))
			;
		if (w->item >= w->past && !w->done)
			end(s, context);
	}
}

/* Counts how many arrivals each join and each region's end waits for. */
static void expect(struct span *s)
{
	const struct grain_graph *g = s->graph;
	size_t i;

	s->ready = GRAIN_NONE;
	s->waiting = g->context_count;
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		s->walks[i] = (struct walk){.item = c->first_item,
					    .past = c->first_item + c->item_count,
					    .join = c->join,
					    .kind = c->kind};
	}
	for (i = 0; i < g->join_count; i++) {
		s->meetings[i].waiters = GRAIN_NONE;
		s->meetings[i].pending = g->joins[i].awaited;
	}
	for (i = 0; i < g->region_count; i++) {
		s->ends[i].waiters = GRAIN_NONE;
		s->ends[i].pending = g->regions[i].awaited;
	}
	for (i = 0; s->pending && i < g->context_count; i++) {
		s->pending[i] = 1;
		s->after[i] = GRAIN_NONE;
	}
	for (i = 0; i < g->depend_count; i++)
		s->pending[g->depends[i].to]++;
	for (i = 0; i < g->depend_wait_count; i++)
		if (g->depend_waits[i].join != GRAIN_NONE)
			s->meetings[g->depend_waits[i].join].pending++;
}

/* Sorts successors by predecessor. */
static void sort_successors(struct span *s)
{
	const struct grain_graph *g = s->graph;
	uint32_t *first = s->first_successor, total;
	size_t i;

	for (i = 0; i < g->depend_count; i++)
		first[g->depends[i].from + 1]++;
	for (i = 0; i < g->depend_wait_count; i++)
		if (g->depend_waits[i].join != GRAIN_NONE)
			first[g->depend_waits[i].from + 1]++;
	for (i = 0; i < g->context_count; i++)
		first[i + 1] += first[i];
	total = first[g->context_count];
	/* Fills from the back, until each `first` is at its own successors. */
	for (i = g->depend_count; i-- > 0;)
		s->successors[--first[g->depends[i].from + 1]] =
			(struct successor){.index = g->depends[i].to};
	for (i = g->depend_wait_count; i-- > 0;)
		if (g->depend_waits[i].join != GRAIN_NONE)
			s->successors[--first[g->depend_waits[i].from + 1]] =
				(struct successor){.index = g->depend_waits[i].join, .join = true};
	memmove(first, first + 1, g->context_count * sizeof *first);
	first[g->context_count] = total;
}

static int prepare_depends(struct span *s)
{
	const struct grain_graph *g = s->graph;
	size_t n = g->context_count, edges = g->depend_count + g->depend_wait_count;
	int error;

	if (!edges)
		return 0;
	error = memory__array(s->memory, n, sizeof *s->pending, (void **)&s->pending);
	if (error == 0)
		error = memory__array(s->memory, n, sizeof *s->after, (void **)&s->after);
	if (error == 0)
		error = memory__array(s->memory, n + 1, sizeof *s->first_successor,
				      (void **)&s->first_successor);
	if (error == 0)
		error = memory__array(s->memory, edges, sizeof *s->successors, (void **)&s->successors);
	if (error == 0)
		sort_successors(s);
	return error;
}

static void run(struct span *s)
{
	const struct grain_graph *g = s->graph;
	size_t i;

	for (i = 0; i < g->context_count && s->waiting; i++) {
		if (g->contexts[i].parent == GRAIN_NONE)
			start(s, (uint32_t)i, 0, 0);
		drain(s);
	}
	/*
	 * The contexts that are left wait for something that was not seen. In a damaged file they may wait
	 * for themselves.
	 */
	for (i = 0; i < g->join_count; i++) {
		if (s->meetings[i].waiters != GRAIN_NONE)
			release(s, &s->meetings[i]);
		drain(s);
	}
	for (i = 0; i < g->region_count; i++) {
		if (s->ends[i].waiters != GRAIN_NONE)
			release(s, &s->ends[i]);
		drain(s);
	}
	for (i = 0; i < g->context_count && s->waiting; i++) {
		start(s, (uint32_t)i, 0, 0);
		drain(s);
	}
}

/* Walks all contexts. span__free() frees what this allocates. */
static int span__walk(struct span *s)
{
	const struct grain_graph *g = s->graph;
	size_t n = g->context_count;
	int error = memory__array(s->memory, g->join_count, sizeof *s->meetings, (void **)&s->meetings);

	if (error == 0)
		error = memory__array(s->memory, g->region_count, sizeof *s->ends, (void **)&s->ends);
	if (error == 0)
		error = memory__array(s->memory, n, sizeof *s->walks, (void **)&s->walks);
	if (error == 0)
		error = prepare_depends(s);
	if (error == 0) {
		expect(s);
		run(s);
	}
	return error;
}

static void span__free(struct span *s)
{
	const struct grain_graph *g = s->graph;
	size_t n = g->context_count;

	memory__release(s->memory, (void **)&s->meetings, g->join_count, sizeof *s->meetings);
	memory__release(s->memory, (void **)&s->ends, g->region_count, sizeof *s->ends);
	memory__release(s->memory, (void **)&s->pending, n, sizeof *s->pending);
	memory__release(s->memory, (void **)&s->after, n, sizeof *s->after);
	memory__release(s->memory, (void **)&s->first_successor, n + 1, sizeof *s->first_successor);
	memory__release(s->memory, (void **)&s->successors, g->depend_count + g->depend_wait_count,
			sizeof *s->successors);
	memory__release(s->memory, (void **)&s->walks, n, sizeof *s->walks);
}

int graph__find_span(struct grain_graph *graph)
{
	struct span s = {.graph = graph, .marked = graph, .memory = &graph->memory};
	size_t n = graph->context_count;
	int error = span__walk(&s);

	if (error == 0)
		error = memory__array(s.memory, n, sizeof *graph->path_start, (void **)&graph->path_start);
	if (error == 0)
		error = memory__array(s.memory, n, sizeof *graph->path_end, (void **)&graph->path_end);
	if (error == 0)
		error = span__conclude(&s);
	span__free(&s);
	return error;
}

int metrics__scaled_span(const struct grain_graph *graph, const struct metrics_scale *scale,
			 uint64_t *span_ns)
{
	struct memory memory = {.max = UINT64_MAX};
	struct span s = {.graph = graph, .memory = &memory, .scale = scale};
	uint64_t burdened;
	uint32_t *last = NULL;
	size_t count = 0;
	int error = span__walk(&s);

	*span_ns = 0;
	if (error == 0)
		error = span__heaviest(&s, &last, &count, &burdened);
	for (size_t w = 0; error == 0 && w < count; w++)
		*span_ns += last[w] == GRAIN_NONE ? 0 : s.walks[last[w]].path;
	span__release_heaviest(&s, &last, count);
	span__free(&s);
	return error;
}
