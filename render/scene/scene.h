/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawing: nodes, edges and points of edges, with what each stands for in the grain graph. Coordinates are
 * in points, x to the right and y downwards. A layout fills the scene; picture.c makes DOT and SVG from it.
 */
#ifndef GRAIND_RENDER_SCENE_H
#define GRAIND_RENDER_SCENE_H

#include "analysis/include/grain_groups.h"

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
	SCENE_OPEN,   /* an open group: a frame around its members, which come after it */
	SCENE_SKIP,   /* members that are left out because they do not have the shown problem */
};

#define SCENE_IDLE_LABEL 36.0 /* room for the text beside idle members */

/*
 * This struct is small on purpose: with a million nodes, page faults for the array take a third of the
 * layout's time.
 */
struct scene_node {
	uint8_t shape; /* enum scene_shape */
	bool critical : 1;
	bool incomplete : 1;
	bool undeferred : 1;
	bool discarded : 1; /* its task has no body: it was cancelled before it began */
	bool capped : 1;    /* its true height is larger than drawn */
	bool siblings : 1;  /* a group that is no family */
	uint16_t cpu;
	union {
		uint32_t tid;
		uint32_t members; /* closed and open groups: immediate members; skip: removed members */
	};
	double x, y;	  /* centre, top */
	double w, h;	  /* width, height */
	uint64_t time_ns; /* execution time that it stands for */
	uint32_t context; /* context of a fragment, box or chunk; the first context of a group */
	union {
		uint32_t ref;	/* fragment or fork: its item (fork: GRAIN_NONE if it is a region's or has
				   several). Join: the join */
		uint32_t group; /* of a closed or open group */
	};
	union {
		uint32_t region;     /* of a region's fork; GRAIN_NONE for other forks and joins */
		uint32_t definition; /* of a closed or open group */
	};
	uint32_t grains;  /* number of grains that it stands for. Of a fork: its children. Of a join: the
			     contexts that it synchronizes */
	uint32_t flagged; /* number of these that have the shown problem */
	float severity;	  /* severity of the shown problem: 0 none, else in (0,1]; 1 is worst */
};
_Static_assert(sizeof(struct scene_node) == 72, "of a million nodes");

enum scene_edge_kind {
	SCENE_CREATION,
	SCENE_CONTINUATION,
	SCENE_SYNCHRONIZATION,
	SCENE_ANCESTOR,	  /* synchronization by an ancestor's join; drawn over other edges */
	SCENE_DEPENDENCE, /* a dependence; drawn over other edges, too */
	SCENE_FORWARD,	  /* leads past members that are left out */
	SCENE_EDGE_KINDS
};

struct scene_edge {
	uint8_t kind; /* enum scene_edge_kind */
	bool critical;
	bool curved; /* points form cubic curves (3n + 1 of them); else corners of right angles */
	uint32_t from, to;
	uint32_t first_point, points;
};

struct scene_point {
	double x, y;
};

struct scene {
	struct scene_node *nodes;
	size_t node_count, node_capacity;
	size_t nodes_unused; /* number of unused elements before the first one */
	struct scene_edge *edges;
	size_t edge_count, edge_capacity;
	struct scene_point *points;
	size_t point_count, point_capacity;
	double left, right, top, bottom;   /* bounds of everything drawn, set by scene__bounds() */
	double px_per_ns;		   /* scale of the heights of fragments */
	bool reduced;			   /* one node for each context */
	bool folded;			   /* it has group nodes */
	bool aggregated;		   /* it shows groups */
	uint32_t levels;		   /* number of levels of open groups */
	const struct grain_groups *groups; /* groups of an aggregated scene; not owned */
	uint64_t stands_for;		   /* number of nodes of the full graph */
};

void scene__free(struct scene *scene); /* frees the contents; accepts NULL */

/*
 * Puts `count` nodes before all others. Also makes room for at least `expected` more. Returns false if out of
 * memory. A scene grows at one end only: do not use scene__add_node() on the same scene.
 */
bool scene__put_before(struct scene *scene, const struct scene_node *nodes, size_t count, size_t expected);

/*
 * Append an element and return its index. GRAIN_NONE: out of memory. scene__add_edge() sets the edge's
 * first_point; `points` has as many points as the edge says.
 */
uint32_t scene__add_node(struct scene *scene, const struct scene_node *node);
uint32_t scene__add_edge(struct scene *scene, const struct scene_edge *edge,
			 const struct scene_point *points);

void scene__bounds(struct scene *scene);

#endif
