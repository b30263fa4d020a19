/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile by definition is an array of rows. A slot is the index of a row in it. */
#ifndef GRAIND_PROFILE_SLOTS_H
#define GRAIND_PROFILE_SLOTS_H

#include "analysis/graph/graph.h"

/*
 * Each definition has a slot for each enum grain_profile_of. Grains without a definition have the last slots.
 */
static inline size_t profile__slots(const struct grain_graph *graph)
{
	return (graph->definition_count + 1) * GRAIN_PROFILE_KINDS;
}

static inline size_t profile__slot(const struct grain_graph *graph, const struct grain_profile *profile)
{
	size_t definition = profile->definition == GRAIN_NONE ? graph->definition_count : profile->definition;

	return definition * GRAIN_PROFILE_KINDS + profile->of;
}

/* Returns the slot of the row that counts the grain. */
static inline size_t profile__slot_of(const struct grain_graph *graph, const struct context *grain)
{
	struct grain_profile profile = {.definition = grain->definition, .of = GRAIN_PROFILE_TASKS};

	if (grain->kind == GRAIN_CHUNK)
		profile.of = graph->loops[graph->chunks[grain->number].loop].sections ? GRAIN_PROFILE_SECTIONS
										      : GRAIN_PROFILE_CHUNKS;
	return profile__slot(graph, &profile);
}

#endif
