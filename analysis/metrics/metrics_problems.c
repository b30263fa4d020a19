/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which grains have which problem, and which problems are absent. */
#include "analysis/graph/counters.h"
#include "analysis/metrics/metrics.h"
#include "analysis/machine/topology.h"

#include <math.h>
#include <stdarg.h>

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

double grain_context__metric(const struct grain_context *context, enum grain_problem problem)
{
	switch (problem) {
	case GRAIN_PROBLEM_PARALLEL_BENEFIT:
		return context->parallel_benefit;
	case GRAIN_PROBLEM_LOAD_BALANCE:
		return context->load_balance;
	case GRAIN_PROBLEM_WORK_DEVIATION:
		return context->work_deviation;
	case GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM:
		return context->instantaneous_parallelism;
	case GRAIN_PROBLEM_SCATTER:
		return context->scatter;
	case GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION:
		return context->memory_hierarchy_utilization;
	case GRAIN_PROBLEM_CACHE_MISS_RATIO:
		return context->cache_miss_ratio;
	case GRAIN_PROBLEM_COUNT:
		break;
	}
	return NAN;
}

static double scatter_threshold(const struct grain_graph *g)
{
	if (!isnan(g->settings.scatter))
		return g->settings.scatter;
	return g->topology ? g->topology->threshold : NAN;
}

static void describe(struct grain_graph *g)
{
	const struct grain_settings *set = &g->settings;
	const struct {
		const char *name;
		double threshold;
	} all[GRAIN_PROBLEM_COUNT] = {
		[GRAIN_PROBLEM_PARALLEL_BENEFIT] = {"parallel_benefit", set->parallel_benefit},
		[GRAIN_PROBLEM_LOAD_BALANCE] = {"load_balance", set->load_balance},
		[GRAIN_PROBLEM_WORK_DEVIATION] = {"work_deviation", set->work_deviation},
		[GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM] = {"instantaneous_parallelism",
							     set->instantaneous_parallelism > 0
								     ? set->instantaneous_parallelism
								     : (double)g->info.threads},
		[GRAIN_PROBLEM_SCATTER] = {"scatter", scatter_threshold(g)},
		[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION] = {"memory_hierarchy_utilization",
								set->memory_hierarchy_utilization},
		[GRAIN_PROBLEM_CACHE_MISS_RATIO] = {"cache_miss_ratio", set->cache_miss_ratio},
	};

	if (!g->deviation)
		graph__absent(g, GRAIN_PROBLEM_WORK_DEVIATION, "%s", g->deviation_why);
	for (size_t i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		g->problems[i] = (struct grain_problem_summary){.name = all[i].name,
								.available = !g->absent[i][0],
								.why = g->absent[i],
								.threshold = all[i].threshold};
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

		/* A comparison with NAN is false, so an absent value never marks a problem. */
		if (!context__is_complete_grain(c))
			continue;
		flag(g, c, GRAIN_PROBLEM_PARALLEL_BENEFIT,
		     context__benefit(c) < g->problems[GRAIN_PROBLEM_PARALLEL_BENEFIT].threshold);
		flag(g, c, GRAIN_PROBLEM_LOAD_BALANCE,
		     c->load_balance > g->problems[GRAIN_PROBLEM_LOAD_BALANCE].threshold);
		flag(g, c, GRAIN_PROBLEM_WORK_DEVIATION,
		     graph__deviation(g, (uint32_t)i) > g->problems[GRAIN_PROBLEM_WORK_DEVIATION].threshold);
		flag(g, c, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
		     context__parallelism(c) < (g->settings.instantaneous_parallelism > 0
							? g->settings.instantaneous_parallelism
							: (double)threads_of(g, c)));
		flag(g, c, GRAIN_PROBLEM_SCATTER,
		     context__scatter(g, c) > g->problems[GRAIN_PROBLEM_SCATTER].threshold);
		if (!g->counters)
			continue;
		flag(g, c, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
		     context__memory_utilization(g, (uint32_t)i) <
			     g->problems[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION].threshold);
		flag(g, c, GRAIN_PROBLEM_CACHE_MISS_RATIO,
		     context__miss_ratio(g, (uint32_t)i) >
			     g->problems[GRAIN_PROBLEM_CACHE_MISS_RATIO].threshold);
	}
	for (i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		if (complete)
			g->problems[i].percent = 100.0 * (double)g->problems[i].grains / (double)complete;
	for (i = 0; i < g->thread_count; i++)
		observed += g->threads[i].last_ns - g->threads[i].first_ns - g->threads[i].away_ns;
	totals->wall_ns = graph__recorded_ns(g);
	totals->average_parallelism =
		totals->span_ns && (!g->stream->window_count || graph__windows_follow(g))
			? (double)totals->work_ns / (double)totals->span_ns
			: NAN;
	totals->events_per_s = totals->wall_ns ? (double)g->truth.events * 1e9 / (double)totals->wall_ns : 0;
	totals->measuring_percent = NAN;
	if (observed)
		totals->measuring_percent =
			100.0 * (double)g->truth.events * g->info.ns_per_event / (double)observed;
}
