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

/* Sum, extremes, mean and deviation while values come in. */
struct running_stat {
	struct grain_stat stat;
	uint64_t count;
	double squares; /* of differences from the mean */
};
void running_stat__add(struct running_stat *s, uint64_t value);
struct grain_stat running_stat__result(const struct running_stat *s);

#endif
