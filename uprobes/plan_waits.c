// SPDX-License-Identifier: BSD-2-Clause
/* Where a task waits: taskwait, the end of a taskgroup, explicit barriers; and who wins a single. */
#include "uprobes/planner.h"

#include <stdio.h>

static const struct {
	const char *function, *event;
	uint32_t wait;
	unsigned needs; /* beyond the branch where there is nothing to wait for */
	bool required;
} waits[] = {
	{"GOMP_taskwait", "taskwait", RING_WAIT_TASKWAIT, 0, true},
	{"GOMP_taskgroup_end", "taskgroup-end", RING_WAIT_TASKGROUP, 0, true},
	{"GOMP_barrier", "barrier", RING_WAIT_BARRIER, ENTRY_PAST_BRANCH, true},
	{"GOMP_barrier_cancel", "barrier", RING_WAIT_BARRIER, ENTRY_PAST_BRANCH, false},
};

static uint64_t plain(uint32_t kind, uint32_t a)
{
	return cookie__make(kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, a, 0, 0);
}

int plan_waits__find(struct planner *planner)
{
	struct code_range f;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (!planner__function(planner, waits[i].function, &f)) {
			if (waits[i].required)
				return planner__refuse(planner, waits[i].function);
			planner__missing(planner, waits[i].function);
			continue;
		}
		planner__add(planner,
			     &(struct point_spec){.insn = planner__entry_point(planner, f.first,
									       waits[i].needs),
						  .entry_cookie = plain(RING_WAIT_BEGIN, waits[i].wait),
						  .return_cookie = plain(RING_WAIT_END, waits[i].wait),
						  .event = waits[i].event,
						  .function = waits[i].function,
						  .reads = "[rsp] = call site"});
	}
	if (planner__function(planner, "GOMP_taskgroup_start", &f))
		planner__add(planner, &(struct point_spec){.insn = planner__entry_point(planner, f.first, 0),
							   .entry_cookie = plain(RING_GROUP_BEGIN, 0),
							   .event = "taskgroup-begin",
							   .function = "GOMP_taskgroup_start",
							   .reads = "[rsp] = call site"});
	else
		return planner__refuse(planner, "GOMP_taskgroup_start");
	if (planner__function(planner, "GOMP_single_start", &f))
		planner__add(planner, &(struct point_spec){.insn = planner__entry_point(planner, f.first, 0),
							   .return_cookie = plain(RING_SINGLE, 0),
							   .event = "single",
							   .function = "GOMP_single_start",
							   .reads = "al = won, at return"});
	else
		return planner__refuse(planner, "GOMP_single_start");
	return 0;
}
