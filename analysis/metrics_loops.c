/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of loops (chunks and sections) and the balance of teams. */
#include "analysis/graph.h"
#include "analysis/metrics.h"

#include <math.h>
#include <stdlib.h>

/* The executing member's wait in the loop's join. */
static double wait_in(const struct grain_graph *g, uint32_t member, uint32_t join, size_t from)
{
	const struct context *c = &g->contexts[member];
	size_t i;

	/* A loop's join is the first wait after it: no need to look further than the next one. */
	for (i = from; i < (size_t)c->first_item + c->item_count; i++) {
		if (g->items[i].kind == GRAIN_JOIN)
			return g->items[i].ref == join ? (double)g->items[i].own_ns : 0;
		if (g->items[i].kind == GRAIN_BOOKKEEPING || g->items[i].kind == GRAIN_CHUNK_ITEM)
			break;
	}
	return 0;
}

/* The wait that follows each visit's last item. */
static void find_waits(const struct grain_graph *g, double *waits)
{
	size_t i;

	for (i = 0; i < g->chunk_count; i++) {
		const struct chunk *chunk = &g->chunks[i];
		const struct context *c = &g->contexts[chunk->context];
		uint32_t join = g->loops[chunk->loop].join;

		/* Chunks of a visit come in order: the last one's value stays. Its item, its book-keeping,
		 * then. */
		if (join != GRAIN_NONE && c->item != GRAIN_NONE)
			waits[chunk->visit] = wait_in(g, c->parent, join, (size_t)c->item + 2);
	}
}

static void measure_chunks(struct grain_graph *g, const double *waits)
{
	size_t i;

	for (i = 0; i < g->chunk_count; i++) {
		const struct chunk *chunk = &g->chunks[i];
		struct context *c = &g->contexts[chunk->context];
		double cost = (double)c->bookkeeping_ns +
			      waits[chunk->visit] / (double)g->visits[chunk->visit].chunks;

		if (!(c->flags & CONTEXT_INCOMPLETE) && cost > 0)
			c->cost_ns = cost;
		if (c->exec_ns > g->loops[chunk->loop].longest_ns)
			g->loops[chunk->loop].longest_ns = c->exec_ns;
		if (c->flags & CONTEXT_INCOMPLETE)
			g->loops[chunk->loop].incomplete = true;
		c->load_balance = NAN;
	}
}

static int by_loop(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;

	if (x->loop != y->loop)
		return x->loop < y->loop ? -1 : 1;
	return (x->member > y->member) - (x->member < y->member);
}

static void add_excess(struct grain_graph *g, const struct loop *loop, const uint64_t *values, size_t n)
{
	struct imbalance *im =
		&g->imbalance[loop->definition == GRAIN_NONE ? g->definition_count : loop->definition];
	double sum = 0, longest = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += (double)values[i];
		if ((double)values[i] > longest)
			longest = (double)values[i];
	}
	if (longest - sum / (double)n > im->longest_ns - im->mean_ns) {
		im->longest_ns = longest;
		im->mean_ns = sum / (double)n;
		im->members = (uint32_t)n;
	}
	im->excess_ns += longest - sum / (double)n;
}

static void balance_loops(struct grain_graph *g, uint64_t *values)
{
	size_t i, n = 0;

	if (!g->visit_count)
		return;
	qsort(g->visits, g->visit_count, sizeof *g->visits, by_loop);
	for (i = 0; i < g->visit_count; i++) {
		struct loop *loop = &g->loops[g->visits[i].loop];

		values[n++] = g->visits[i].exec_ns;
		if (i + 1 < g->visit_count && g->visits[i + 1].loop == g->visits[i].loop)
			continue;
		loop->load_balance = NAN;
		if (!loop->incomplete) {
			double middle = metrics__median(values, n);

			if (middle > 0)
				loop->load_balance = (double)loop->longest_ns / middle;
			add_excess(g, loop, values, n);
		}
		n = 0;
	}
	for (i = 0; i < g->chunk_count; i++)
		g->contexts[g->chunks[i].context].load_balance = g->loops[g->chunks[i].loop].load_balance;
}

/* The busiest member's fragments against the median member's. */
static int balance_regions(struct grain_graph *g)
{
	uint64_t *values = NULL;
	size_t i;
	uint32_t k;
	int error = memory__array(&g->memory, g->info.threads, sizeof *values, (void **)&values);

	if (error < 0)
		return error;
	for (i = 0; i < g->region_count; i++) {
		struct region *region = &g->regions[i];
		uint64_t longest = 0;
		double middle;

		region->load_balance = NAN;
		if (region->incomplete || region->threads == 0)
			continue;
		for (k = 0; k < region->threads; k++) {
			values[k] = g->members[region->first_member + k].busy_ns;
			if (values[k] > longest)
				longest = values[k];
		}
		middle = metrics__median(values, region->threads);
		if (middle > 0)
			region->load_balance = (double)longest / middle;
	}
	memory__release(&g->memory, (void **)&values, g->info.threads, sizeof *values);
	return 0;
}

int graph__measure_loops(struct grain_graph *graph)
{
	double *waits = NULL;
	uint64_t *values = NULL;
	size_t visits = graph->visit_count;
	int error;

	error = memory__array(&graph->memory, visits, sizeof *waits, (void **)&waits);
	if (error == 0)
		error = memory__array(&graph->memory, visits, sizeof *values, (void **)&values);
	if (error == 0) {
		find_waits(graph, waits);
		measure_chunks(graph, waits);
		balance_loops(graph, values);
		error = balance_regions(graph);
	}
	memory__release(&graph->memory, (void **)&waits, visits, sizeof *waits);
	memory__release(&graph->memory, (void **)&values, visits, sizeof *values);
	return error;
}
