/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to do, ranked by the wall-clock time at stake. Each is an upper bound:
 * the cost of creating and joining leaf tasks that run shorter than that cost,
 * the time in which threads of a region had nothing to run, and what the
 * longest of unequal siblings takes beyond their mean.
 */
#include "analysis/graph.h"
#include "analysis/advice_text.h"
#include "analysis/metrics.h"

#include <stdlib.h>
#include <string.h>

/* Less than this share of the wall time is not worth a headline. */
#define WORTH_SHARE 0.02
/* Definitions that are looked at more closely. */
#define CANDIDATES 8

struct leaf_cost {
	double saves_ns;
	uint64_t tasks;
	uint32_t definition;
};

struct region_cost {
	double saves_ns, idle_ns, core_ns;
	uint64_t regions;
	uint32_t definition, threads;
};

struct advisor {
	struct grain_graph *graph;
	size_t capacity;
	double worth_ns;
	double sync_share; /* of all waiting, what is not for lack of something to run */
};

static uint32_t threads_of(const struct grain_graph *g, const struct context *c)
{
	uint32_t threads = c->region == GRAIN_NONE ? 1 : g->regions[c->region].threads;

	return threads ? threads : 1;
}

static int new_advice(struct advisor *a, enum grain_problem problem, uint32_t definition, double saves_ns,
		      struct advice **out)
{
	struct grain_graph *g = a->graph;
	int error = memory__grow(&g->memory, (void **)&g->advice, &a->capacity, g->advice_count,
				 sizeof *g->advice);

	if (error < 0)
		return error;
	*out = &g->advice[g->advice_count++];
	memset(*out, 0, sizeof **out);
	(*out)->public.problem = problem;
	(*out)->public.definition = definition;
	(*out)->public.saves_ns =
		(uint64_t)(saves_ns < (double)g->totals.wall_ns ? saves_ns : (double)g->totals.wall_ns);
	return 0;
}

static int by_leaf_cost(const void *x, const void *y)
{
	const struct leaf_cost *a = x, *b = y;

	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return (a->definition > b->definition) - (a->definition < b->definition);
}

/*
 * Creating fewer tasks does not give idle threads more to run: that part of
 * the waiting is no cost of tasks.
 */
static double find_sync_share(const struct grain_graph *g)
{
	double waits = 0, idle = 0;
	size_t i;

	for (i = 0; i < g->context_count; i++)
		waits += (double)g->contexts[i].wait_ns;
	for (i = 0; i < g->region_count; i++)
		idle += (double)g->regions[i].idle_ns;
	return waits > idle ? (waits - idle) / waits : 0;
}

/* A leaf task that runs shorter than it costs. */
static bool is_small(const struct advisor *a, const struct context *c)
{
	return c->kind == GRAIN_TASK && (c->flags & (CONTEXT_LEAF | CONTEXT_SPLIT)) == CONTEXT_LEAF &&
	       c->problems & 1u << GRAIN_PROBLEM_PARALLEL_BENEFIT &&
	       (double)c->exec_ns < advice__cost(c, a->sync_share);
}

static void sum_leaf_costs(const struct advisor *a, struct leaf_cost *costs)
{
	const struct grain_graph *g = a->graph;
	size_t i;

	for (i = 0; i <= g->definition_count; i++)
		costs[i].definition = i == g->definition_count ? GRAIN_NONE : (uint32_t)i;
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		struct leaf_cost *cost;

		if (!is_small(a, c))
			continue;
		cost = &costs[c->definition == GRAIN_NONE ? g->definition_count : c->definition];
		cost->tasks++;
		cost->saves_ns += advice__cost(c, a->sync_share) / threads_of(g, c);
	}
}

/* Medians, which a few tasks that were preempted do not move. */
static int find_typical(struct advisor *a, struct small_tasks *small)
{
	struct grain_graph *g = a->graph;
	uint64_t *exec = NULL, *cost = NULL;
	size_t i, n = 0;
	int error = memory__array(&g->memory, small->tasks, sizeof *exec, (void **)&exec);

	if (error == 0)
		error = memory__array(&g->memory, small->tasks, sizeof *cost, (void **)&cost);
	for (i = 0; error == 0 && i < g->context_count && n < small->tasks; i++) {
		const struct context *c = &g->contexts[i];

		if (c->definition != small->definition || !is_small(a, c))
			continue;
		exec[n] = c->exec_ns;
		cost[n++] = (uint64_t)advice__cost(c, a->sync_share);
	}
	if (error == 0 && n) {
		small->exec_ns = metrics__median(exec, n);
		small->cost_ns = metrics__median(cost, n);
	}
	memory__release(&g->memory, (void **)&exec, small->tasks, sizeof *exec);
	memory__release(&g->memory, (void **)&cost, small->tasks, sizeof *cost);
	return error;
}

static int advise_small_tasks(struct advisor *a, const uint64_t *inclusive)
{
	struct grain_graph *g = a->graph;
	struct leaf_cost *costs = NULL;
	size_t i, n = g->definition_count + 1;
	int error = memory__array(&g->memory, n, sizeof *costs, (void **)&costs);

	if (error < 0)
		return error;
	a->sync_share = find_sync_share(g);
	sum_leaf_costs(a, costs);
	qsort(costs, n, sizeof *costs, by_leaf_cost);
	for (i = 0; i < n && i < CANDIDATES && error == 0 && costs[i].saves_ns >= a->worth_ns; i++) {
		struct advice *advice;
		struct small_tasks small = {
			.definition = costs[i].definition,
			.tasks = costs[i].tasks,
		};

		error = find_typical(a, &small);
		if (error < 0)
			break;
		error = new_advice(a, GRAIN_PROBLEM_PARALLEL_BENEFIT, costs[i].definition, costs[i].saves_ns,
				   &advice);
		if (error == 0)
			error = advice__small_tasks(g, &small, inclusive, advice);
	}
	memory__release(&g->memory, (void **)&costs, n, sizeof *costs);
	return error;
}

