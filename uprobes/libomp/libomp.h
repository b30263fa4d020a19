/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the points to probe in libomp, LLVM's OpenMP runtime. */
#ifndef GRAIND_LIBOMP_H
#define GRAIND_LIBOMP_H

#include "uprobes/planner/planner.h"

/* Adds all points to the plan. Returns 0, or -ENOTSUP as planner__refuse(). */
int libomp__find(struct planner *planner);

#endif
