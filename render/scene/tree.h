/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reduced grain graph. The fragments of a context are one node, and its forks before the same join are
 * one fork. If that is still too much to draw, parts are folded into groups: whole subtrees, many siblings of
 * one join, and many joins of one context. A group has the sums of its members. So the tree never has more
 * nodes than the caller asks for.
 */
#ifndef GRAIND_RENDER_TREE_H
#define GRAIND_RENDER_TREE_H

#include "render/scene/outline.h"

enum tree_kind {
	TREE_CONTEXT, /* one context */
	TREE_GROUP,   /* a context and everything below it, or several of these */
	TREE_IDLE,    /* team members that did nearly nothing */
	TREE_NOWHERE, /* parent of a region whose start was not seen; not drawn */
};

/* Sums over contexts. */
struct tree_sum {
	uint64_t grains;  /* explicit tasks and chunks */
	uint64_t exec_ns; /* of all contexts */
	uint64_t flagged; /* grains with the shown problem */
	float severity;	  /* severity of the worst grain, 0 (none) to 1 */
	bool critical;
	bool incomplete;
};

struct tree_node {
	uint8_t kind; /* enum tree_kind */
	bool undeferred;
	bool head_critical, tail_critical; /* the critical path enters through it; leaves through it */
	uint32_t context;		   /* the context; the first one of a group */
	uint32_t join;			   /* the join that synchronizes it */
	uint32_t level;			   /* distance from its root */
	uint32_t members;		   /* number of contexts of a group or of idle members; else 1 */
	struct tree_sum sum;		   /* sums over everything that the node itself stands for */
	uint64_t own_ns;		   /* execution time of the context itself */
	uint32_t first_phase, phase_count;
};

/* The children with the same join, or those of a region. */
struct tree_phase {
	uint32_t join;	 /* GRAIN_NONE: not seen */
	uint32_t region; /* GRAIN_NONE for forks of tasks */
	bool own;	 /* the parent itself waits at this join */
	uint32_t merged; /* number of joins folded into this one; else 1 */
	uint64_t forks;	 /* number of contexts created */
	uint32_t first_child, child_count;
};

struct tree {
	const struct outline *outline;
	struct tree_node *nodes; /* parents come before children; the children of a phase are adjacent */
	size_t node_count, node_capacity;
	struct tree_phase *phases;
	size_t phase_count, phase_capacity;
	uint32_t root_count; /* number of roots, which are the first nodes */
	size_t drawn;	     /* number of nodes and circles */
	size_t groups;
	bool folded;
};

/*
 * Makes the tree. `problem` is the problem whose severity counts; GRAIN_PROBLEM_COUNT: none. Returns 0 or
 * -ENOMEM.
 */
int tree__new(const struct outline *outline, size_t max_nodes, enum grain_problem problem, struct tree **out);
void tree__free(struct tree *tree); /* accepts NULL */

#endif
