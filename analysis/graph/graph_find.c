// SPDX-License-Identifier: BSD-2-Clause
/* Searches in the arrays of a finished graph. */
#include "analysis/graph/graph.h"

#include <stdlib.h>

static int by_item(const void *a, const void *b)
{
	const struct apart *x = a, *y = b;

	return (x->item > y->item) - (x->item < y->item);
}

uint64_t graph__apart_end(const struct grain_graph *graph, uint32_t item)
{
	const struct apart key = {.item = item};
	const struct apart *found =
		bsearch(&key, graph->aparts, graph->apart_count, sizeof *graph->aparts, by_item);

	return found ? found->end_ns : graph->items[item].start_ns;
}

uint32_t graph__item_context(const struct grain_graph *graph, uint32_t item)
{
	uint32_t low = 0, high = (uint32_t)graph->context_count;

	/*
	 * Finds the last context that does not begin after the item. A context without items begins where the
	 * next one does.
	 */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->contexts[middle].first_item <= item)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int bounds_by_context(const void *a, const void *b)
{
	const struct task_bounds *x = a, *y = b;

	return (x->context > y->context) - (x->context < y->context);
}

const struct task_bounds *graph__task_bounds(const struct grain_graph *g, uint32_t context)
{
	struct task_bounds key = {.context = context};

	if (!g->bounds_count)
		return NULL;
	return bsearch(&key, g->bounds, g->bounds_count, sizeof key, bounds_by_context);
}

static int fulfilled_by_context(const void *a, const void *b)
{
	const struct fulfilment *x = a, *y = b;

	return (x->context > y->context) - (x->context < y->context);
}

const struct fulfilment *graph__fulfilment(const struct grain_graph *g, uint32_t context)
{
	struct fulfilment key = {.context = context};

	if (!g->fulfilment_count)
		return NULL;
	return bsearch(&key, g->fulfilments, g->fulfilment_count, sizeof key, fulfilled_by_context);
}

size_t graph__first_dependence(const struct grain_graph *g, uint32_t context)
{
	size_t low = 0, high = g->depend_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->depends[middle].to < context)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->depend_count && g->depends[low].to == context ? low : g->depend_count;
}

size_t graph__first_depend_wait(const struct grain_graph *g, uint32_t join)
{
	size_t low = 0, high = g->depend_wait_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->depend_waits[middle].join < join)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->depend_wait_count && g->depend_waits[low].join == join ? low : g->depend_wait_count;
}
