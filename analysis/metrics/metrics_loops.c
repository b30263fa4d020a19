/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of loops (chunks and sections) and the balance of teams. */
#include "analysis/graph/graph.h"
#include "analysis/metrics/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger teams get no minimum cores, because the time to compute it grows with the team. */
#define PACK_LIMIT 1024

/*
 * Returns the member's wait in the loop's join in ns. 0: it does not wait there. NAN: the end was not seen.
 */
static double wait_in(const struct grain_graph *g, uint32_t member, uint32_t join, size_t from)
{
	const struct context *c = &g->contexts[member];
	size_t i;

	/*
	 * A loop's join is the first wait after the loop, so there is no need to look beyond the next wait.
	 */
	for (i = from; i < (size_t)c->first_item + c->item_count; i++) {
		if (g->items[i].kind == GRAIN_JOIN && g->items[i].ref == join &&
		    (g->items[i].flags & ITEM_UNCLOSED || g->joins[join].flags & JOIN_UNCLOSED))
			return NAN;
		if (g->items[i].kind == GRAIN_JOIN)
			return g->items[i].ref == join ? (double)g->items[i].own_ns : 0;
		if (g->items[i].kind == GRAIN_BOOKKEEPING || g->items[i].kind == GRAIN_CHUNK_ITEM)
			break;
	}
	return 0;
}

/* For each visit of a member to a loop, finds the wait after its last chunk. */
static void find_waits(const struct grain_graph *g, double *waits)
{
	size_t i;

	for (i = 0; i < g->chunk_count; i++) {
		const struct chunk *chunk = &g->chunks[i];
		const struct context *c = &g->contexts[chunk->context];
		uint32_t join = g->loops[chunk->loop].join;

		/* Chunks of a visit are in order, so the value of the last one stays. */
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
		double cost = (double)context__bookkeeping(g, c) +
			      waits[chunk->visit] / (double)g->visits[chunk->visit].chunks;

		if (!(c->flags & CONTEXT_INCOMPLETE) && cost > 0)
			c->cost_ns = cost;
		if (c->exec_ns > g->loops[chunk->loop].longest_ns)
			g->loops[chunk->loop].longest_ns = c->exec_ns;
		if (c->flags & CONTEXT_INCOMPLETE)
			g->loops[chunk->loop].incomplete = true;
		g->loops[chunk->loop].exec_ns += c->exec_ns;
		c->load_balance = NAN;
	}
	for (i = 0; i < g->item_count; i++)
		if (g->items[i].kind == GRAIN_BOOKKEEPING)
			g->loops[g->items[i].ref].bookkeeping_ns += g->items[i].own_ns;
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

/* Sorts chunks by loop. `order` gets the chunks, `first` the place of each loop's first chunk. */
static void sort_chunks(const struct grain_graph *g, uint32_t *first, uint32_t *order)
{
	size_t i;

	for (i = 0; i < g->chunk_count; i++)
		first[g->chunks[i].loop + 1]++;
	for (i = 0; i < g->loop_count; i++)
		first[i + 1] += first[i];
	for (i = g->chunk_count; i-- > 0;)
		order[--first[g->chunks[i].loop + 1]] = (uint32_t)i;
	memmove(first, first + 1, g->loop_count * sizeof *first);
	first[g->loop_count] = (uint32_t)g->chunk_count;
}

/* Finds for each loop the largest sum of a member's chunks. */
static void find_makespans(const struct grain_graph *g, uint64_t *makespans)
{
	size_t i;

	for (i = 0; i < g->visit_count; i++)
		if (g->visits[i].exec_ns > makespans[g->visits[i].loop])
			makespans[g->visits[i].loop] = g->visits[i].exec_ns;
}

struct groups {
	uint32_t *first, *order;
	uint64_t *makespans, *values, *room;
	struct scatter *scatter; /* NULL: absent */
	size_t room_count;
};

static void measure_group(struct grain_graph *g, const struct groups *s, size_t index)
{
	struct loop *loop = &g->loops[index];
	const uint32_t *chunks = &s->order[s->first[index]];
	size_t i, n = s->first[index + 1] - s->first[index];
	double scatter;

	if (!n)
		return;
	/* A member's static share was not handed out as a chunk, so packing has no meaning for it. */
	if (!loop->incomplete && !loop->hidden && !loop->derived && loop->members <= PACK_LIMIT) {
		for (i = 0; i < n; i++)
			s->values[i] = g->contexts[g->chunks[chunks[i]].context].exec_ns;
		loop->minimum_cores =
			metrics__pack(s->values, n, s->makespans[index], loop->members, s->room);
	}
	if (!s->scatter || n < 2)
		return;
	scatter__start(s->scatter);
	for (i = 0; i < n; i++)
		scatter__add(s->scatter, &g->contexts[g->chunks[chunks[i]].context]);
	scatter = scatter__median(s->scatter);
	for (i = 0; i < n; i++)
		g->scatters[g->chunks[chunks[i]].context] = scatter;
}

/* Computes minimum cores and scatter for the chunks of each loop. */
static int measure_groups(struct grain_graph *g)
{
	struct groups s = {.room_count = PACK_LIMIT};
	size_t i;
	int error;

	if (!g->chunk_count)
		return 0;
	error = memory__array(&g->memory, g->loop_count + 1, sizeof *s.first, (void **)&s.first);
	if (error == 0)
		error = memory__array(&g->memory, g->chunk_count, sizeof *s.order, (void **)&s.order);
	if (error == 0)
		error = memory__array(&g->memory, g->loop_count, sizeof *s.makespans, (void **)&s.makespans);
	if (error == 0)
		error = memory__array(&g->memory, g->chunk_count, sizeof *s.values, (void **)&s.values);
	if (error == 0)
		error = memory__array(&g->memory, s.room_count, sizeof *s.room, (void **)&s.room);
	if (error == 0)
		error = scatter__new(g, g->chunk_count, &s.scatter);
	if (error == 0) {
		sort_chunks(g, s.first, s.order);
		find_makespans(g, s.makespans);
		for (i = 0; i < g->loop_count; i++)
			measure_group(g, &s, i);
	}
	memory__release(&g->memory, (void **)&s.first, g->loop_count + 1, sizeof *s.first);
	memory__release(&g->memory, (void **)&s.order, g->chunk_count, sizeof *s.order);
	memory__release(&g->memory, (void **)&s.makespans, g->loop_count, sizeof *s.makespans);
	memory__release(&g->memory, (void **)&s.values, g->chunk_count, sizeof *s.values);
	memory__release(&g->memory, (void **)&s.room, s.room_count, sizeof *s.room);
	scatter__free(g, s.scatter);
	return error;
}

/* Computes the load balance of regions: fragments of the busiest member / fragments of the median member. */
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
		error = measure_groups(graph);
	}
	if (error == 0)
		error = balance_regions(graph);
	memory__release(&graph->memory, (void **)&waits, visits, sizeof *waits);
	memory__release(&graph->memory, (void **)&values, visits, sizeof *values);
	return error;
}
