/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts a group's members in the order of the program, which does not depend on the schedule. */
#ifndef GRAIND_GROUPS_ORDER_H
#define GRAIND_GROUPS_ORDER_H

#include "analysis/graph/graph.h"

/* A member and the item of the parent at which it began. */
struct ordered {
	uint32_t key, member;
};

void order__members(struct ordered *list, size_t n);
/* Sorts chunks of a loop by iterations. Static shares without bounds are sorted by team number. */
void order__chunks(const struct grain_graph *graph, uint32_t *list, size_t n);
/* Sorts implicit tasks of a region by team number. */
void order__team(const struct grain_graph *graph, uint32_t *list, size_t n);
/* Sorts loops of a region by number. */
void order__loops(const struct grain_graph *graph, uint32_t *list, size_t n);
/* Sorts tasks by number. The runtime may have made some of them. */
void order__tasks(const struct grain_graph *graph, uint32_t *list, size_t n);

#endif
