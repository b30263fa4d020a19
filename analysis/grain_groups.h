/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregation of a grain graph to one root group (Muddukrishna, "Aggregated
 * and filtered grain graphs", MCC 2016): sibling groups (grains with the same
 * parent and the same join), family groups (a parent with all its sibling
 * groups), which are children again. The root is the program.
 *
 * A group's index is larger than those of its members. The graph must outlive
 * its groups. README.md, "Groups", has the exact definitions.
 */
#ifndef GRAIND_GRAIN_GROUPS_H
#define GRAIND_GRAIN_GROUPS_H

#include "analysis/grain.h"

struct grain_groups;

/*
 * n log n in contexts, for the definitions; linear but for those. Keeps about
 * 60 bytes a group, 8 more for each problem that is available, and 8 a context.
 * 0, -ENOMEM or -E2BIG.
 */
int grain_groups__new(const struct grain_graph *graph, struct grain_groups **out);
void grain_groups__free(struct grain_groups *groups); /* accepts NULL */

enum grain_group_kind {
	GRAIN_GROUP_SIBLINGS, /* members: tasks, alone or as families, of one parent and one join; or the
				 chunks of a loop */
	GRAIN_GROUP_FAMILY,   /* members: a context, then its sibling groups, own loops, and regions */
	GRAIN_GROUP_REGION,   /* members: a region's implicit tasks, alone or as families, then its loops */
	GRAIN_GROUP_PROGRAM,  /* the root where it is none of those: several initial tasks, orphans, or a
				 context alone */
};

/* A member is a group or, alone, a context. */
struct grain_member {
	bool is_group;
	uint32_t index;
};

struct grain_group {
	enum grain_group_kind kind;
	uint32_t parent;  /* group, GRAIN_NONE for the root */
	uint32_t context; /* of a family its parent; of siblings theirs; of a region, and of a loop that a
			     team shares, the one that encountered the region; GRAIN_NONE */
	uint32_t join;	  /* of siblings and loops; GRAIN_NONE */
	uint32_t region, loop; /* GRAIN_NONE */
	uint32_t definition;   /* that most of its execution time belongs to; GRAIN_NONE when none is known */
	uint32_t members;      /* strength: immediate members */
	uint64_t strength;     /* strength: members, and the strengths of those that are groups */
	uint64_t grains;       /* in it, at any level */
	uint64_t start_ns, end_ns; /* of what has begun in it; 0 when nothing has */
	bool critical;
	/* Sums over all contexts in it: also incomplete ones, and the runtime's own tasks. */
	uint64_t exec_ns, create_ns;
	/* The worst of all complete grains in it; NAN when absent of all (MCC16 section 3.2). */
	double memory_hierarchy_utilization, parallel_benefit, instantaneous_parallelism; /* smallest */
	double load_balance, work_deviation, scatter, cache_miss_ratio;			  /* largest */
	uint32_t worst[GRAIN_PROBLEM_COUNT];	      /* the grains that have these values; GRAIN_NONE */
	uint32_t problems;			      /* of the values above, by the grains' own thresholds */
	uint64_t problem_grains[GRAIN_PROBLEM_COUNT]; /* flagged, at any level */
};
size_t grain_groups__count(const struct grain_groups *groups);
uint32_t grain_groups__root(const struct grain_groups *groups);
void grain_groups__get(const struct grain_groups *groups, uint32_t group, struct grain_group *out);
/* In the order of the program; index below `members`. */
struct grain_member grain_groups__member(const struct grain_groups *groups, uint32_t group, uint32_t index);
/* The innermost group that a context is a member of; of a parent its family. */
uint32_t grain_groups__of_context(const struct grain_groups *groups, uint32_t context);

/*
 * Local critical path, on demand: the heaviest path through the part of the
 * graph that is in the group, counting fragments. Sets bits[k] for every member
 * k that has a fragment on it and clears the others (`bits` has `members`
 * elements), *length_ns is its length. Linear in what is in the group. -ENOMEM.
 */
int grain_groups__local_path(const struct grain_groups *groups, uint32_t group, bool *bits,
			     uint64_t *length_ns);

/*
 * Similarity of structure, on demand: a Weisfeiler-Lehman subtree kernel of
 * `depth` iterations over two groups' member trees, normalized to 0..1
 * (Shervashidze et al., JMLR 2011). *out is 1 for equal structures, and only
 * for those. -ENOMEM.
 */
int grain_groups__similarity(const struct grain_groups *groups, uint32_t a, uint32_t b, unsigned int depth,
			     double *out);
/*
 * The same between all groups at once: groups of one class, and only those,
 * have equal structure. Classes are numbered from 0. n log n. -ENOMEM.
 */
int grain_groups__classes(const struct grain_groups *groups, uint32_t *class_of_group);

/* ---- filtered for one problem (MCC16 section 3.3) --------------------- */

/*
 * What stays of a group's members when those without the problem are taken
 * out: successive ones that went are one fast-forward edge.
 */
struct grain_filtered {
	bool fast_forward;
	struct grain_member member; /* when not fast_forward */
	uint32_t skipped;	    /* when fast_forward: immediate members, from first_skipped on */
	uint32_t first_skipped;
	uint64_t skipped_grains, skipped_exec_ns;
};
/* At most `members`; returns how many there are, and writes at most `room`. */
size_t grain_groups__filter(const struct grain_groups *groups, uint32_t group, enum grain_problem problem,
			    struct grain_filtered *out, size_t room);
/* From the root to the group itself: indices of groups; returns how many there are, and writes the first
 * `room`. */
size_t grain_groups__path(const struct grain_groups *groups, uint32_t group, uint32_t *out, size_t room);

/*
 * One object a line, a group before its members; the keys are in README.md,
 * "JSON". 0, -ENOMEM or a negative errno of the stream.
 */
int grain_groups__write_json(const struct grain_groups *groups, FILE *out);

#endif
