/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places for every node of an exported graph (grain_export.h), of any size:
 * levels from the edges, columns from the structure. No two nodes share one.
 */
#ifndef GRAIND_RENDER_POSITIONS_H
#define GRAIND_RENDER_POSITIONS_H

#include "analysis/grain_export.h"

/* Nodes as chains: a context's, in order, or one that stands alone. */
struct position_graph {
	size_t nodes, contexts;
	uint32_t *chain; /* by node: its context, GRAIN_NONE: alone */
	struct position_edge {
		uint32_t from, to;
	} * edges; /* consecutive nodes of a chain are connected, if only through others */
	size_t edge_count, edge_capacity;
};

/* position_edges.c. -ENOMEM, -E2BIG. */
int position_graph__of_reduced(struct position_graph *p, const struct grain_graph *graph);
/* Items first, then joins. */
int position_graph__of_full(struct position_graph *p, const struct grain_graph *graph);
void position_graph__free(struct position_graph *p);

/* position_levels.c: by node the edges of the longest path to it. 0 or -ENOMEM. */
int position_graph__levels(const struct position_graph *p, uint32_t *levels);

/* position_columns.c: x by node, in columns; parents[i] of chain i below `contexts`. 0 or -ENOMEM. */
int position_graph__columns(const struct position_graph *p, const uint32_t *parents, const uint32_t *levels,
			    double *columns);

#endif
