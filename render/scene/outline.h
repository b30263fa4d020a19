/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order in which a grain graph is drawn: the roots, and once each context that forks and regions lead to.
 * Parents come before children. A chunk is drawn as a part of the context that executes it. No function here
 * is recursive, so a graph may have any depth.
 */
#ifndef GRAIND_RENDER_OUTLINE_H
#define GRAIND_RENDER_OUTLINE_H

#include "analysis/include/grain.h"

struct outline_entry {
	uint32_t context;
	uint32_t parent; /* the context that it is drawn below; GRAIN_NONE: it is a root */
	uint32_t region; /* the region that it is a member of; GRAIN_NONE: it is a task */
	bool leads;	 /* it is its region's first member */
};

struct outline_root {
	bool is_region;
	uint32_t index;
};

/*
 * Properties of a context that are often needed. Asking the graph is slower, because it computes all
 * properties each time.
 */
struct outline_context {
	uint32_t join, first_item, item_count;
	uint32_t place; /* index in `order`; GRAIN_NONE: it is not drawn */
	uint8_t kind;	/* enum grain_context_kind */
	bool undeferred : 1;
	bool incomplete : 1;
	bool discarded : 1;
	bool is_grain : 1; /* an explicit task or a chunk */
};

struct outline {
	const struct grain_graph *graph;
	size_t contexts, joins, regions; /* how many the graph has */
	struct outline_context *context; /* one for each context of the graph */
	struct outline_entry *order;	 /* members of a region are adjacent */
	size_t count;
	struct outline_root *roots; /* the initial task, then contexts and regions without a known parent */
	size_t root_count;
	size_t full_nodes; /* number of fragments, forks and joins */
	uint8_t *seen;	   /* first per context, then per region: 1 if it is in the order */
};

int outline__new(const struct grain_graph *graph, struct outline **out);
void outline__free(struct outline *outline); /* accepts NULL */

/* Walks over the items of a context. At a chunk, it walks over the chunk's items. */
struct outline_walk {
	const struct outline *outline;
	uint32_t context; /* the context of the current item: the context itself, or one of its chunks */
	uint32_t chunk;	  /* the chunk of the current item; GRAIN_NONE: it is in none */
	uint32_t item;	  /* index of the current item */
	uint32_t next, end, outer, outer_next, outer_end;
};
void outline_walk__start(struct outline_walk *walk, const struct outline *outline, uint32_t context);
bool outline_walk__next(struct outline_walk *walk, struct grain_item *item);

/* Whether all members of a team share the join. */
bool outline__is_shared(const struct grain_join *join);

#endif
