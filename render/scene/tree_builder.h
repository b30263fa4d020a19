/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the tree's construction share. */
#ifndef GRAIND_RENDER_TREE_BUILD_H
#define GRAIND_RENDER_TREE_BUILD_H

#include "render/scene/scene.h"
#include "render/scene/tree.h"

struct tree_child {
	uint32_t index; /* context, or a region whose start was not seen */
	uint32_t phase;
	bool is_region;
};

struct tree_builder {
	struct tree *tree;
	const struct outline *outline;
	enum grain_problem problem;
	double threshold;
	struct tree_sum *sums;	      /* per context: sums over itself and everything below it */
	struct tree_sum *region_sums; /* sums of regions whose start was not seen */
	uint8_t *has_below;
	uint32_t *join_phase, *join_owner, *join_waiter; /* per join, for the context that is being opened */
	struct tree_phase *phases;
	size_t phase_count, phase_capacity;
	struct tree_child *children, *sorted;
	size_t child_count, child_capacity, sorted_capacity;
	uint32_t *heap; /* heap of nodes; the node with the most time comes first */
	size_t heap_count, heap_capacity;
	size_t max_nodes, max_groups, max_siblings, max_joins, max_levels;
};

void tree_sum__add(struct tree_sum *to, const struct tree_sum *sum);
/* Adds a context and the chunks that it executed to a sum. */
void tree_build__add_context(const struct tree_builder *b, struct tree_sum *to, uint32_t context);
/* Fills sums, region_sums and has_below. */
void tree_build__sum_up(struct tree_builder *b);

/*
 * Finds what is below a context, or below a region whose start was not seen: its phases, and the sorted
 * children of each. Folds neighbouring phases until max_joins are left. Returns false if out of memory.
 */
bool tree_build__gather(struct tree_builder *b, uint32_t index, bool is_region);
bool tree_build__add_child(struct tree_builder *b, uint32_t index, bool is_region);

#endif
