/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grain graph with the simple reductions of PPOPP16 section 3.1 (figures 3d, 3e, 3h). The fragments of a
 * context are one node. Its forks that one join synchronizes are one node. Its book-keeping for one loop is
 * one node. A node keeps its members, and has their sum and extremes. The graph has no cycles.
 *
 * The nodes of a context form a chain: its own node, then its forks, regions, joins and book-keeping in the
 * order in which each began. The chunks of a loop are side by side between the book-keeping and what follows
 * it.
 */
#ifndef GRAIND_GRAIN_REDUCED_H
#define GRAIND_GRAIN_REDUCED_H

#include "analysis/include/grain.h"

struct grain_reduced;

/* Takes linear time in items. Returns 0, -ENOMEM or -E2BIG. The graph must outlive it. */
int grain_reduced__new(const struct grain_graph *graph, struct grain_reduced **out);
void grain_reduced__free(struct grain_reduced *reduced); /* accepts NULL */

enum grain_reduced_kind {
	GRAIN_REDUCED_CONTEXT,	   /* its members are all fragments of the context */
	GRAIN_REDUCED_FORK,	   /* the context's creations of tasks that `join` synchronizes */
	GRAIN_REDUCED_REGION,	   /* the start of a parallel region */
	GRAIN_REDUCED_JOIN,	   /* its members are the waits of all contexts that wait at this join */
	GRAIN_REDUCED_BOOKKEEPING, /* the book-keeping of one team member in one loop */
};

struct grain_reduced_node {
	enum grain_reduced_kind kind;
	uint32_t context; /* its context; of a join: the waiter; GRAIN_NONE: the end of a region that nobody
			     waited for */
	uint32_t join;	  /* of forks (GRAIN_NONE: no join) and of joins */
	uint32_t region;  /* of a region's start, or of a team's join */
	uint32_t loop;	  /* of book-keeping */
	uint32_t members; /* number of items, see grain_reduced__item(); 0 if none was seen */
	/* Of the members' grain_item.own_ns. 0 if there are no members. */
	uint64_t sum_ns, min_ns, max_ns;
	bool critical; /* a member is on the critical path */
};
/* Nodes are numbered: first contexts, with their own numbers, then joins in their order, then all others. */
size_t grain_reduced__node_count(const struct grain_reduced *reduced);
void grain_reduced__node(const struct grain_reduced *reduced, uint32_t node, struct grain_reduced_node *out);
/*
 * Returns the graph's item that is the node's member `index`, in the graph's order. `index` is below
 * `members`.
 */
uint32_t grain_reduced__item(const struct grain_reduced *reduced, uint32_t node, uint32_t index);

enum grain_reduced_edge_kind {
	GRAIN_REDUCED_CREATION,	       /* from a fork to a child, or from a region's start to a member */
	GRAIN_REDUCED_CONTINUATION,    /* along the chain of a context, or from book-keeping to a chunk */
	GRAIN_REDUCED_SYNCHRONIZATION, /* from the end of a context's chain to the join that waits for it */
	GRAIN_REDUCED_DEPENDENCE, /* from the end of a predecessor's chain to its successor or to the wait */
};

struct grain_reduced_edge {
	enum grain_reduced_edge_kind kind;
	uint32_t from, to; /* nodes */
	bool critical;	   /* the critical path runs along it */
};
size_t grain_reduced__edge_count(const struct grain_reduced *reduced);
void grain_reduced__edge(const struct grain_reduced *reduced, size_t index, struct grain_reduced_edge *out);

#endif