static int by_region_cost(const void *x, const void *y)
{
	const struct region_cost *a = x, *b = y;

	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return (a->definition > b->definition) - (a->definition < b->definition);
}

static void sum_region_costs(const struct grain_graph *g, struct region_cost *costs)
{
	size_t i;

	for (i = 0; i <= g->definition_count; i++)
		costs[i].definition = i == g->definition_count ? GRAIN_NONE : (uint32_t)i;
	for (i = 0; i < g->region_count; i++) {
		const struct region *r = &g->regions[i];
		struct region_cost *cost =
			&costs[r->definition == GRAIN_NONE ? g->definition_count : r->definition];

		if (r->threads < 2 || r->incomplete)
			continue;
		cost->regions++;
		cost->idle_ns += (double)r->idle_ns;
		cost->core_ns += (double)(r->end_ns - r->start_ns) * r->threads;
		cost->saves_ns += (double)r->idle_ns / r->threads;
		if (r->threads > cost->threads)
			cost->threads = r->threads;
	}
}

static int advise_idle_threads(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	struct region_cost *costs = NULL;
	size_t i, n = g->definition_count + 1;
	int error = memory__array(&g->memory, n, sizeof *costs, (void **)&costs);

	if (error < 0)
		return error;
	sum_region_costs(g, costs);
	qsort(costs, n, sizeof *costs, by_region_cost);
	for (i = 0; i < n && i < CANDIDATES && error == 0 && costs[i].saves_ns >= a->worth_ns; i++) {
		struct advice *advice;
		struct idle_threads idle = {
			.definition = costs[i].definition,
			.threads = costs[i].threads,
			.regions = costs[i].regions,
			.idle_ns = costs[i].idle_ns,
			.core_ns = costs[i].core_ns,
		};

		error = new_advice(a, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, costs[i].definition,
				   costs[i].saves_ns, &advice);
		if (error == 0)
			advice__idle_threads(g, &idle, advice);
	}
	memory__release(&g->memory, (void **)&costs, n, sizeof *costs);
	return error;
}

/* Balancing cannot give more than spreading what the threads stood idle over all of them. */
static double idle_bound(const struct grain_graph *g)
{
	double bound = 0;
	size_t i;

	for (i = 0; i < g->region_count; i++)
		if (g->regions[i].threads > 1)
			bound += (double)g->regions[i].idle_ns / g->regions[i].threads;
	return bound;
}

static int advise_balance(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	double bound = idle_bound(g);
	size_t i;

	for (i = 0; i <= g->definition_count; i++) {
		const struct imbalance *im = &g->imbalance[i];
		double saves = im->excess_ns < bound ? im->excess_ns : bound;
		struct advice *advice;
		int error;

		if (saves < a->worth_ns)
			continue;
		error = new_advice(a, GRAIN_PROBLEM_LOAD_BALANCE,
				   i == g->definition_count ? GRAIN_NONE : (uint32_t)i, saves, &advice);
		if (error < 0)
			return error;
		advice__imbalance(g, im, advice);
	}
	return 0;
}

static int by_saving(const void *x, const void *y)
{
	const struct advice *a = x, *b = y;

	if (a->public.saves_ns != b->public.saves_ns)
		return a->public.saves_ns > b->public.saves_ns ? -1 : 1;
	if (a->public.problem != b->public.problem)
		return a->public.problem < b->public.problem ? -1 : 1;
	return (a->public.definition > b->public.definition) - (a->public.definition < b->public.definition);
}

/* Of every context with all below it; children have larger indices than parents. */
static int find_inclusive(struct grain_graph *g, uint64_t **out)
{
	size_t i;
	int error = memory__array(&g->memory, g->context_count, sizeof **out, (void **)out);

	for (i = g->context_count; error == 0 && i-- > 0;) {
		uint32_t parent = g->contexts[i].parent;

		(*out)[i] += g->contexts[i].exec_ns;
		if (parent != GRAIN_NONE)
			(*out)[parent] += (*out)[i];
	}
	return error;
}

int graph__advise(struct grain_graph *graph)
{
	struct advisor a = {.graph = graph, .worth_ns = WORTH_SHARE * (double)graph->totals.wall_ns};
	uint64_t *inclusive = NULL;
	size_t i;
	int error;

	if (graph->totals.wall_ns == 0)
		return 0;
	error = find_inclusive(graph, &inclusive);
	if (error == 0)
		error = advise_small_tasks(&a, inclusive);
	if (error == 0)
		error = advise_idle_threads(&a);
	if (error == 0)
		error = advise_balance(&a);
	memory__release(&graph->memory, (void **)&inclusive, graph->context_count, sizeof *inclusive);
	if (error < 0 || !graph->advice_count)
		return error;
	qsort(graph->advice, graph->advice_count, sizeof *graph->advice, by_saving);
	for (i = 0; i < graph->advice_count; i++) {
		graph->advice[i].public.finding = graph->advice[i].finding;
		graph->advice[i].public.text = graph->advice[i].text;
	}
	return 0;
}
