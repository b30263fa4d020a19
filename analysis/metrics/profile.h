/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the profile, while they are filled. */
#ifndef GRAIND_PROFILE_H
#define GRAIND_PROFILE_H

#include "analysis/graph/graph.h"
#include "analysis/graph/profile_slots.h"
#include "analysis/base/running_stat.h"

struct profile_row {
	struct running_stat exec, create, wait;
	uint64_t cpu_ns, graph_exec_ns; /* sums of the contexts in the graph */
	struct grain_profile profile;
};

/* If the graph has only a part of a run, replaces the rows' statistics by those of the whole run. */
void folded__profile(const struct grain_graph *graph, struct profile_row *rows);
/* Does the same for all other numbers. Call it after everything else is computed. */
void folded__apply(struct grain_graph *graph);

#endif
