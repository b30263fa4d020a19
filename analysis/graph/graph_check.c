/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conservation: the time of a thread's items plus its time outside of contexts must equal its observed time.
 * The check counts from the finished graph, not from the replay that built it.
 */
#include "analysis/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int graph__check_conservation(struct grain_graph *g)
{
	uint64_t *spent = NULL;
	size_t i;
	int error;

	/* If durations were not computed from times, they do not add up to them. */
	if (g->info.times_derived)
		return 0;
	error = memory__array(&g->memory, g->thread_count, sizeof *spent, (void **)&spent);
	if (error < 0)
		return error;
	for (i = 0; i < g->item_count; i++)
		spent[g->places[g->items[i].place].thread] += g->items[i].own_ns;
	for (i = 0; i < g->thread_count; i++) {
		const struct thread *t = &g->threads[i];
		uint64_t wall = t->last_ns - t->first_ns - t->away_ns, parts = spent[i] + t->outside_ns;

		if (parts == wall)
			continue;
		if (g->truth.conservation_violations++ == 0)
			snprintf(g->violation, sizeof g->violation,
				 "thread %" PRIu32 ": its parts sum to %" PRIu64 " ns of %" PRIu64
				 " ns that it was observed",
				 t->tid, parts, wall);
	}
	memory__release(&g->memory, (void **)&spent, g->thread_count, sizeof *spent);
	return 0;
}
