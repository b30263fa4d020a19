/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grain graph with the simple reductions of PPOPP16 section 3.1 (figures
 * 3d, 3e, 3h): the fragments of a context are one node, its forks of what one
 * join synchronizes are one, its book-keeping for one loop is one. A node keeps
 * its members and says their sum and extremes. The result has no cycles.
 *
 * A context hangs together as a chain: its own node, then its forks, regions,
 * joins and book-keeping in the order in which each began. The chunks of a
 * loop stand side by side between the book-keeping and what follows it.
 */
#ifndef GRAIND_GRAIN_REDUCED_H
#define GRAIND_GRAIN_REDUCED_H

#include "analysis/grain.h"

struct grain_reduced;

/* Linear in items. 0, -ENOMEM or -E2BIG. The graph must outlive it. */
int grain_reduced__new(const struct grain_graph *graph, struct grain_reduced **out);
void grain_reduced__free(struct grain_reduced *reduced); /* accepts NULL */

enum grain_reduced_kind {
	GRAIN_REDUCED_CONTEXT,	   /* its members are all fragments of the context */
	GRAIN_REDUCED_FORK,	   /* the context's creations of tasks that `join` synchronizes */
	GRAIN_REDUCED_REGION,	   /* the start of a parallel region */
	GRAIN_REDUCED_JOIN,	   /* its members are the waits in it, of all that wait there */
	GRAIN_REDUCED_BOOKKEEPING, /* one team member's in one loop */
};

struct grain_reduced_node {
	enum grain_reduced_kind kind;
	uint32_t context; /* whose it is; of a join its waiter; GRAIN_NONE of a region's end nobody waited for
			   */
	uint32_t join;	  /* of forks (GRAIN_NONE: what nobody joins) and joins */
	uint32_t region;  /* of a region's start; of a join that is a team's */
	uint32_t loop;	  /* of book-keeping */
	uint32_t members; /* items, see grain_reduced__item; 0 where nothing was seen */
	/* Of the members' own time, grain_item.own_ns; 0 without members. */
	uint64_t sum_ns, min_ns, max_ns;
	bool critical; /* one of its members is */
};
/* Node i is context i below grain_graph__context_count; then come the joins, in their order; then the rest.
 */
size_t grain_reduced__node_count(const struct grain_reduced *reduced);
void grain_reduced__node(const struct grain_reduced *reduced, uint32_t node, struct grain_reduced_node *out);
/* The item of the graph that is the node's member `index`, below its `members`; in the graph's order. */
uint32_t grain_reduced__item(const struct grain_reduced *reduced, uint32_t node, uint32_t index);

enum grain_reduced_edge_kind {
	GRAIN_REDUCED_CREATION,	       /* fork to a child, region's start to a member */
	GRAIN_REDUCED_CONTINUATION,    /* along the chain of a context, book-keeping to a chunk */
	GRAIN_REDUCED_SYNCHRONIZATION, /* the end of a context's chain to the join that waits for it */
	GRAIN_REDUCED_DEPENDENCE,      /* the end of a predecessor's chain to its successor or to the wait */
};

struct grain_reduced_edge {
	enum grain_reduced_edge_kind kind;
	uint32_t from, to; /* nodes */
	bool critical;	   /* the critical path runs along it */
};
size_t grain_reduced__edge_count(const struct grain_reduced *reduced);
void grain_reduced__edge(const struct grain_reduced *reduced, size_t index, struct grain_reduced_edge *out);

#endif
