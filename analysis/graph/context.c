// SPDX-License-Identifier: BSD-2-Clause
/* Values of a context that are not fields, and reasons why a metric is absent. */
#include "analysis/graph/counters.h"
#include "analysis/graph/graph.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int graph__rare(struct grain_graph *graph, uint32_t context, struct rare **out)
{
	struct context *c = &graph->contexts[context];

	if (!c->rare) {
		int error = GROW(graph, rares, rare_count, rare_capacity);

		if (error < 0)
			return error;
		graph->rares[graph->rare_count++] = (struct rare){0};
		c->rare = (uint32_t)graph->rare_count;
	}
	*out = &graph->rares[c->rare - 1];
	return 0;
}

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

double graph__deviation(const struct grain_graph *g, uint32_t context)
{
	return g->deviation ? g->deviation[context] : NAN;
}

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

void graph__absent(struct grain_graph *graph, enum grain_problem problem, const char *format, ...)
{
	va_list args;

	if (graph->absent[problem][0])
		return;
	va_start(args, format);
	vsnprintf(graph->absent[problem], sizeof graph->absent[problem], format, args);
	va_end(args);
}
