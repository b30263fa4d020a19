/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a graph in formats of other tools. All functions return 0 or a negative errno of the stream. */
#ifndef GRAIND_GRAIN_EXPORT_H
#define GRAIND_GRAIN_EXPORT_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grain_reduction {
	GRAIN_FULL,    /* every node: fragments, forks, joins, book-keeping, chunks */
	GRAIN_REDUCED, /* PPOPP16 section 3.1: one node for a task's fragments, one for its forks before one
			  join, and one for its book-keeping per thread */
};

/* GraphML that yEd and Cytoscape open: nodes and edges with typed attributes for all metrics (FORMATS.md). */
int grain_graph__write_graphml(const struct grain_graph *graph, enum grain_reduction reduction, FILE *out);

/* The position of a node; y grows downwards. */
struct grain_position {
	double x, y; /* of the centre */
};
struct grain_positions {
	/* For GRAIN_REDUCED indexed by node of grain_reduced.h, for GRAIN_FULL by item and by join. */
	const struct grain_position *nodes, *joins;
	double width, height; /* of the space around every node's centre */
	double px_per_ns;     /* scale of the heights of nodes that execute */
};
/*
 * As grain_graph__write_graphml(), with positions: as attributes x and y, and in yEd's form, so that yEd
 * shows them at once. positions NULL: without positions.
 */
int grain_graph__write_graphml_at(const struct grain_graph *graph, enum grain_reduction reduction,
				  const struct grain_positions *positions, FILE *out);

/*
 * Writes CSV (RFC 4180): a header, then a line for each context. The columns are the keys of the JSON. Absent
 * values are empty.
 */
int grain_graph__write_csv(const struct grain_graph *graph, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
