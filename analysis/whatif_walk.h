/* SPDX-License-Identifier: BSD-2-Clause */
/* Work and span with the fragments of one definition scaled, of a graph in which all waits are met. */
#ifndef GRAIND_WHATIF_WALK_H
#define GRAIND_WHATIF_WALK_H

#include "analysis/metrics.h"

/*
 * What metrics__scaled_span finds, and the sum of the weights, in a fraction of
 * its time: a created context is walked before its creator goes on, so that
 * only those that are under way need memory. 1: found. 0: not a graph for this,
 * as a wait's end depends on the order of the walk or on dependences;
 * metrics__scaled_span takes every graph. -ENOMEM.
 */
int whatif_walk__run(const struct grain_graph *graph, const struct metrics_scale *scale, uint64_t *work_ns,
		     uint64_t *span_ns);

#endif
