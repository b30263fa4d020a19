/* SPDX-License-Identifier: BSD-2-Clause */
/* How bad the value of a metric is. */
#ifndef GRAIND_RENDER_SEVERITY_H
#define GRAIND_RENDER_SEVERITY_H

#include "analysis/grain.h"

/*
 * 0 when the context is not flagged, else in (0,1]: the distance from the
 * threshold as a ratio, 1 - value/threshold for metrics that are bad when
 * small and 1 - threshold/value for those that are bad when large.
 */
double severity__of(const struct grain_context *context, enum grain_problem problem, double threshold);

/* True for metrics that are bad below their threshold. */
bool severity__is_low_bad(enum grain_problem problem);

#endif
