/* SPDX-License-Identifier: BSD-2-Clause */
/* Work and span with scaled fragments of one definition, for graphs in which every wait is met. */
#ifndef GRAIND_WHATIF_WALK_H
#define GRAIND_WHATIF_WALK_H

#include "analysis/metrics/metrics.h"

/*
 * Computes what metrics__scaled_span() finds, and the sum of the weights, in a fraction of the time. It walks
 * a created context before its creator goes on, so only contexts in progress need memory. Returns 1 when
 * done. Returns 0 if it cannot handle this graph, because the end of a wait depends on the order of the walk
 * or on dependences; metrics__scaled_span() handles every graph. Or returns -ENOMEM.
 */
int whatif_walk__run(const struct grain_graph *graph, const struct metrics_scale *scale, uint64_t *work_ns,
		     uint64_t *span_ns);

#endif
