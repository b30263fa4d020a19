/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order in which a grain graph is drawn: every context that is reachable
 * through forks and regions once, parents before their children, and the
 * places where a drawing starts. Chunks are part of the context that executes
 * them. Nothing here recurses, so depth does not matter.
 */
#ifndef GRAIND_RENDER_OUTLINE_H
#define GRAIND_RENDER_OUTLINE_H

#include "analysis/grain.h"

struct outline_entry {
	uint32_t context;
	uint32_t parent; /* below which it is drawn, GRAIN_NONE for roots */
	uint32_t region; /* whose member it is, GRAIN_NONE for tasks */
	bool leads;	 /* the first of its region's members */
};

struct outline_root {
	bool is_region;
	uint32_t index;
};

/* What is asked of contexts again and again; the graph computes all of a context each time. */
struct outline_context {
	uint32_t join, first_item, item_count;
	uint32_t place; /* in the order, GRAIN_NONE */
	uint8_t kind;	/* enum grain_context_kind */
	bool undeferred : 1;
	bool incomplete : 1;
	bool discarded : 1;
	bool is_grain : 1; /* an explicit task or a chunk */
};

struct outline {
	const struct grain_graph *graph;
	size_t contexts, joins, regions; /* of the graph */
	struct outline_context *context; /* per context */
	struct outline_entry *order;	 /* the members of a region stand together */
	size_t count;
	struct outline_root *roots; /* the initial task, then what came from nowhere */
	size_t root_count;
	size_t full_nodes; /* fragments, forks and joins */
	uint8_t *seen;	   /* per context, then per region: reached */
};

int outline__new(const struct grain_graph *graph, struct outline **out);
void outline__free(struct outline *outline); /* accepts NULL */

/* Walks the items of a context, those of its chunks in the place of the chunk. */
struct outline_walk {
	const struct outline *outline;
	uint32_t context; /* that the current item belongs to: the walked one or a chunk of it */
	uint32_t chunk;	  /* GRAIN_NONE outside of chunks */
	uint32_t item;	  /* index of the current item */
	uint32_t next, end, outer, outer_next, outer_end;
};
void outline_walk__start(struct outline_walk *walk, const struct outline *outline, uint32_t context);
bool outline_walk__next(struct outline_walk *walk, struct grain_item *item);

/* A join that all members of a team share. */
bool outline__is_shared(const struct grain_join *join);

#endif
