/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/counters.h"
#include "analysis/metrics.h"
#include "analysis/profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int counters__begin(struct grain_graph *graph)
{
	struct counters *c = NULL;
	int error;

	if (!graph->stream->counter_count)
		return 0;
	error = memory__array(&graph->memory, 1, sizeof *c, (void **)&c);
	if (error < 0)
		return error;
	c->count = graph->stream->counter_count;
	c->cycles = c->stalls = c->misses = c->references = -1;
	graph->counters = c;
	return 0;
}

void counters__at(struct grain_graph *graph, uint32_t index, uint32_t thread)
{
	struct counters *c = graph->counters;
	const struct event_stream *s = graph->stream;

	while (c->reading < s->reading_count && s->readings[c->reading].event < index)
		c->reading++;
	c->event = index;
	c->thread = thread;
}

/* Room for element `last` of an array of such elements. */
static int make_room(struct grain_graph *g, void **array, size_t *room, size_t last, size_t size)
{
	int error = 0;

	while (error == 0 && *room <= last)
		error = memory__grow(&g->memory, array, room, *room, size);
	return error;
}

int counters__open(struct grain_graph *graph, uint32_t thread, uint32_t context)
{
	struct counters *c = graph->counters;
	const struct event_stream *s = graph->stream;
	uint64_t *starts;
	int error;

	error = make_room(graph, (void **)&c->sums, &c->room, context, c->count * sizeof *c->sums);
	if (error == 0)
		error = make_room(graph, (void **)&c->starts, &c->thread_room, thread,
				  c->count * sizeof *c->starts);
	if (error == 0)
		error = make_room(graph, (void **)&c->start_events, &c->event_room, thread,
				  sizeof *c->start_events);
	if (error < 0)
		return error;
	for (; c->contexts <= context; c->contexts++)
		for (size_t k = 0; k < c->count; k++)
			c->sums[c->contexts * c->count + k] = COUNTER_NONE;
	starts = &c->starts[thread * c->count];
	for (size_t k = 0; k < c->count; k++)
		starts[k] = COUNTER_UNKNOWN;
	c->start_events[thread] = c->thread == thread ? c->event : GRAIN_NONE;
	for (size_t i = c->reading;
	     thread == c->thread && i < s->reading_count && s->readings[i].event == c->event; i++)
		starts[s->readings[i].counter] = s->readings[i].value;
	return 0;
}

static void add(uint64_t *sum, uint64_t start, uint64_t end, bool empty)
{
	uint64_t total;

	if (start == COUNTER_UNKNOWN || end == COUNTER_UNKNOWN || end < start) {
		*sum = empty ? *sum : COUNTER_UNKNOWN;
		return;
	}
	if (*sum == COUNTER_UNKNOWN)
		return;
	if (__builtin_add_overflow(*sum == COUNTER_NONE ? 0 : *sum, end - start, &total) ||
	    total >= COUNTER_NONE)
		total = COUNTER_UNKNOWN;
	*sum = total;
}

void counters__close(struct grain_graph *graph, uint32_t thread, uint32_t context, bool empty)
{
	struct counters *c = graph->counters;
	const struct event_stream *s = graph->stream;
	const uint64_t *starts = &c->starts[thread * c->count];
	uint64_t *sums = &c->sums[context * c->count];
	size_t i = c->reading;

	/* What begins and ends at one event counted nothing, whatever the value was. */
	if (c->thread == thread && c->start_events[thread] == c->event) {
		for (size_t k = 0; k < c->count; k++)
			add(&sums[k], 0, 0, true);
		return;
	}
	for (size_t k = 0; k < c->count; k++) {
		uint64_t end = COUNTER_UNKNOWN;

		if (thread == c->thread && i < s->reading_count && s->readings[i].event == c->event &&
		    s->readings[i].counter == k)
			end = s->readings[i++].value;
		add(&sums[k], starts[k], end, empty);
	}
}

void counters__free(struct counters *c)
{
	if (!c)
		return;
	free(c->sums);
	free(c->rows);
	free(c->starts);
	free(c->start_events);
	free(c);
}

uint64_t counters__sum(const struct grain_graph *graph, uint32_t context, int counter)
{
	const struct counters *c = graph->counters;

	if (!c || counter < 0 || context >= c->contexts)
		return COUNTER_UNKNOWN;
	return c->sums[context * c->count + (size_t)counter];
}

/* ---- metrics ------------------------------------------------------------ */

