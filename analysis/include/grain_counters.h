/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware counters that were requested for a recording: their sums over the grains, or why nothing was
 * counted.
 */
#ifndef GRAIND_GRAIN_COUNTERS_H
#define GRAIND_GRAIN_COUNTERS_H

#include "analysis/include/grain.h"

struct grain_counter {
	const char *name;
	const char *absent; /* why it was not available; NULL: it was counted */
	double share; /* part of the time in which it was counted; its values are scaled up for the rest. 1:
			 all of the time */
	uint64_t sum; /* over the grains for which it is completely known; UINT64_MAX: at least that */
	uint64_t grains, unknown; /* number of those grains, and of the others */
};

/* Counters that were counted come first, in the order of grain_graph__counter_name(). Absent ones follow. */
size_t grain_graph__asked_counter_count(const struct grain_graph *graph);
void grain_graph__asked_counter(const struct grain_graph *graph, size_t index, struct grain_counter *out);

#endif
