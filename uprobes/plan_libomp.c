// SPDX-License-Identifier: BSD-2-Clause
/* The points of LLVM's OpenMP runtime. */
#include "uprobes/planner.h"

int plan_libomp__find(struct planner *planner)
{
	int r = planner__refuse(planner, "the entry points of tasks");

	return r ? r : plan_libomp_worksharing__find(planner);
}
