/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes a position for every node of an exported graph (grain_export.h). Its level (y) follows from the
 * edges, its column (x) from the structure. No two nodes have the same position. The graph may have any size.
 */
#ifndef GRAIND_RENDER_POSITIONS_H
#define GRAIND_RENDER_POSITIONS_H

#include "analysis/include/grain_export.h"

/*
 * A chain has the nodes of a context, in their order. A node that belongs to no context is a chain of its
 * own.
 */
struct position_graph {
	size_t nodes, contexts;
	uint32_t *chain; /* per node: its context; GRAIN_NONE: it belongs to none */
	struct position_edge {
		uint32_t from, to;
	} * edges; /* consecutive nodes of a chain are connected, maybe only through other nodes */
	size_t edge_count, edge_capacity;
};

/* Make the graph of either kind of export (position_edges.c). Return 0, -ENOMEM or -E2BIG. */
int position_graph__of_reduced(struct position_graph *p, const struct grain_graph *graph);
/* In the full graph, the items come first, then the joins. */
int position_graph__of_full(struct position_graph *p, const struct grain_graph *graph);
void position_graph__free(struct position_graph *p);

/*
 * Finds, for each node, how many edges the longest path to it has (position_levels.c). Returns 0 or -ENOMEM.
 */
int position_graph__levels(const struct position_graph *p, uint32_t *levels);

/*
 * Finds, for each node, its column (position_columns.c). parents[i] is the parent of context i. Returns 0 or
 * -ENOMEM.
 */
int position_graph__columns(const struct position_graph *p, const uint32_t *parents, const uint32_t *levels,
			    double *columns);

#endif
