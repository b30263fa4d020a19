/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The edges of the grain graph between contexts as arrows from one item to a
 * later one: creation (fork or region to the first fragment), synchronization
 * (last fragment to the fragment after the wait, of the one that waits) and
 * dependence (last fragment to the first, or to that after the wait). Every
 * arrow has a number of its own.
 */
#ifndef GRAIND_RENDER_FLOWS_H
#define GRAIND_RENDER_FLOWS_H

#include "analysis/grain.h"

struct flows {
	size_t count, items;
	/* Of item i the arrows first[i] .. first[i + 1] - 1: those that leave it, and those that reach it. */
	uint32_t *out_first, *out;
	uint32_t *in_first, *in;
};

/* Time and memory linear in items. 0, -ENOMEM or -E2BIG. */
int flows__fill(struct flows *flows, const struct grain_graph *graph);
void flows__free(struct flows *flows);

#endif
