/* SPDX-License-Identifier: BSD-2-Clause */
/* What the metrics share. */
#ifndef GRAIND_METRICS_H
#define GRAIND_METRICS_H

#include "analysis/graph.h"

/* Of an even number: the mean of the two middle ones. Reorders values; n >= 1. */
double metrics__median(uint64_t *values, size_t n);
/* Of |a - b| over all pairs; NAN for fewer than two values. Reorders values. */
double metrics__median_distance(uint64_t *values, size_t n);
/* Why scatter is absent, NULL when it can be computed. */
const char *metrics__scatter_reason(const struct grain_graph *graph);

/* Cores of CPUs up to *count, GRAIN_NONE for unknown ones; NULL where distances between cores say nothing. */
int metrics__cores(struct grain_graph *graph, uint32_t **cores, size_t *count);
/* Where the context ran first; false: unknown. */
bool metrics__core_of(const struct grain_graph *graph, const struct context *c, const uint32_t *cores,
		      size_t count, uint64_t *core);
/*
 * The fewest bins of `capacity` that best-fit decreasing finds for the sizes,
 * at most `limit`, which is known to suffice. Reorders sizes; `room` has
 * `limit` elements.
 */
uint32_t metrics__pack(uint64_t *sizes, size_t n, uint64_t capacity, uint32_t limit, uint64_t *room);

/* Sum, extremes, mean and deviation while values come in. */
struct running_stat {
	struct grain_stat stat;
	uint64_t count;
	double squares; /* of differences from the mean */
};
void running_stat__add(struct running_stat *s, uint64_t value);
struct grain_stat running_stat__result(const struct running_stat *s);

#endif
