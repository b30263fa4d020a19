// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/libgomp/libgomp.h"
#include "uprobes/libgomp/libgomp_patterns.h"

/*
 * Points of loops, sections and locks are optional: a static executable has only what it uses, and a
 * missing function is never called.
 */
int libgomp__find(struct planner *planner)
{
	int r;

	if ((r = libgomp_tasks__find(planner)) || (r = libgomp_teams__find(planner)) ||
	    (r = libgomp_waits__find(planner)))
		return r;
	libgomp_loops__find(planner);
	libgomp_sections__find(planner);
	libgomp_locks__find(planner);
	libgomp_target__find(planner);
	libgomp_bodies__others(planner);
	return 0;
}
