/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After the replay: sorts items by context and members by region, removes joins that no thread reached, and
 * sets the links between elements.
 */
#include "analysis/replay/replay.h"
#include "analysis/graph/graph.h"
#include "analysis/base/large.h"
#include "analysis/base/number_map.h"

#include <errno.h>
#include <stdlib.h>

/* Prefetch distances in items: FAR for contexts, NEAR for places in them. */
#define FAR 16
#define NEAR 8

/* Counts a member's arrival at a barrier. The team waits for all arrivals. */
static uint32_t meet(struct grain_graph *g, uint32_t join)
{
	g->joins[join].awaited += g->joins[join].region != GRAIN_NONE;
	return join;
}

static int by_item(const void *a, const void *b)
{
	const struct apart *x = a, *y = b;

	return (x->item > y->item) - (x->item < y->item);
}

static int note_apart(struct grain_graph *g, uint32_t item, uint64_t end_ns)
{
	int error = GROW(g, aparts, apart_count, apart_capacity);

	if (error < 0)
		return error;
	g->items[item].flags |= ITEM_APART;
	g->aparts[g->apart_count++] = (struct apart){.end_ns = end_ns, .item = item};
	return 0;
}

/* The table of places (thread and CPU). A thread mostly stays at the same place. */
struct places {
	struct number_map known;
	uint32_t *last; /* per thread, GRAIN_NONE */
	uint32_t front; /* number of items that have been written */
};

static int find_place(struct grain_graph *g, struct places *p, const struct raw_item *raw, uint32_t *out)
{
	uint64_t key = (uint64_t)raw->thread << 16 | raw->cpu;
	int error;

	*out = p->last[raw->thread];
	if (*out != GRAIN_NONE && g->places[*out].cpu == raw->cpu)
		return 0;
	*out = number_map__get(&p->known, key);
	if (*out == GRAIN_NONE) {
		error = g->place_count < PLACE_LIMIT ? GROW(g, places, place_count, place_capacity) : -E2BIG;
		if (error == 0)
			error = number_map__put(&p->known, key, (uint32_t)g->place_count);
		if (error < 0)
			return error;
		*out = (uint32_t)g->place_count++;
		g->places[*out] = (struct spot){.thread = raw->thread, .cpu = raw->cpu};
	}
	p->last[raw->thread] = *out;
	return 0;
}

static int arrange_item(struct grain_graph *g, struct places *p, const struct raw_item *raw,
			const uint32_t *joins)
{
	struct context *c = &g->contexts[raw->context];
	uint32_t at = c->first_item + c->arranged, place;
	struct item *item = &g->items[at];
	int error = find_place(g, p, raw, &place);

	if (error < 0)
		return error;
	p->front = at >= p->front ? at + 1 : p->front;
	*item = (struct item){
		.start_ns = raw->start_ns,
		.own_ns = raw->own_ns,
		.ref = raw->ref,
		.place = place,
		.kind = raw->kind,
		.flags = raw->flags & ~ITEM_APART,
	};
	if (c->arranged++ && item[-1].kind != GRAIN_FRAGMENT && c->last_end != raw->start_ns)
		error = note_apart(g, at - 1, c->last_end);
	c->last_end = raw->end_ns;
	/*
	 * A fragment's end is computed from its length, the end of other items from the begin of the next
	 * item. All other ends are stored separately.
	 */
	if (error == 0 && (raw->kind == GRAIN_FRAGMENT ? raw->end_ns != raw->start_ns + raw->own_ns
						       : c->arranged == c->item_count))
		error = note_apart(g, at, raw->end_ns);
	switch ((enum grain_item_kind)raw->kind) {
	case GRAIN_FORK:
	case GRAIN_CHUNK_ITEM:
		g->contexts[raw->ref].item = at;
		break;
	case GRAIN_REGION:
		g->regions[raw->ref].item = at;
		break;
	case GRAIN_JOIN:
		item->ref = meet(g, joins[raw->ref]);
		break;
	default:
		break;
	}
	return error;
}

/* Prefetches the destinations of the next items. */
static void fetch_ahead(const struct grain_graph *g, size_t i)
{
	const struct context *c;

	if (i + FAR >= g->raw_count)
		return;
	__builtin_prefetch(&g->contexts[g->raw[i + FAR].context], 1);
	c = &g->contexts[g->raw[i + NEAR].context];
	__builtin_prefetch(&g->items[c->first_item + c->arranged], 1);
}

