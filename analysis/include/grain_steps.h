/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifiers as steps from parent to child. Writing a whole identifier takes time in proportion to its path.
 * For all tasks of a deep chain together this is quadratic; steps avoid it.
 */
#ifndef GRAIND_GRAIN_STEPS_H
#define GRAIND_GRAIN_STEPS_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a context's identifier follows from its parent's: take the parent's, drop its last `drop` characters,
 * and append `text`. If `plain`, append "." and the ordinal instead.
 */
struct grain_step {
	char text[64];
	size_t drop;
	uint32_t ordinal;
	bool plain;
};

/* Returns false if the identifier does not continue the parent's. Use grain_graph__context_id() then. */
bool grain_graph__step(const struct grain_graph *graph, uint32_t context, struct grain_step *out);

/* Whether a chunk's identifier is its loop's identifier followed by its bounds. */
bool grain_graph__step_is_bounds(const struct grain_graph *graph, uint32_t chunk);

/* Whether the join is a taskyield. It waits for nothing, and has its own letter in its identifier. */
bool grain_graph__join_is_yield(const struct grain_graph *graph, uint32_t join);

#ifdef __cplusplus
}
#endif

#endif
