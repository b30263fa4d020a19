/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reduced grain graph: the fragments of a context are one node, its forks
 * before the same join are one fork. Where that is still too much to draw,
 * whole subtrees, the many siblings of one join and the many joins of one
 * context are folded into groups that keep the sums of their members, so that
 * the tree never has more nodes than asked for.
 */
#ifndef GRAIND_RENDER_TREE_H
#define GRAIND_RENDER_TREE_H

#include "render/outline.h"

enum tree_kind {
	TREE_CONTEXT, /* one context */
	TREE_GROUP,   /* a context and everything below it, or several such */
	TREE_IDLE,    /* team members that did next to nothing */
	TREE_NOWHERE, /* stands above a region that nobody was seen to start; not drawn */
};

/* Sums over contexts. */
struct tree_sum {
	uint64_t grains;  /* explicit tasks and chunks */
	uint64_t exec_ns; /* of all contexts */
	uint64_t flagged; /* grains with the problem shown */
	float severity;	  /* of the worst of them, 0 none to 1 */
	bool critical;
	bool incomplete;
};

struct tree_node {
	uint8_t kind; /* enum tree_kind */
	bool undeferred;
	bool head_critical, tail_critical; /* the critical path enters and leaves through it */
	uint32_t context;		   /* the first of a group */
	uint32_t join;			   /* that synchronizes it */
	uint32_t level;			   /* in the tree */
	uint32_t members;		   /* of a group or of idle members; else 1 */
	struct tree_sum sum;		   /* of what the node itself stands for */
	uint64_t own_ns;		   /* execution time of a context without what is below */
	uint32_t first_phase, phase_count;
};

/* Children with the same join, or a region. */
struct tree_phase {
	uint32_t join;	 /* GRAIN_NONE: not seen */
	uint32_t region; /* GRAIN_NONE for forks of tasks */
	bool own;	 /* the parent itself waits in the join */
	uint32_t merged; /* joins that were folded into this one; 1 otherwise */
	uint64_t forks;	 /* contexts created */
	uint32_t first_child, child_count;
};

struct tree {
	const struct outline *outline;
	struct tree_node *nodes; /* parents before children; children of a phase adjacent */
	size_t node_count, node_capacity;
	struct tree_phase *phases;
	size_t phase_count, phase_capacity;
	uint32_t root_count; /* the first nodes */
	size_t drawn;	     /* nodes and circles */
	size_t groups;
	bool folded;
};

/* problem: whose severity counts, GRAIN_PROBLEM_COUNT for none. -ENOMEM. */
int tree__new(const struct outline *outline, size_t max_nodes, enum grain_problem problem, struct tree **out);
void tree__free(struct tree *tree); /* accepts NULL */

#endif