/*
 * Sorts items by context, and by time within a context. Reuses the raw items' memory at once, so that the two
 * arrays together need hardly more than one. `joins` has the new index of each join.
 */
static int arrange_items(struct grain_graph *g, const uint32_t *joins)
{
	struct places places = {0};
	char *taken = (char *)g->raw, *handed = NULL;
	size_t i;
	int error = memory__array(&g->memory, g->item_count, sizeof *g->items, (void **)&g->items);

	if (error == 0)
		error = memory__array(&g->memory, g->thread_count, sizeof *places.last,
				      (void **)&places.last);
	for (i = 0; i < g->thread_count && error == 0; i++)
		places.last[i] = GRAIN_NONE;
	for (i = 0; i < g->raw_count && error == 0; i++) {
		fetch_ahead(g, i);
		if (!(g->raw[i].flags & ITEM_DROPPED))
			error = arrange_item(g, &places, &g->raw[i], joins);
		if (i % LARGE_STEP == 0)
			large__hand_on(&taken, &g->raw[i], &handed, g->items + places.front,
				       g->items + g->item_count);
	}
	if (g->apart_count)
		qsort(g->aparts, g->apart_count, sizeof *g->aparts, by_item);
	number_map__free(&places.known);
	memory__release(&g->memory, (void **)&places.last, g->thread_count, sizeof *places.last);
	memory__release(&g->memory, (void **)&g->raw, g->raw_capacity, sizeof *g->raw);
	return error;
}

static void adopt_members(struct grain_graph *g, struct context *c, uint32_t index)
{
	const struct region *region = &g->regions[c->region];

	if (c->parent != GRAIN_NONE)
		return;
	if (region->begun && region->parent < index) {
		c->parent = region->parent;
		c->definition = region->definition;
		c->depth = g->contexts[c->parent].depth;
	} else {
		c->flags |= CONTEXT_INCOMPLETE;
	}
}

/* The most places for declared members that were not seen. Only damaged files have more. */
#define UNSEEN_LIMIT (4u << 20)

/* Gives each member number of a region's team a place, even if the member was not seen. */
static int arrange_members(struct grain_graph *g)
{
	struct member *sorted = NULL;
	size_t i, total = 0, unseen = 0;
	int error;

	for (i = 0; i < g->member_count; i++) {
		struct region *region = &g->regions[g->members[i].region];

		if (g->members[i].number >= region->threads)
			region->threads = g->members[i].number + 1;
	}
	for (i = 0; i < g->region_count; i++) {
		struct region *region = &g->regions[i];

		if (region->begun && region->declared > region->threads) {
			unseen += region->declared - region->threads;
			if (unseen <= UNSEEN_LIMIT)
				region->threads = region->declared;
			else
				region->incomplete = true;
		}
		region->first_member = (uint32_t)total;
		total += region->threads;
		if (total >= GRAIN_NONE)
			return -E2BIG;
		if (region->threads > g->info.threads)
			g->info.threads = region->threads;
	}
	error = memory__array(&g->memory, total, sizeof *sorted, (void **)&sorted);
	if (error < 0)
		return error;
	for (i = 0; i < total; i++)
		sorted[i].context = GRAIN_NONE;
	for (i = 0; i < g->member_count; i++) {
		const struct member *m = &g->members[i];
		size_t at = g->regions[m->region].first_member + m->number;

		if (sorted[at].context != GRAIN_NONE)
			g->regions[m->region].incomplete = true;
		sorted[at] = *m;
		g->contexts[m->context].number = (uint32_t)at;
	}
	memory__release(&g->memory, (void **)&g->members, g->member_capacity, sizeof *g->members);
	g->members = sorted;
	g->member_count = g->member_capacity = total;
	return 0;
}

/*
 * Sets place[] to the new index of each join, GRAIN_NONE for removed ones. Sets where each context's items
 * will be. Removes parents that a region cannot have.
 */
