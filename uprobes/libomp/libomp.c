// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/libomp/libomp.h"
#include "uprobes/libomp/libomp_patterns.h"

int libomp__find(struct planner *planner)
{
	int r;

	if ((r = libomp_tasks__find(planner)) || (r = libomp_teams__find(planner)) ||
	    (r = libomp_waits__find(planner)) || (r = libomp_worksharing__find(planner)) ||
	    (r = libomp_locks__find(planner)))
		return r;
	return 0;
}
