/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/groups/groups_order.h"

#include <stdlib.h>

typedef int compare_fn(const void *a, const void *b, void *graph);

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Sorts a list unless it is sorted already. Most are. */
static void order(const struct grain_graph *graph, uint32_t *list, size_t n, compare_fn *by)
{
	size_t i;

	for (i = 1; i < n && by(&list[i - 1], &list[i], (void *)graph) < 0; i++)
		;
	if (i < n)
		qsort_r(list, n, sizeof *list, by, (void *)graph);
}

static int by_key(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	return x->key != y->key ? compare(x->key, y->key) : compare(x->member, y->member);
}

void order__members(struct ordered *list, size_t n)
{
	size_t i;

	for (i = 1; i < n && by_key(&list[i - 1], &list[i]) < 0; i++)
		;
	if (i < n)
		qsort(list, n, sizeof *list, by_key);
}

/* A sort key that grows in the order of iterations, even if a loop counts down. */
static uint64_t rank(const struct grain_graph *g, const struct chunk *chunk, int64_t bound)
{
	const struct event_loop *l = g->stream->loops ? &g->stream->loops[chunk->loop] : NULL;
	uint64_t value = (uint64_t)bound ^ (l && l->is_unsigned ? 0 : 1ull << 63);

	return l && l->has_step && l->step < 0 ? ~value : value;
}

static int by_iterations(const void *a, const void *b, void *graph)
{
	const struct grain_graph *g = graph;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct chunk *p = &g->chunks[g->contexts[x].number], *q = &g->chunks[g->contexts[y].number];
	int order = p->hidden - q->hidden;

	if (!order && p->hidden)
		order = compare(g->contexts[g->contexts[x].parent].ordinal,
				g->contexts[g->contexts[y].parent].ordinal);
	if (!order)
		order = compare(rank(g, p, p->lower), rank(g, q, q->lower));
	if (!order)
		order = compare(rank(g, p, p->upper), rank(g, q, q->upper));
	return order ? order : compare(x, y);
}

void order__chunks(const struct grain_graph *graph, uint32_t *list, size_t n)
{
	order(graph, list, n, by_iterations);
}

static int by_place(const void *a, const void *b, void *graph)
{
	const struct grain_graph *g = graph;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare(g->contexts[x].number, g->contexts[y].number);

	return order ? order : compare(x, y);
}

void order__team(const struct grain_graph *graph, uint32_t *list, size_t n)
{
	order(graph, list, n, by_place);
}

static int by_loop_number(const void *a, const void *b, void *graph)
{
	const struct grain_graph *g = graph;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare(g->loops[x].ordinal, g->loops[y].ordinal);

	return order ? order : compare(x, y);
}

void order__loops(const struct grain_graph *graph, uint32_t *list, size_t n)
{
	order(graph, list, n, by_loop_number);
}

static int by_number(const void *a, const void *b, void *graph)
{
	const struct grain_graph *g = graph;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare(g->contexts[x].single, g->contexts[y].single);

	if (!order)
		order = compare(g->contexts[x].ordinal, g->contexts[y].ordinal);
	return order ? order : compare(x, y);
}

void order__tasks(const struct grain_graph *graph, uint32_t *list, size_t n)
{
	order(graph, list, n, by_number);
}