static void arrange_joins(struct grain_graph *g, uint32_t *place)
{
	size_t i, kept = 0;

	for (i = 0; i < g->join_count; i++) {
		struct join *j = &g->joins[i];

		if (!(j->flags & JOIN_REACHED)) {
			place[i] = GRAIN_NONE;
			continue;
		}
		place[i] = (uint32_t)kept;
		g->joins[kept] = *j;
		j = &g->joins[kept++];
		if (j->region != GRAIN_NONE && g->regions[j->region].threads)
			j->waiter = g->members[g->regions[j->region].first_member].context;
	}
	for (i = 0; i < g->context_count; i++) {
		struct context *c = &g->contexts[i];

		if (c->join != GRAIN_NONE)
			c->join = place[c->join];
		/*
		 * Only in a damaged file, a region's parent is younger than its members, or is one of them.
		 */
		if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE && g->regions[c->region].begun &&
		    g->regions[c->region].parent >= i) {
			g->regions[c->region].begun = false;
			g->regions[c->region].parent = GRAIN_NONE;
		}
		c->first_item = (uint32_t)g->item_count;
		c->arranged = 0;
		g->item_count += c->item_count;
	}
	for (i = 0; i < g->region_count; i++)
		if (g->regions[i].end_join != GRAIN_NONE)
			g->regions[i].end_join = place[g->regions[i].end_join];
	for (i = 0; i < g->loop_count; i++)
		if (g->loops[i].join != GRAIN_NONE)
			g->loops[i].join = place[g->loops[i].join];
	for (i = 0; i < g->depend_wait_count; i++)
		g->depend_waits[i].join = place[g->depend_waits[i].join];
	g->join_count = kept;
}

static void count_awaited(struct grain_graph *g, const struct context *c)
{
	if (c->kind == GRAIN_TASK && c->join != GRAIN_NONE)
		g->joins[c->join].awaited++;
	else if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		g->regions[c->region].awaited++;
}

static void count_context(struct grain_graph *g, const struct context *c)
{
	count_awaited(g, c);
	g->totals.work_ns += c->exec_ns;
	g->totals.runtime_tasks += !!(c->flags & CONTEXT_SPLIT);
	if (!context__is_grain(c))
		return;
	g->totals.grains++;
	if (c->kind == GRAIN_TASK)
		g->totals.tasks++;
	else
		g->totals.chunks++;
	g->totals.detached += c->kind == GRAIN_TASK && c->task_flags & EVENT_TASK_DETACH;
	if (c->flags & CONTEXT_INCOMPLETE)
		g->truth.incomplete_grains++;
	else if (c->flags & CONTEXT_DISCARDED)
		g->totals.discarded++;
	else if (c->exec_ns < g->info.resolution_ns)
		g->truth.below_resolution++;
}

/* Gives contexts and regions without parent their own numbers, and counts contexts. */
static void name_orphans(struct grain_graph *g)
{
	uint32_t initial = 0, orphans = 0, regions = 0;
	size_t i;

	for (i = 0; i < g->context_count; i++) {
		struct context *c = &g->contexts[i];

		if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE) {
			adopt_members(g, c, (uint32_t)i);
			c->item = g->regions[c->region].item;
			if (c->flags & CONTEXT_INCOMPLETE)
				g->regions[c->region].incomplete = true;
		} else if (c->kind == GRAIN_INITIAL) {
			c->ordinal = initial++;
		} else if (c->parent == GRAIN_NONE) {
			c->ordinal = orphans++;
		}
		count_context(g, c);
	}
	for (i = 0; i < g->region_count; i++)
		if (!g->regions[i].begun)
			g->regions[i].ordinal = regions++;
}

static void finish_regions(struct grain_graph *g)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < g->region_count; i++) {
		struct region *region = &g->regions[i];

		if (!region->begun || !region->ended ||
		    (g->stream->region_trouble && g->stream->region_trouble[i]))
			region->incomplete = true;
		if (region->start_ns == UINT64_MAX)
			region->start_ns = region->end_ns;
		for (k = 0; k < region->threads; k++) {
			uint32_t context = g->members[region->first_member + k].context;

			if (context == GRAIN_NONE)
				region->incomplete = true;
			else if (!region->ended && g->contexts[context].end_ns > region->end_ns)
				region->end_ns = g->contexts[context].end_ns;
		}
		g->truth.incomplete_regions += region->incomplete;
	}
}

int graph__arrange(struct grain_graph *graph)
{
	size_t joins = graph->join_count;
	uint32_t *place = NULL;
	int error = arrange_members(graph);

	if (error == 0)
		error = memory__array(&graph->memory, joins, sizeof *place, (void **)&place);
	if (error == 0) {
		arrange_joins(graph, place);
		error = arrange_items(graph, place);
	}
	memory__release(&graph->memory, (void **)&place, joins, sizeof *place);
	if (error < 0)
		return error;
	name_orphans(graph);
	finish_regions(graph);
	return 0;
}
