/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawing: nodes, edges and the points of the edges, with what each of them
 * stands for in the grain graph. Coordinates are points, x to the right and y
 * downwards. A layout fills it, picture.c turns it into DOT and SVG.
 */
#ifndef GRAIND_RENDER_SCENE_H
#define GRAIND_RENDER_SCENE_H

#include "analysis/grain_groups.h"

enum scene_shape {
	SCENE_FRAGMENT,	   /* one fragment of a context */
	SCENE_BOX,	   /* all fragments of a context */
	SCENE_CHUNK,	   /* one fragment of a loop chunk */
	SCENE_BOOKKEEPING, /* book-keeping before a chunk */
	SCENE_FORK,
	SCENE_JOIN,
	SCENE_GROUP,  /* grains folded into one node */
	SCENE_IDLE,   /* team members that did nothing but wait */
	SCENE_CLOSED, /* a closed group (grain_groups.h) */
	SCENE_OPEN,   /* an open one: a frame around its members, which come after it */
	SCENE_SKIP,   /* members without the problem shown, taken out */
};

#define SCENE_IDLE_LABEL 36.0 /* room for the words beside idle members */

/* Small: of a million of them the kernel's time to hand out the memory is a third of the layout's. */
struct scene_node {
	uint8_t shape; /* enum scene_shape */
	bool critical : 1;
	bool incomplete : 1;
	bool undeferred : 1;
	bool discarded : 1; /* has no body: its task was cancelled before it began */
	bool capped : 1;    /* taller in truth than drawn */
	bool siblings : 1;  /* a group that is no family */
	uint16_t cpu;
	union {
		uint32_t tid;
		uint32_t members; /* of closed and open groups: immediate ones; those that were taken out of a
				     skip */
	};
	double x, y;	  /* centre, top */
	double w, h;	  /* width, height */
	uint64_t time_ns; /* execution time that it stands for */
	uint32_t context; /* what a fragment, box or chunk belongs to; the first of a group */
	union {
		uint32_t ref; /* item of a fragment or fork (GRAIN_NONE: region or several), join of a join */
		uint32_t group; /* of a closed or open group */
	};
	union {
		uint32_t region;     /* of a region's fork, of other forks and joins GRAIN_NONE */
		uint32_t definition; /* of a closed or open group */
	};
	uint32_t grains;  /* that it stands for; children of a fork, contexts synchronized by a join */
	uint32_t flagged; /* of them with the problem shown */
	float severity;	  /* 0 none, else (0,1], 1 worst; of the problem shown */
};
_Static_assert(sizeof(struct scene_node) == 72, "of a million nodes");

enum scene_edge_kind {
	SCENE_CREATION,
	SCENE_CONTINUATION,
	SCENE_SYNCHRONIZATION,
	SCENE_ANCESTOR,	  /* synchronization by an ancestor's join, drawn over the rest */
	SCENE_DEPENDENCE, /* likewise */
	SCENE_FORWARD,	  /* past what was taken out */
	SCENE_EDGE_KINDS
};

struct scene_edge {
	uint8_t kind; /* enum scene_edge_kind */
	bool critical;
	bool curved; /* points are of cubic curves (3n + 1), else corners of right angles */
	uint32_t from, to;
	uint32_t first_point, points;
};

struct scene_point {
	double x, y;
};

struct scene {
	struct scene_node *nodes;
	size_t node_count, node_capacity;
	size_t nodes_unused; /* elements before the first, in the same memory */
	struct scene_edge *edges;
	size_t edge_count, edge_capacity;
	struct scene_point *points;
	size_t point_count, point_capacity;
	double left, right, top, bottom;   /* of everything drawn, after scene__bounds */
	double px_per_ns;		   /* heights of fragments */
	bool reduced;			   /* one node a context */
	bool folded;			   /* with group nodes */
	bool aggregated;		   /* of groups */
	uint32_t levels;		   /* open in it */
	const struct grain_groups *groups; /* of an aggregated scene; not its own */
	uint64_t stands_for;		   /* nodes of the full graph */
};

void scene__free(struct scene *scene); /* of its contents; accepts NULL */

/*
 * Puts `count` nodes before all others, in memory for at least `expected` more. False when memory is short. A
 * scene grows at one end: then scene__add_node must not be used.
 */
bool scene__put_before(struct scene *scene, const struct scene_node *nodes, size_t count, size_t expected);

/* Append; return the index, or GRAIN_NONE when memory is short. */
uint32_t scene__add_node(struct scene *scene, const struct scene_node *node);
uint32_t scene__add_edge(struct scene *scene, enum scene_edge_kind kind, bool critical, bool curved,
			 uint32_t from, uint32_t to, const struct scene_point *points, uint32_t count);

void scene__bounds(struct scene *scene);

/* Grows *array so that it holds more than `count` elements; false when memory is short. */
bool scene__reserve(void **array, size_t *capacity, size_t count, size_t element);

#endif
