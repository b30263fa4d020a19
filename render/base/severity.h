/* SPDX-License-Identifier: BSD-2-Clause */
/* Severity: how far a metric is beyond its threshold. */
#ifndef GRAIND_RENDER_SEVERITY_H
#define GRAIND_RENDER_SEVERITY_H

#include "analysis/include/grain.h"

/*
 * The context's severity for a problem. 0: it does not have the problem. Else in (0,1]: 1 - value/threshold
 * for metrics where small is bad, 1 - threshold/value for metrics where large is bad.
 */
double severity__of(const struct grain_context *context, enum grain_problem problem, double threshold);

/* Returns true for metrics that are bad below their threshold. */
bool severity__is_low_bad(enum grain_problem problem);

#endif
