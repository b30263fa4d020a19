// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/graph/tasking.h"

#include <stdlib.h>

int tasking__depth_row(struct grain_graph *g, uint32_t depth, uint32_t definition, struct depth_row **out)
{
	struct tasking *t = g->tasking;
	uint32_t level = depth < GRAIN_DEPTH_LIMIT ? depth : GRAIN_DEPTH_LIMIT, row;
	uint64_t key = (uint64_t)level << 32 | tasking__row_of(g, definition);
	int error;

	row = number_map__get(&t->depth_of, key);
	if (row == GRAIN_NONE) {
		row = (uint32_t)t->depth_count;
		error = memory__grow(&g->memory, (void **)&t->depths, &t->depth_capacity, t->depth_count,
				     sizeof *t->depths);
		if (error == 0)
			error = number_map__put(&t->depth_of, key, row);
		if (error < 0)
			return error;
		t->depths[t->depth_count++] = (struct depth_row){.depth = level, .definition = definition};
	}
	*out = &t->depths[row];
	return 0;
}

void tasking__free(struct tasking *t)
{
	if (!t)
		return;
	number_map__free(&t->point_of);
	number_map__free(&t->stub_of);
	number_map__free(&t->active_of);
	number_map__free(&t->depth_of);
	free(t->constructs);
	free(t->order);
	free(t->points);
	free(t->stubs);
	free(t->depths);
	free(t->active);
	free(t->teams);
	free(t->unmet);
	free(t->successors);
	free(t);
}
