/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifiers by their last steps. Writing one takes as long as its path, which
 * for all of a deep chain of tasks adds up to the square of their number.
 */
#ifndef GRAIND_GRAIN_STEPS_H
#define GRAIND_GRAIN_STEPS_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An identifier as it goes on from that of the context's parent: behind that
 * without its last `drop` characters stands `text`, or, when `plain`, "." and
 * the ordinal.
 */
struct grain_step {
	char text[64];
	size_t drop;
	uint32_t ordinal;
	bool plain;
};

/* False: it does not go on from that of the parent, grain_graph__context_id writes it. */
bool grain_graph__step(const struct grain_graph *graph, uint32_t context, struct grain_step *out);

/* Likewise of a chunk: its identifier is that of its loop and then its bounds. */
bool grain_graph__step_is_bounds(const struct grain_graph *graph, uint32_t chunk);

/* A join that waits for nothing and has a letter of its own in its identifier (taskyield). */
bool grain_graph__join_is_yield(const struct grain_graph *graph, uint32_t join);

#ifdef __cplusplus
}
#endif

#endif
