/* SPDX-License-Identifier: BSD-2-Clause */
/* What the metrics share. */
#ifndef GRAIND_METRICS_H
#define GRAIND_METRICS_H

#include "analysis/graph.h"
#include "analysis/running_stat.h"

/* Of an even number: the mean of the two middle ones. Reorders values; n >= 1. */
double metrics__median(uint64_t *values, size_t n);
/* Of |a - b| over all pairs; NAN for fewer than two values. Reorders values. */
double metrics__median_distance(uint64_t *values, size_t n);
/* Says why a metric is absent of all grains; what was said first stays. */
void metrics__absent(struct grain_graph *graph, enum grain_problem problem, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Scatter of one group of siblings after the other (metrics_scatter.c): start,
 * add each sibling, at most `largest` of them, take the median. *out is NULL
 * when scatter is absent. The median is NAN for fewer than two siblings and
 * where the place of one is not known.
 */
struct scatter;
int scatter__new(struct grain_graph *graph, size_t largest, struct scatter **out);
void scatter__free(struct grain_graph *graph, struct scatter *scatter); /* accepts NULL */
void scatter__start(struct scatter *scatter);
void scatter__add(struct scatter *scatter, const struct context *context);
double scatter__median(struct scatter *scatter);

/*
 * The fewest bins of `capacity` that best-fit decreasing finds for the sizes,
 * at most `limit`, which is known to suffice. Reorders sizes; `room` has
 * `limit` elements.
 */
uint32_t metrics__pack(uint64_t *sizes, size_t n, uint64_t capacity, uint32_t limit, uint64_t *room);

/* Fragments of one definition's contexts at 1/factor of their time. */
struct metrics_scale {
	double factor;
	uint32_t definition;
};
/* What the fragment then weighs, to the nearest nanosecond. */
static inline uint64_t metrics__scaled(const struct grain_graph *graph, const struct metrics_scale *scale,
				       uint32_t context, const struct item *item)
{
	if (graph->contexts[context].definition != scale->definition || scale->factor == 1)
		return item->own_ns;
	return (uint64_t)((double)item->own_ns / scale->factor + 0.5);
}
/* The heaviest path of the graph with those weights; touches nothing in it. 0 or -ENOMEM. */
int metrics__scaled_span(const struct grain_graph *graph, const struct metrics_scale *scale,
			 uint64_t *span_ns); /* metrics_span.c */

#endif
