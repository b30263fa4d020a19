/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregation of a grain graph to one root group (Muddukrishna, "Aggregated
 * and filtered grain graphs", MCC 2016): sibling groups (grains with the same
 * parent and the same join), family groups (a parent with all its sibling
 * groups), which are children again. The root is the program.
 *
 * A group's index is larger than those of its members. The graph must outlive
 * its groups. METRICS.md, "Groups", has the exact definitions.
 */
#ifndef GRAIND_GRAIN_GROUPS_H
#define GRAIND_GRAIN_GROUPS_H

#include "analysis/include/grain.h"

struct grain_groups;

/*
 * Makes the groups. Takes linear time in contexts, except n log n for the definitions. Needs about 60 bytes a
 * group, 8 more for each available problem, and 8 a context. Returns 0, -ENOMEM or -E2BIG.
 */
int grain_groups__new(const struct grain_graph *graph, struct grain_groups **out);
void grain_groups__free(struct grain_groups *groups); /* accepts NULL */

enum grain_group_kind {
	GRAIN_GROUP_SIBLINGS, /* members: tasks, alone or as families, of one parent and one join; or the
				 chunks of a loop */
	GRAIN_GROUP_FAMILY,   /* members: a context, then its sibling groups, own loops, and regions */
	GRAIN_GROUP_REGION,   /* members: a region's implicit tasks, alone or as families, then its loops */
	GRAIN_GROUP_PROGRAM,  /* the root if it is no other kind: several initial tasks, orphans, or a context
				 alone */
};

/* A member is a group or a single context. */
struct grain_member {
	bool is_group;
	uint32_t index;
};

struct grain_group {
	enum grain_group_kind kind;
	uint32_t parent;  /* group, GRAIN_NONE for the root */
	uint32_t context; /* of a family or siblings: the parent. Of a region, or a loop that a team shares:
			     the context that encountered the region. Else GRAIN_NONE */
	uint32_t join;	  /* of siblings and loops; GRAIN_NONE */
	uint32_t region, loop; /* GRAIN_NONE */
	uint32_t definition;   /* the definition with the most execution time; GRAIN_NONE: none is known */
	uint32_t members;      /* number of immediate members */
	uint64_t strength;     /* number of members, plus the strengths of those that are groups */
	uint64_t grains;       /* number of grains in it, at any level */
	uint64_t start_ns, end_ns; /* from the first begin to the last end; 0 if nothing has begun */
	bool critical;
	/* Sums over all contexts in the group, including incomplete ones and the runtime's own tasks. */
	uint64_t exec_ns, create_ns;
	/* The worst value of all complete grains in the group. NAN: absent for all (MCC16 section 3.2). */
	double memory_hierarchy_utilization, parallel_benefit, instantaneous_parallelism; /* the smallest */
	double load_balance, work_deviation, scatter, cache_miss_ratio;			  /* the largest */
	uint32_t worst[GRAIN_PROBLEM_COUNT]; /* the grains that have these values; GRAIN_NONE */
	uint32_t problems; /* the problems that these values are by the grains' thresholds */
	uint64_t problem_grains[GRAIN_PROBLEM_COUNT]; /* number of grains with the problem, at any level */
};
size_t grain_groups__count(const struct grain_groups *groups);
uint32_t grain_groups__root(const struct grain_groups *groups);
void grain_groups__get(const struct grain_groups *groups, uint32_t group, struct grain_group *out);
/* Members are in the order of the program. `index` is below the number of members. */
struct grain_member grain_groups__member(const struct grain_groups *groups, uint32_t group, uint32_t index);
/*
 * Returns the innermost group that has the context as a member. For a family's parent, returns that family.
 */
uint32_t grain_groups__of_context(const struct grain_groups *groups, uint32_t context);

/*
 * Local critical path, on demand: the heaviest path through the group's part of the graph. It counts
 * fragments. Sets bits[k] for every member k that has a fragment on the path, and clears the others (`bits`
 * has `members` elements). *length_ns is its length. Takes linear time in the size of the group. Returns 0 or
 * -ENOMEM.
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
 * Finds classes of equal structure for all groups at once. Two groups have the same class exactly if their
 * structure is equal. Classes are numbered from 0. Takes n log n time. Returns 0 or -ENOMEM.
 */
int grain_groups__classes(const struct grain_groups *groups, uint32_t *class_of_group);

/* ---- filtered for one problem (MCC16 section 3.3) --------------------- */

/*
 * What remains of a group's members when the members without the problem are removed. Each run of removed
 * members becomes one fast-forward edge.
 */
struct grain_filtered {
	bool fast_forward;
	struct grain_member member; /* set if not fast_forward */
	uint32_t skipped; /* set if fast_forward: number of immediate members, from first_skipped on */
	uint32_t first_skipped;
	uint64_t skipped_grains, skipped_exec_ns;
};
/* Returns how many there are, at most `members`. Writes at most `room`. */
size_t grain_groups__filter(const struct grain_groups *groups, uint32_t group, enum grain_problem problem,
			    struct grain_filtered *out, size_t room);
/*
 * Lists the groups from the root to the group itself. Returns how many there are, and writes the first
 * `room`.
 */
size_t grain_groups__path(const struct grain_groups *groups, uint32_t group, uint32_t *out, size_t room);

/*
 * Writes one object a line, a group before its members. FORMATS.md, "JSON", defines the keys. Returns 0,
 * -ENOMEM or a negative errno of the stream.
 */
int grain_groups__write_json(const struct grain_groups *groups, FILE *out);

#endif
