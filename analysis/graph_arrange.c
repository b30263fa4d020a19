/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After the pass over the events: items sorted by context, members by region,
 * joins without those that no thread reached, and the links between them.
 */
#include "analysis/graph.h"

#include <errno.h>
#include <stdlib.h>

static int arrange_items(struct grain_graph *g)
{
	struct item *sorted = NULL;
	uint32_t *next = NULL;
	size_t i, total = 0;
	int error;

	for (i = 0; i < g->context_count; i++) {
		g->contexts[i].first_item = (uint32_t)total;
		total += g->contexts[i].item_count;
	}
	error = memory__array(&g->memory, total, sizeof *sorted, (void **)&sorted);
	if (error == 0)
		error = memory__array(&g->memory, g->context_count, sizeof *next, (void **)&next);
	if (error < 0) {
		free(sorted);
		return error;
	}
	for (i = 0; i < g->item_count; i++) {
		const struct item *item = &g->items[i];

		if (!(item->flags & ITEM_DROPPED))
			sorted[g->contexts[item->context].first_item + next[item->context]++] = *item;
	}
	memory__release(&g->memory, (void **)&next, g->context_count, sizeof *next);
	memory__release(&g->memory, (void **)&g->items, g->item_capacity, sizeof *g->items);
	g->items = sorted;
	g->item_count = g->item_capacity = total;
	return 0;
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

/* A region's team has a place for every number, also of members that were not seen. */
static int arrange_members(struct grain_graph *g)
{
	struct member *sorted = NULL;
	size_t i, total = 0;
	int error;

	for (i = 0; i < g->member_count; i++) {
		struct region *region = &g->regions[g->members[i].region];

		if (g->members[i].number >= region->threads)
			region->threads = g->members[i].number + 1;
	}
	for (i = 0; i < g->region_count; i++) {
		struct region *region = &g->regions[i];

		if (region->begun && region->declared > region->threads)
			region->threads = region->declared;
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

static int arrange_joins(struct grain_graph *g)
{
	uint32_t *place = NULL;
	size_t i, kept = 0;
	int error = memory__array(&g->memory, g->join_count, sizeof *place, (void **)&place);

	if (error < 0)
		return error;
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
	for (i = 0; i < g->item_count; i++)
		if (g->items[i].kind == GRAIN_JOIN)
			g->items[i].ref = place[g->items[i].ref];
	for (i = 0; i < g->context_count; i++)
		if (g->contexts[i].join != GRAIN_NONE)
			g->contexts[i].join = place[g->contexts[i].join];
	for (i = 0; i < g->region_count; i++)
		if (g->regions[i].end_join != GRAIN_NONE)
			g->regions[i].end_join = place[g->regions[i].end_join];
	for (i = 0; i < g->loop_count; i++)
		if (g->loops[i].join != GRAIN_NONE)
			g->loops[i].join = place[g->loops[i].join];
	for (i = 0; i < g->depend_wait_count; i++)
		g->depend_waits[i].join = place[g->depend_waits[i].join];
	memory__release(&g->memory, (void **)&place, g->join_count, sizeof *place);
	g->join_count = kept;
	return 0;
}

static void link_items(struct grain_graph *g)
{
	size_t i;

	for (i = 0; i < g->item_count; i++) {
		const struct item *item = &g->items[i];

		if (item->kind == GRAIN_FORK || item->kind == GRAIN_CHUNK_ITEM)
			g->contexts[item->ref].item = (uint32_t)i;
		else if (item->kind == GRAIN_REGION)
			g->regions[item->ref].item = (uint32_t)i;
	}
}

/* Contexts and regions that hang on nothing are numbered by themselves. */
static void name_orphans(struct grain_graph *g)
{
	uint32_t initial = 0, orphans = 0, regions = 0;
	size_t i;

	/* Only in a damaged file is a region's parent younger than its members, even one of them. */
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE && g->regions[c->region].begun &&
		    g->regions[c->region].parent >= i) {
			g->regions[c->region].begun = false;
			g->regions[c->region].parent = GRAIN_NONE;
		}
	}
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

static void count_grains(struct grain_graph *g)
{
	size_t i;

	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		g->totals.work_ns += c->exec_ns;
		g->totals.runtime_tasks += !!(c->flags & CONTEXT_SPLIT);
		if (!context__is_grain(c))
			continue;
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
}

int graph__arrange(struct grain_graph *graph)
{
	int error = arrange_items(graph);

	if (error == 0)
		error = arrange_members(graph);
	if (error == 0)
		error = arrange_joins(graph);
	if (error < 0)
		return error;
	link_items(graph);
	name_orphans(graph);
	finish_regions(graph);
	count_grains(graph);
	return 0;
}
