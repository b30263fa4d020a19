/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/traces/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/base/array.h"

struct arrow {
	uint32_t from, to; /* items */
};

struct gathering {
	const struct grain_graph *graph;
	size_t contexts, joins, regions, items;
	/* All of these are items. GRAIN_NONE: there is none. */
	uint32_t *first, *last; /* per context: its first and last fragment */
	uint32_t *after_join;	/* per join: the waiter's next fragment */
	uint32_t *after_region; /* per region: the next fragment of the context that started it */
	uint32_t *starter;	/* per region: its item */
	struct arrow *arrows;
	size_t count, capacity;
};

static uint32_t *none_of(size_t count)
{
	uint32_t *array = malloc((count + 1) * sizeof(*array));

	if (array)
		memset(array, 0xff, (count + 1) * sizeof(*array));
	return array;
}

/* Notes where an item is. A wait may have several parts. What follows the last part counts. */
static void note_item(struct gathering *g, uint32_t context, const struct grain_item *item, uint32_t next)
{
	struct grain_join join;

	if (item->kind == GRAIN_REGION) {
		g->after_region[item->ref] = next;
	} else if (item->kind == GRAIN_JOIN && g->after_join[item->ref] == GRAIN_NONE) {
		grain_graph__join(g->graph, item->ref, &join);
		if (join.waiter == context)
			g->after_join[item->ref] = next;
	}
}

static void survey(struct gathering *g)
{
	for (uint32_t i = 0; i < g->contexts; i++) {
		struct grain_context c;
		uint32_t next = GRAIN_NONE;

		grain_graph__context(g->graph, i, &c);
		for (uint32_t k = c.first_item + c.item_count; k-- > c.first_item;) {
			struct grain_item item;

			grain_graph__item(g->graph, k, &item);
			if (item.kind == GRAIN_FRAGMENT) {
				if (g->last[i] == GRAIN_NONE)
					g->last[i] = k;
				g->first[i] = next = k;
				continue;
			}
			if (item.kind == GRAIN_REGION)
				g->starter[item.ref] = k;
			note_item(g, i, &item, next);
		}
		if (c.first_item + c.item_count > g->items)
			g->items = c.first_item + c.item_count;
	}
}

/*
 * Adds an arrow. Adds none if it would lead back in time, or if one of its ends was not seen. Returns 0 or a
 * negative errno.
 */
static int add(struct gathering *g, uint32_t from, uint32_t to)
{
	struct grain_item a, b;

	if (from == GRAIN_NONE || to == GRAIN_NONE || from == to)
		return 0;
	grain_graph__item(g->graph, from, &a);
	grain_graph__item(g->graph, to, &b);
	if (b.start_ns < a.start_ns)
		return 0;
	if (g->count >= GRAIN_NONE - 1)
		return -E2BIG;
	if (!array__reserve((void **)&g->arrows, &g->capacity, g->count, sizeof(*g->arrows)))
		return -ENOMEM;
	g->arrows[g->count++] = (struct arrow){from, to};
	return 0;
}

static uint32_t after_join(const struct gathering *g, uint32_t index)
{
	struct grain_join join;

	if (index == GRAIN_NONE)
		return GRAIN_NONE;
	if (g->after_join[index] != GRAIN_NONE)
		return g->after_join[index];
	grain_graph__join(g->graph, index, &join);
	return join.region == GRAIN_NONE ? GRAIN_NONE : g->after_region[join.region];
}

static int add_context(struct gathering *g, uint32_t context)
{
	struct grain_context c;
	int error = 0;

	grain_graph__context(g->graph, context, &c);
	for (uint32_t k = c.first_item; k < c.first_item + c.item_count && !error; k++) {
		struct grain_item item;

		grain_graph__item(g->graph, k, &item);
		if (item.kind == GRAIN_FORK)
			error = add(g, k, g->first[item.ref]);
	}
	if (!error && c.kind == GRAIN_TASK)
		error = add(g, g->last[context], after_join(g, c.join));
	if (!error && c.kind == GRAIN_IMPLICIT && c.region != GRAIN_NONE) {
		error = add(g, g->starter[c.region], g->first[context]);
		if (!error)
			error = add(g, g->last[context], g->after_region[c.region]);
	}
	return error;
}

static int gather(struct gathering *g)
{
	int error = 0;

	for (uint32_t i = 0; i < g->contexts && !error; i++)
		error = add_context(g, i);
	for (size_t i = 0; i < grain_graph__dependence_count(g->graph) && !error; i++) {
		struct grain_dependence d;

		grain_graph__dependence(g->graph, i, &d);
		error = add(g, g->last[d.from], d.to == GRAIN_NONE ? after_join(g, d.join) : g->first[d.to]);
	}
	return error;
}

static int index_by(const struct gathering *g, bool to, uint32_t **first_out, uint32_t **out)
{
	uint32_t *first = calloc(g->items + 2, sizeof(*first)),
		 *list = malloc((g->count + 1) * sizeof(*list));

	*first_out = first;
	*out = list;
	if (!first || !list)
		return -ENOMEM;
	/* Counts are one place further, so that filling moves each of them to its place. */
	for (size_t i = 0; i < g->count; i++)
		first[(to ? g->arrows[i].to : g->arrows[i].from) + 1]++;
	for (size_t i = 0, sum = 0; i <= g->items + 1; i++) {
		uint32_t n = first[i];

		first[i] = (uint32_t)sum;
		sum += n;
	}
	for (size_t i = 0; i < g->count; i++)
		list[first[(to ? g->arrows[i].to : g->arrows[i].from) + 1]++] = (uint32_t)i;
	return 0;
}

int flows__fill(struct flows *flows, const struct grain_graph *graph)
{
	struct gathering g = {.graph = graph,
			      .contexts = grain_graph__context_count(graph),
			      .joins = grain_graph__join_count(graph),
			      .regions = grain_graph__region_count(graph)};
	int error = -ENOMEM;

	memset(flows, 0, sizeof(*flows));
	g.first = none_of(g.contexts);
	g.last = none_of(g.contexts);
	g.after_join = none_of(g.joins);
	g.after_region = none_of(g.regions);
	g.starter = none_of(g.regions);
	if (g.first && g.last && g.after_join && g.after_region && g.starter) {
		survey(&g);
		error = gather(&g);
	}
	if (!error)
		error = index_by(&g, false, &flows->out_first, &flows->out);
	if (!error)
		error = index_by(&g, true, &flows->in_first, &flows->in);
	flows->count = g.count;
	flows->items = g.items;
	free(g.first);
	free(g.last);
	free(g.after_join);
	free(g.after_region);
	free(g.starter);
	free(g.arrows);
	return error;
}

void flows__free(struct flows *flows)
{
	free(flows->out_first);
	free(flows->out);
	free(flows->in_first);
	free(flows->in);
	memset(flows, 0, sizeof(*flows));
}
