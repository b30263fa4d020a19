/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What contexts counted (cycles, cache misses, ...) in their own fragments. A
 * fragment's count is the value at the event that ends it less the value at
 * the event that begins it, both of the thread that ran it; where one of them
 * is missing, or the value went down, the context's sum is not known.
 *
 * Readings come from event_stream.readings, whatever file that was read from.
 */
#ifndef GRAIND_COUNTERS_H
#define GRAIND_COUNTERS_H

#include "analysis/graph.h"

#define COUNTER_UNKNOWN UINT64_MAX
/* No fragment was counted yet. */
#define COUNTER_NONE (UINT64_MAX - 1)

/* Of a row of the profile. */
struct counter_row {
	uint64_t sum, instances;
};

struct counters {
	size_t count;	/* counters of the capture */
	uint64_t *sums; /* by context * count + counter */
	size_t contexts, room;
	struct counter_row *rows;		/* by profile row * count + counter */
	int cycles, stalls, misses, references; /* counters, -1: none */
	/* While events are replayed. */
	size_t reading;		/* the first of the present event, or after it */
	uint32_t event, thread; /* the present event, on this thread */
	uint64_t *starts;	/* by thread * count + counter: where its fragment began */
	uint32_t *start_events; /* by thread */
	size_t threads, thread_room, event_room;
};

/* Makes graph->counters where the capture has counters. */
int counters__begin(struct grain_graph *graph);
/* The event `index` happens on `thread`. */
void counters__at(struct grain_graph *graph, uint32_t index, uint32_t thread);
/* The present event begins or ends a fragment of `context` on `thread`; `empty`: of length 0. */
int counters__open(struct grain_graph *graph, uint32_t thread, uint32_t context);
void counters__close(struct grain_graph *graph, uint32_t thread, uint32_t context, bool empty);
void counters__free(struct counters *counters); /* accepts NULL */

/* COUNTER_UNKNOWN when it is. */
uint64_t counters__sum(const struct grain_graph *graph, uint32_t context, int counter);
/* NAN when absent. (cycles - stalled) / stalled, and misses / references. */
double context__memory_utilization(const struct grain_graph *graph, uint32_t context);
double context__miss_ratio(const struct grain_graph *graph, uint32_t context);

#endif
