/* SPDX-License-Identifier: BSD-2-Clause */
/* A graph in the forms of other tools. All return 0 or a negative errno of the stream. */
#ifndef GRAIND_GRAIN_EXPORT_H
#define GRAIND_GRAIN_EXPORT_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grain_reduction {
	GRAIN_FULL,    /* every node: fragments, forks, joins, book-keeping, chunks */
	GRAIN_REDUCED, /* PPOPP16 section 3.1: a task's fragments in one, forks before one join in one,
			  book-keeping per thread */
};

/* GraphML that yEd and Cytoscape open: nodes and edges with typed attributes for all metrics (README.md). */
int grain_graph__write_graphml(const struct grain_graph *graph, enum grain_reduction reduction, FILE *out);

/* Where nodes are to be shown, y downwards. */
struct grain_position {
	double x, y; /* of the centre */
};
struct grain_positions {
	/* Of GRAIN_REDUCED by node of grain_reduced.h, of GRAIN_FULL by item and by join. */
	const struct grain_position *nodes, *joins;
	double width, height; /* of the room that every node has around its centre */
	double px_per_ns;     /* heights of what executes */
};
/* The same with these positions: the attributes x and y, and what yEd shows at once. NULL: without. */
int grain_graph__write_graphml_at(const struct grain_graph *graph, enum grain_reduction reduction,
				  const struct grain_positions *positions, FILE *out);

/* One line a context, a header line first, RFC 4180; the keys of the JSON as columns, absent values empty. */
int grain_graph__write_csv(const struct grain_graph *graph, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
