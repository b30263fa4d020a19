/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the points to probe in libgomp, GCC's OpenMP runtime. */
#ifndef GRAIND_LIBGOMP_H
#define GRAIND_LIBGOMP_H

#include "uprobes/planner/planner.h"

/* Adds all points to the plan. Returns 0, or -ENOTSUP as planner__refuse(). */
int libgomp__find(struct planner *planner);

#endif
