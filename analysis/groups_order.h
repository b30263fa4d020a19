/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of a group's members: that of the program, whatever the schedule was. */
#ifndef GRAIND_GROUPS_ORDER_H
#define GRAIND_GROUPS_ORDER_H

#include "analysis/graph.h"

/* A member and the item of the parent at which it began. */
struct ordered {
	uint32_t key, member;
};

void order__members(struct ordered *list, size_t n);
/* Chunks of a loop by their iterations, hidden shares by their place in the team. */
void order__chunks(const struct grain_graph *graph, uint32_t *list, size_t n);
/* Implicit tasks of a region by their place in the team. */
void order__team(const struct grain_graph *graph, uint32_t *list, size_t n);
/* Loops of a region by their numbers. */
void order__loops(const struct grain_graph *graph, uint32_t *list, size_t n);
/* Tasks of which the runtime made some: by their numbers. */
void order__tasks(const struct grain_graph *graph, uint32_t *list, size_t n);

#endif