double context__memory_utilization(const struct grain_graph *graph, uint32_t context)
{
	const struct counters *c = graph->counters;
	uint64_t cycles, stalls;

	if (!c || c->cycles < 0 || c->stalls < 0)
		return NAN;
	cycles = counters__sum(graph, context, c->cycles);
	stalls = counters__sum(graph, context, c->stalls);
	if (cycles == COUNTER_UNKNOWN || stalls == COUNTER_UNKNOWN || !stalls || stalls > cycles)
		return NAN;
	return (double)(cycles - stalls) / (double)stalls;
}

double context__miss_ratio(const struct grain_graph *graph, uint32_t context)
{
	const struct counters *c = graph->counters;
	uint64_t misses, references;

	if (!c || c->misses < 0 || c->references < 0)
		return NAN;
	misses = counters__sum(graph, context, c->misses);
	references = counters__sum(graph, context, c->references);
	if (misses == COUNTER_UNKNOWN || references == COUNTER_UNKNOWN || !references)
		return NAN;
	return (double)misses / (double)references;
}

/* Whatever the case, and with or without modifiers ("cycles:u"). */
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

/* The one that the settings name, else the first of the usual ones. */
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

/* Misses and references have to be of the same cache: the first row of which both are there. */
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
	metrics__absent(g, GRAIN_PROBLEM_CACHE_MISS_RATIO,
			"no misses and references of the same cache in this capture");
	c->misses = c->references = -1;
}

/* Why a metric of two counters is absent, if it is. */
static void explain(struct grain_graph *g, enum grain_problem problem, int first, const char *first_name,
		    const char *first_set, int second, const char *second_name, const char *second_set)
{
	if (first_set && first < 0)
		metrics__absent(g, problem, "no counter \"%s\" in this capture", first_set);
	else if (second_set && second < 0)
		metrics__absent(g, problem, "no counter \"%s\" in this capture", second_set);
	else if (first < 0 && second < 0)
		metrics__absent(g, problem, "no %s and no %s counter in this capture", first_name,
				second_name);
	else if (first < 0)
		metrics__absent(g, problem, "no %s counter in this capture", first_name);
	else if (second < 0)
		metrics__absent(g, problem, "no %s counter in this capture", second_name);
}

static void explain_values(struct grain_graph *g, enum grain_problem problem,
			   double (*value)(const struct grain_graph *, uint32_t))
{
	for (size_t i = 0; i < g->context_count; i++)
		if (context__is_grain(&g->contexts[i]) && !isnan(value(g, (uint32_t)i)))
			return;
	metrics__absent(g, problem, "of no grain both counters are known from begin to end");
}

/* What is not known of all fragments is not known. */
static int finish_sums(struct grain_graph *g)
{
	struct counters *c = g->counters;
	int error = 0;

	if (g->context_count)
		error = make_room(g, (void **)&c->sums, &c->room, g->context_count - 1,
				  c->count * sizeof *c->sums);
	if (error < 0)
		return error;
	for (; c->contexts < g->context_count; c->contexts++)
		for (size_t k = 0; k < c->count; k++)
			c->sums[c->contexts * c->count + k] = COUNTER_UNKNOWN;
	for (size_t i = 0; i < g->context_count * c->count; i++)
		if (c->sums[i] == COUNTER_NONE || g->contexts[i / c->count].flags & CONTEXT_INCOMPLETE)
			c->sums[i] = COUNTER_UNKNOWN;
	memory__release(&g->memory, (void **)&c->starts, c->thread_room, c->count * sizeof *c->starts);
	memory__release(&g->memory, (void **)&c->start_events, c->event_room, sizeof *c->start_events);
	return 0;
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
		error = finish_sums(graph);
		if (error < 0)
			return error;
		c->cycles = choose(graph, set->cycle_counter, cycles);
		c->stalls = choose(graph, set->stall_counter, stalls);
		choose_cache(graph, c);
	}
	explain(graph, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION, c->cycles, "cycle", set->cycle_counter,
		c->stalls, "stall", set->stall_counter);
	explain(graph, GRAIN_PROBLEM_CACHE_MISS_RATIO, c->misses, "cache miss", set->miss_counter,
		c->references, "cache reference", set->reference_counter);
	if (graph->counters) {
		explain_values(graph, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
			       context__memory_utilization);
		explain_values(graph, GRAIN_PROBLEM_CACHE_MISS_RATIO, context__miss_ratio);
	}
	return 0;
}

/* ---- sums by definition -------------------------------------------------- */

/* Rows of the profile: a definition's tasks, chunks or sections. */
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
