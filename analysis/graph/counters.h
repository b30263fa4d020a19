/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardware counters (cycles, cache misses, ...) of contexts in their own fragments. The count of a fragment
 * is the thread's value at the end of the fragment minus its value at the begin. If one of them is missing,
 * or the value decreased, the context's sum is unknown.
 */
#ifndef GRAIND_COUNTERS_H
#define GRAIND_COUNTERS_H

#include "analysis/graph/graph.h"

#define COUNTER_UNKNOWN UINT64_MAX
/* No fragment was counted yet. */
#define COUNTER_NONE (UINT64_MAX - 1)

/* A counter of one row of the profile. */
struct counter_row {
	uint64_t sum, instances;
};

struct counters {
	size_t count;	/* counters of the capture */
	uint64_t *sums; /* by context * count + counter */
	size_t contexts, room;
	struct counter_row *rows;		/* by profile row * count + counter */
	int cycles, stalls, misses, references; /* indices of counters, -1: none */
	/* Only during the replay: */
	size_t reading;		/* index of the first reading of the current event or of a later one */
	uint32_t event, thread; /* the current event and its thread */
	uint64_t *starts;	/* by thread * count + counter: values at the begin of its fragment */
	uint32_t *start_events; /* by thread */
	size_t threads, thread_room, event_room;
};

/* Makes graph->counters if the capture has counters. Returns 0, -ENOMEM or -E2BIG. */
int counters__begin(struct grain_graph *graph);
/* Makes event `index`, on `thread`, the current event. */
void counters__at(struct grain_graph *graph, uint32_t index, uint32_t thread);
/*
 * The current event begins or ends a fragment of `context` on `thread`. `empty`: the fragment has length 0.
 */
int counters__open(struct grain_graph *graph, uint32_t thread, uint32_t context);
void counters__close(struct grain_graph *graph, uint32_t thread, uint32_t context, bool empty);
/* No more events come. Sums that miss a fragment become unknown. */
int counters__finish(struct grain_graph *graph);
void counters__free(struct counters *counters); /* accepts NULL */

/* The sum of a counter, or COUNTER_UNKNOWN. */
uint64_t counters__sum(const struct grain_graph *graph, uint32_t context, int counter);
/* Return (cycles - stalled) / stalled, and misses / references. NAN if absent. */
double context__memory_utilization(const struct grain_graph *graph, uint32_t context);
double context__miss_ratio(const struct grain_graph *graph, uint32_t context);

#endif
