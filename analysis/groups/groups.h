/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups as the files of groups/ see them: one compact row for each group, and columns for problems that are
 * available.
 */
#ifndef GRAIND_GROUPS_H
#define GRAIND_GROUPS_H

#include "analysis/include/grain_groups.h"
#include "analysis/graph/graph.h"

/*
 * A bit of a number in the list of members. If it is set, the other bits are the number of a group. If not,
 * the number is that of a context.
 */
#define GROUP_MEMBER 0x80000000u

struct group_row {
	uint64_t exec_ns, create_ns;
	uint32_t parent;
	uint32_t first_member; /* its members end at first_member of the next row; there is one row more than
				  groups */
	uint32_t context;
	uint32_t element; /* the join of siblings, or the region, or the loop */
	uint32_t definition;
	uint32_t strength, grains;
	uint32_t first, last; /* the contexts that began first and ended last, GRAIN_NONE */
	uint8_t kind;	      /* enum grain_group_kind */
	bool is_loop;	      /* siblings: they are the chunks of a loop */
	bool critical;
};

struct grain_groups {
	const struct grain_graph *graph;
	struct group_row *rows; /* members come before the groups that they are in */
	uint32_t count;
	uint32_t *members;
	uint32_t member_count;
	uint32_t *of_context;
	/* Per group; NULL where the problem is not available. */
	uint32_t *worst[GRAIN_PROBLEM_COUNT];	/* the grain with the worst value, GRAIN_NONE */
	uint32_t *flagged[GRAIN_PROBLEM_COUNT]; /* grains that have the problem */
};

static inline const uint32_t *groups__members(const struct grain_groups *groups, uint32_t group, uint32_t *n)
{
	*n = groups->rows[group + 1].first_member - groups->rows[group].first_member;
	return &groups->members[groups->rows[group].first_member];
}

/* Computes everything in the rows except the structure. Returns 0 or -ENOMEM. */
int groups__sum_up(struct grain_groups *groups); /* groups_sum.c */

#endif
