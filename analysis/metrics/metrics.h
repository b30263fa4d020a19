/* SPDX-License-Identifier: BSD-2-Clause */
/* What the metrics share, and the steps that compute them. Internal to analysis. */
#ifndef GRAIND_METRICS_H
#define GRAIND_METRICS_H

#include "analysis/graph/graph.h"
#include "analysis/base/running_stat.h"

/*
 * The median; for an even number of values, the mean of the two middle ones. Reorders values. n is at least
 * 1.
 */
double metrics__median(uint64_t *values, size_t n);
/* The median of |a - b| over all pairs. NAN for fewer than two values. Reorders values. */
double metrics__median_distance(uint64_t *values, size_t n);

/*
 * Computes the scatter of groups of siblings, one group after another (metrics_scatter.c). For each group:
 * start, add each sibling (at most `largest`), take the median. *out is NULL if scatter is absent. The median
 * is NAN for fewer than two siblings, or if the place of one is unknown.
 */
struct scatter;
int scatter__new(struct grain_graph *graph, size_t largest, struct scatter **out);
void scatter__free(struct grain_graph *graph, struct scatter *scatter); /* accepts NULL */
void scatter__start(struct scatter *scatter);
void scatter__add(struct scatter *scatter, const struct context *context);
double scatter__median(struct scatter *scatter);

/*
 * Returns the number of bins of `capacity` that best-fit decreasing needs for the sizes. It is at most
 * `limit`, which the caller knows to be enough. Reorders sizes. `room` has `limit` elements.
 */
uint32_t metrics__pack(uint64_t *sizes, size_t n, uint64_t capacity, uint32_t limit, uint64_t *room);

/* Scales the fragments of one definition's contexts to 1/factor of their time. */
struct metrics_scale {
	double factor;
	uint32_t definition;
};
/* The scaled weight of a fragment, rounded to a nanosecond. */
static inline uint64_t metrics__scaled(const struct grain_graph *graph, const struct metrics_scale *scale,
				       uint32_t context, const struct item *item)
{
	if (graph->contexts[context].definition != scale->definition || scale->factor == 1)
		return item->own_ns;
	return (uint64_t)((double)item->own_ns / scale->factor + 0.5);
}
/*
 * Computes the length of the heaviest path with scaled weights. Does not change the graph. Returns 0 or
 * -ENOMEM.
 */
int metrics__scaled_span(const struct grain_graph *graph, const struct metrics_scale *scale,
			 uint64_t *span_ns); /* metrics_span.c */

/* The recorded wall time in the graph; and the same up to the end of the first window (windows.c). */
uint64_t graph__recorded_ns(const struct grain_graph *graph);
uint64_t graph__first_window_ns(const struct grain_graph *graph);
/* Whether the windows are parts of one run that was recorded completely, but kept only in these parts. */
bool graph__windows_follow(const struct grain_graph *graph);
/* Returns the last window that has begun by `time_ns`. There must be windows. */
size_t graph__window_at(const struct grain_graph *graph, uint64_t time_ns);

/* Steps of grain_graph__build, in this order. */
int graph__find_span(struct grain_graph *graph);
int graph__measure_parallelism(struct grain_graph *graph);
int graph__measure_counters(struct grain_graph *graph);
int graph__measure_siblings(struct grain_graph *graph);
int graph__measure_loops(struct grain_graph *graph);
void graph__flag_problems(struct grain_graph *graph);
int graph__profile(struct grain_graph *graph); /* makes inclusive_ns */
int graph__profile_counters(struct grain_graph *graph);

#endif
