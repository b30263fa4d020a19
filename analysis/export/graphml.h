/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the GraphML writer. */
#ifndef GRAIND_GRAPHML_H
#define GRAIND_GRAPHML_H

#include "analysis/export/export_text.h"
#include "analysis/include/grain_reduced.h"

/* A node: an item ('i'), a join ('j'), or any node of the reduced graph ('n'). */
struct node {
	char prefix;
	uint32_t index; /* GRAIN_NONE: there is none */
};

void graphml__name(struct export *e, struct node node);
/* Writes an edge. Writes nothing if both nodes are the same, or one of them is GRAIN_NONE. */
void graphml__edge(struct export *e, struct node from, struct node to, enum grain_reduced_edge_kind kind,
		   bool critical);

/* How yEd shows a node that has a position. */
struct graphml_look {
	enum grain_reduced_kind kind;
	bool critical, flagged; /* flagged: it has a problem */
	uint64_t own_ns;
	uint32_t definition; /* names its label; GRAIN_NONE: none */
};
/* graphml_looks.c. The attributes have GRAPHML_LOOK_KEYS keys; their numbers start at `key`. */
enum { GRAPHML_LOOK_KEYS = 4 };
void graphml__declare_looks(struct export *e, unsigned key);
void graphml__node_look(struct export *e, unsigned key, struct node node, const struct graphml_look *look);
void graphml__edge_look(struct export *e, unsigned key, struct node from, struct node to,
			enum grain_reduced_edge_kind kind, bool critical);

/* graphml_edges.c: the edges of the graph with every node. */
void graphml__full_edges(struct export *e);

#endif
