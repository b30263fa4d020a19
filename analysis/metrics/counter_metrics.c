// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the counters that metrics are computed from, and sums up counters by definition. */
#include "analysis/metrics/metrics.h"
#include "analysis/graph/counters.h"
#include "analysis/metrics/profile.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Returns the index of the counter with that name. Ignores case and modifiers ("cycles:u"). -1: none. */
static int find(const struct grain_graph *g, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < g->stream->counter_count; i++) {
		const char *known = g->stream->counters[i].name;

		if (!strncasecmp(known, name, length) && (!known[length] || known[length] == ':'))
			return (int)i;
	}
	return -1;
}

/* Returns the counter that the settings name, else the first of the usual ones that exists. -1: none. */
static int choose(const struct grain_graph *g, const char *set, const char *const *usual)
{
	int found = -1;

	if (set) {
		for (size_t i = 0; i < g->stream->counter_count; i++)
			if (!strcmp(g->stream->counters[i].name, set))
				return (int)i;
		return find(g, set);
	}
	for (; found < 0 && *usual; usual++)
		found = find(g, *usual);
	return found;
}

/* Misses and references must be of the same cache, so this chooses the first pair that exists. */
static void choose_cache(struct grain_graph *g, struct counters *c)
{
	static const char *const misses[] = {"PAPI_L3_TCM", "PAPI_L2_TCM", "cache-misses", "LLC-load-misses",
					     NULL};
	static const char *const references[] = {"PAPI_L3_TCA", "PAPI_L2_TCA", "cache-references",
						 "LLC-loads", NULL};
	const struct grain_settings *set = &g->settings;

	c->misses = choose(g, set->miss_counter, misses);
	c->references = choose(g, set->reference_counter, references);
	if (c->misses < 0 || c->references < 0 || (set->miss_counter && set->reference_counter))
		return;
	for (size_t i = 0; misses[i]; i++) {
		int miss = find(g, misses[i]), reference = find(g, references[i]);

		if (miss < 0 || reference < 0 || (set->miss_counter && miss != c->misses) ||
		    (set->reference_counter && reference != c->references))
			continue;
		c->misses = miss;
		c->references = reference;
		return;
	}
	if (set->miss_counter || set->reference_counter)
		return;
	graph__absent(g, GRAIN_PROBLEM_CACHE_MISS_RATIO,
		      "no misses and references of the same cache in this capture");
	c->misses = c->references = -1;
}

/* A counter that a metric needs. */
struct part {
	int counter; /* -1: there is none */
	const char *what;
	const char *set; /* its name in the settings; NULL: not set */
};

/* Sets the reason if a metric of two counters is absent. */
static void explain(struct grain_graph *g, enum grain_problem problem, struct part first, struct part second)
{
	if (first.set && first.counter < 0)
		graph__absent(g, problem, "no counter \"%s\" in this capture", first.set);
	else if (second.set && second.counter < 0)
		graph__absent(g, problem, "no counter \"%s\" in this capture", second.set);
	else if (first.counter < 0 && second.counter < 0)
		graph__absent(g, problem, "no %s and no %s counter in this capture", first.what, second.what);
	else if (first.counter < 0)
		graph__absent(g, problem, "no %s counter in this capture", first.what);
	else if (second.counter < 0)
		graph__absent(g, problem, "no %s counter in this capture", second.what);
}

static void explain_values(struct grain_graph *g, enum grain_problem problem,
			   double (*value)(const struct grain_graph *, uint32_t))
{
	for (size_t i = 0; i < g->context_count; i++)
		if (context__is_grain(&g->contexts[i]) && !isnan(value(g, (uint32_t)i)))
			return;
	graph__absent(g, problem, "of no grain both counters are known from begin to end");
}

int graph__measure_counters(struct grain_graph *graph)
{
	static const char *const cycles[] = {"PAPI_TOT_CYC", "cycles", "cpu-cycles", NULL};
	static const char *const stalls[] = {"PAPI_RES_STL", "stalled-cycles-backend", "PAPI_MEM_SCY",
					     "cycle_activity.stalls_mem_any", NULL};
	const struct grain_settings *set = &graph->settings;
	struct counters none = {.cycles = -1, .stalls = -1, .misses = -1, .references = -1};
	struct counters *c = graph->counters ? graph->counters : &none;
	int error;

	if (graph->counters) {
		error = counters__finish(graph);
		if (error < 0)
			return error;
		c->cycles = choose(graph, set->cycle_counter, cycles);
		c->stalls = choose(graph, set->stall_counter, stalls);
		choose_cache(graph, c);
	}
	explain(graph, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
		(struct part){c->cycles, "cycle", set->cycle_counter},
		(struct part){c->stalls, "stall", set->stall_counter});
	explain(graph, GRAIN_PROBLEM_CACHE_MISS_RATIO,
		(struct part){c->misses, "cache miss", set->miss_counter},
		(struct part){c->references, "cache reference", set->reference_counter});
	if (graph->counters) {
		explain_values(graph, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
			       context__memory_utilization);
		explain_values(graph, GRAIN_PROBLEM_CACHE_MISS_RATIO, context__miss_ratio);
	}
	return 0;
}

/* ---- sums by definition -------------------------------------------------- */

/* Adds a grain's sums to a row of the profile. */
static void add_to_row(const struct counters *c, struct counter_row *row, const uint64_t *sums)
{
	for (size_t k = 0; k < c->count; k++) {
		if (sums[k] == COUNTER_UNKNOWN)
			continue;
		row[k].instances++;
		if (__builtin_add_overflow(row[k].sum, sums[k], &row[k].sum))
			row[k].sum = UINT64_MAX;
	}
}

int graph__profile_counters(struct grain_graph *graph)
{
	struct counters *c = graph->counters;
	uint32_t *row = NULL;
	size_t slots = profile__slots(graph);
	int error;

	if (!c)
		return 0;
	error = memory__array(&graph->memory, graph->profile_count * c->count, sizeof *c->rows,
			      (void **)&c->rows);
	if (error == 0)
		error = memory__array(&graph->memory, slots, sizeof *row, (void **)&row);
	if (error < 0)
		return error;
	for (size_t i = 0; i < graph->profile_count; i++)
		row[profile__slot(graph, &graph->profiles[i])] = (uint32_t)i;
	for (size_t i = 0; i < graph->context_count; i++) {
		const struct context *context = &graph->contexts[i];

		if (context__is_complete_grain(context))
			add_to_row(c, &c->rows[row[profile__slot_of(graph, context)] * c->count],
				   &c->sums[i * c->count]);
	}
	memory__release(&graph->memory, (void **)&row, slots, sizeof *row);
	return 0;
}
