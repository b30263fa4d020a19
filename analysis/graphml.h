/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the GraphML writer. */
#ifndef GRAIND_GRAPHML_H
#define GRAIND_GRAPHML_H

#include "analysis/export_text.h"
#include "analysis/grain_reduced.h"

/* A node: an item ('i'), a join ('j') or, of the reduced graph, any ('n'). */
struct node {
	char prefix;
	uint32_t index; /* GRAIN_NONE: there is none */
};

void graphml__name(struct export *e, struct node node);
/* Nothing between a node and itself, and nothing from or to none. */
void graphml__edge(struct export *e, struct node from, struct node to, enum grain_reduced_edge_kind kind,
		   bool critical);
/* graphml_edges.c: of the graph with every node. */
void graphml__full_edges(struct export *e);

#endif
