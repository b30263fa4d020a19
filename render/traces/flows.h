/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The edges of the grain graph between contexts, as arrows from one item to a later one. Creation: from a
 * fork or region to the first fragment. Synchronization: from the last fragment to the waiter's fragment
 * after the wait. Dependence: from the last fragment to the first fragment of the successor, or to the
 * fragment after the wait. Each arrow has its own number.
 */
#ifndef GRAIND_RENDER_FLOWS_H
#define GRAIND_RENDER_FLOWS_H

#include "analysis/include/grain.h"

struct flows {
	size_t count, items;
	/*
	 * Item i has the arrows first[i] .. first[i + 1] - 1. The arrays out have those that leave the item,
	 * the arrays in those that reach it.
	 */
	uint32_t *out_first, *out;
	uint32_t *in_first, *in;
};

/* Finds all arrows. Takes time and memory in proportion to the items. Returns 0, -ENOMEM or -E2BIG. */
int flows__fill(struct flows *flows, const struct grain_graph *graph);
void flows__free(struct flows *flows);

#endif
