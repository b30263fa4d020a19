/* SPDX-License-Identifier: BSD-2-Clause */
/* The counters that a recording was asked for: what the grains counted in all, or why nothing was counted. */
#ifndef GRAIND_GRAIN_COUNTERS_H
#define GRAIND_GRAIN_COUNTERS_H

#include "analysis/grain.h"

struct grain_counter {
	const char *name;
	const char *absent; /* why it could not be had; NULL: it was counted */
	double share;	    /* of the time in which it was counted, the rest is estimated; 1: all of it */
	uint64_t sum; /* of the grains of which it is known from begin to end; UINT64_MAX: that or more */
	uint64_t grains, unknown; /* so many they are, and the others */
};

/* Those that were counted first, in the order of grain_graph__counter_name(), then the absent ones. */
size_t grain_graph__asked_counter_count(const struct grain_graph *graph);
void grain_graph__asked_counter(const struct grain_graph *graph, size_t index, struct grain_counter *out);

#endif
