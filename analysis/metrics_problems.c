/* SPDX-License-Identifier: BSD-2-Clause */
/* Which grains have which problem, and which problems cannot be known here. */
#include "analysis/graph.h"
#include "analysis/metrics.h"

#include <math.h>

double context__benefit(const struct context *c)
{
	return c->cost_ns > 0 ? (double)c->exec_ns / c->cost_ns : NAN;
}

double context__parallelism(const struct context *c)
{
	if (c->min_parallelism == UINT32_MAX || c->flags & CONTEXT_INCOMPLETE)
		return NAN;
	return (double)c->min_parallelism;
}

const char *metrics__scatter_reason(const struct grain_graph *g)
{
	size_t i;

	if (g->stream->cpu_count == 0)
		return "the capture does not describe the machine's cores";
	for (i = 1; i < g->stream->cpu_count; i++)
		if (g->stream->cpus[i].node != g->stream->cpus[0].node)
			return "distances between NUMA nodes are not known";
	return NULL;
}

static uint32_t cores_per_socket(const struct grain_graph *g)
{
	uint32_t sockets = g->info.sockets ? g->info.sockets : 1;
	uint32_t cores = g->info.cores ? g->info.cores : (uint32_t)g->stream->cpu_count;

	return cores > sockets ? cores / sockets : 1;
}

static uint32_t threads_of(const struct grain_graph *g, const struct context *c)
{
	return c->region != GRAIN_NONE ? g->regions[c->region].threads : 1;
}

static void flag(struct grain_graph *g, struct context *c, enum grain_problem problem, bool has)
{
	if (!has || !g->problems[problem].available)
		return;
	c->problems |= (uint8_t)(1u << problem);
	g->problems[problem].grains++;
}

static void describe(struct grain_graph *g)
{
	struct grain_problem_summary *p = g->problems;

	p[GRAIN_PROBLEM_PARALLEL_BENEFIT] =
		(struct grain_problem_summary){"parallel_benefit", true, "", 1.0, 0, 0};
	p[GRAIN_PROBLEM_LOAD_BALANCE] =
		(struct grain_problem_summary){"load_balance", true, "", g->load_balance_threshold, 0, 0};
	p[GRAIN_PROBLEM_WORK_DEVIATION] = (struct grain_problem_summary){
		"work_deviation", false, "no single-thread run to compare with", 2.0, 0, 0};
	p[GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM] =
		(struct grain_problem_summary){"instantaneous_parallelism", true, "",
					       (double)g->info.threads,	    0,	  0};
	p[GRAIN_PROBLEM_SCATTER] =
		(struct grain_problem_summary){"scatter", true, "", (double)cores_per_socket(g), 0, 0};
	p[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION] =
		(struct grain_problem_summary){"memory_hierarchy_utilization",
					       false,
					       "no cycle and stall counters in this capture",
					       2.0,
					       0,
					       0};
	if (metrics__scatter_reason(g)) {
		p[GRAIN_PROBLEM_SCATTER].available = false;
		p[GRAIN_PROBLEM_SCATTER].why = metrics__scatter_reason(g);
	}
}

void graph__flag_problems(struct grain_graph *g)
{
	uint64_t complete = g->totals.grains - g->truth.incomplete_grains - g->totals.discarded;
	uint64_t observed = 0;
	struct grain_totals *totals = &g->totals;
	size_t i;

	describe(g);
	for (i = 0; i < g->context_count; i++) {
		struct context *c = &g->contexts[i];

		/* A comparison with NAN is false: absent values flag nothing. */
		if (!context__is_grain(c) || c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED))
			continue;
		flag(g, c, GRAIN_PROBLEM_PARALLEL_BENEFIT,
		     context__benefit(c) < g->problems[GRAIN_PROBLEM_PARALLEL_BENEFIT].threshold);
		flag(g, c, GRAIN_PROBLEM_LOAD_BALANCE,
		     c->load_balance > g->problems[GRAIN_PROBLEM_LOAD_BALANCE].threshold);
		flag(g, c, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
		     context__parallelism(c) < (double)threads_of(g, c));
		flag(g, c, GRAIN_PROBLEM_SCATTER, c->scatter > g->problems[GRAIN_PROBLEM_SCATTER].threshold);
	}
	for (i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		if (complete)
			g->problems[i].percent = 100.0 * (double)g->problems[i].grains / (double)complete;
	for (i = 0; i < g->thread_count; i++)
		observed += g->threads[i].last_ns - g->threads[i].first_ns;
	totals->wall_ns = g->info.end_ns - g->info.start_ns;
	totals->average_parallelism =
		totals->span_ns ? (double)totals->work_ns / (double)totals->span_ns : NAN;
	totals->events_per_s = totals->wall_ns ? (double)g->truth.events * 1e9 / (double)totals->wall_ns : 0;
	totals->measuring_percent = NAN;
	if (observed)
		totals->measuring_percent =
			100.0 * (double)g->truth.events * g->info.ns_per_event / (double)observed;
}
