// SPDX-License-Identifier: BSD-2-Clause
/* libomp's worksharing constructs and locks. */
#include "uprobes/planner.h"

int plan_libomp_worksharing__find(struct planner *planner)
{
	(void)planner;
	return 0;
}
