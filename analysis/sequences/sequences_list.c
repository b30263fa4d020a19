// SPDX-License-Identifier: BSD-2-Clause
/*
 * The list that is folded: all outermost regions, by the context that encountered them; then the loops of
 * outermost regions that have several, as a program may have its time steps inside one region.
 */
#include "analysis/sequences/sequences.h"

#include <errno.h>
#include <stdlib.h>

/* A region's loops are looked at from so many on. */
#define LOOPS_LEAST 4

struct maker {
	const struct grain_graph *graph;
	struct sequences_list *list;
	uint32_t *loops;  /* per region: the number of its loops */
	uint32_t *holder; /* per entry: the context, or the region, that it is in */
	uint32_t breaks;
};

static bool is_outermost(const struct grain_graph *g, const struct region *r)
{
	return r->begun && r->parent != GRAIN_NONE && g->contexts[r->parent].region == GRAIN_NONE;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct maker *m = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct sequences_entry *x = &m->list->entries[i], *y = &m->list->entries[k];
	bool x_loop = x->region != GRAIN_NONE, y_loop = y->region != GRAIN_NONE;

	if (x_loop != y_loop)
		return x_loop ? 1 : -1;
	if (m->holder[i] != m->holder[k])
		return m->holder[i] < m->holder[k] ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (i > k) - (i < k);
}

static void add(struct maker *m, uint64_t start_ns, uint64_t end_ns, uint32_t symbol, uint32_t region,
		uint32_t holder)
{
	struct sequences_list *l = m->list;

	m->holder[l->count] = holder;
	l->entries[l->count++] = (struct sequences_entry){.start_ns = start_ns,
							  .end_ns = end_ns > start_ns ? end_ns : start_ns,
							  .symbol = symbol,
							  .region = region};
}

static void gather(struct maker *m)
{
	const struct grain_graph *g = m->graph;

	for (size_t i = 0; i < g->region_count; i++) {
		const struct region *r = &g->regions[i];

		if (!is_outermost(g, r))
			continue;
		add(m, r->start_ns, r->end_ns, sequences__symbol(g, r->definition, false), GRAIN_NONE,
		    r->parent);
		m->list->regions++;
	}
	for (size_t i = 0; i < g->loop_count; i++)
		if (g->loops[i].seen && g->loops[i].region != GRAIN_NONE)
			m->loops[g->loops[i].region]++;
	for (size_t i = 0; i < g->loop_count; i++) {
		const struct loop *l = &g->loops[i];

		if (!l->seen || l->region == GRAIN_NONE || !is_outermost(g, &g->regions[l->region]) ||
		    m->loops[l->region] < LOOPS_LEAST)
			continue;
		add(m, l->start_ns, l->end_ns, sequences__symbol(g, l->definition, true), l->region,
		    l->region);
		m->list->loops++;
	}
}

/* The number of the window that a time is in. */
static size_t window_of(const struct grain_graph *g, uint64_t time_ns)
{
	size_t low = 0, high = g->stream->window_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (g->stream->windows[middle].begin_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool belong_together(const struct maker *m, uint32_t a, uint32_t b)
{
	const struct sequences_entry *x = &m->list->entries[a], *y = &m->list->entries[b];

	return m->holder[a] == m->holder[b] && (x->region == GRAIN_NONE) == (y->region == GRAIN_NONE) &&
	       window_of(m->graph, x->start_ns) == window_of(m->graph, y->start_ns);
}

static bool is_in_order(const struct maker *m)
{
	for (uint32_t i = 1; i < m->list->count; i++) {
		uint32_t a = i - 1;

		if (by_place(&a, &i, (void *)m) > 0)
			return false;
	}
	return true;
}

/* Sorts the entries, and writes their symbols with a break wherever something else begins. */
static int arrange(struct maker *m)
{
	struct sequences_list *l = m->list;
	uint32_t *order = malloc((l->count + 1) * sizeof(*order));
	struct sequences_entry *sorted = malloc((l->count + 1) * sizeof(*sorted));
	bool in_order = is_in_order(m);

	l->symbols = malloc((2 * l->count + 1) * sizeof(*l->symbols));
	if (!order || !sorted || !l->symbols) {
		free(order);
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < l->count; i++)
		order[i] = i;
	if (!in_order)
		qsort_r(order, l->count, sizeof(*order), by_place, m);
	for (size_t i = 0; i < l->count; i++) {
		sorted[i] = l->entries[order[i]];
		if (i && !belong_together(m, order[i - 1], order[i]))
			l->symbols[l->symbol_count++] = FOLDING_BREAKS + m->breaks++;
		l->symbols[l->symbol_count++] = sorted[i].symbol;
	}
	free(order);
	free(l->entries);
	l->entries = sorted;
	return 0;
}

int sequences_list__make(struct sequences_list *out, const struct grain_graph *graph)
{
	struct maker m = {.graph = graph, .list = out};
	size_t most = graph->region_count + graph->loop_count;
	int error;

	*out = (struct sequences_list){.leaves = 2 * (uint32_t)graph->definition_count + 2};
	out->entries = malloc((most + 1) * sizeof(*out->entries));
	m.holder = malloc((most + 1) * sizeof(*m.holder));
	m.loops = calloc(graph->region_count + 1, sizeof(*m.loops));
	error = out->entries && m.holder && m.loops ? 0 : -ENOMEM;
	if (!error) {
		gather(&m);
		error = arrange(&m);
	}
	free(m.holder);
	free(m.loops);
	return error;
}

void sequences_list__free(struct sequences_list *list)
{
	free(list->entries);
	free(list->symbols);
	*list = (struct sequences_list){0};
}
