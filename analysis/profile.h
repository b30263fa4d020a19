/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the profile by definition, and which of them counts a grain. */
#ifndef GRAIND_PROFILE_H
#define GRAIND_PROFILE_H

#include "analysis/graph.h"
#include "analysis/running_stat.h"

struct profile_row {
	struct running_stat exec, create, wait;
	uint64_t cpu_ns, graph_exec_ns; /* of what the graph has */
	struct grain_profile profile;
};

/* Rows of a profile by definition (the last: none) and enum grain_profile_of. */
static inline size_t profile__slots(const struct grain_graph *graph)
{
	return (graph->definition_count + 1) * GRAIN_PROFILE_KINDS;
}

static inline size_t profile__slot(const struct grain_graph *graph, const struct grain_profile *profile)
{
	size_t definition = profile->definition == GRAIN_NONE ? graph->definition_count : profile->definition;

	return definition * GRAIN_PROFILE_KINDS + profile->of;
}

/* Of the profile's row that counts the grain. */
static inline size_t profile__slot_of(const struct grain_graph *graph, const struct context *grain)
{
	struct grain_profile profile = {.definition = grain->definition, .of = GRAIN_PROFILE_TASKS};

	if (grain->kind == GRAIN_CHUNK)
		profile.of = graph->loops[graph->chunks[grain->number].loop].sections ? GRAIN_PROFILE_SECTIONS
										      : GRAIN_PROFILE_CHUNKS;
	return profile__slot(graph, &profile);
}

/* Of a graph that has a part of a run: rows, by slot, say what the statistics of the whole run do. */
void folded__profile(const struct grain_graph *graph, struct profile_row *rows);
/* The same for what is left, once everything is computed. */
void folded__apply(struct grain_graph *graph);

#endif
