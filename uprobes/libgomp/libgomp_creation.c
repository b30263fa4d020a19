// SPDX-License-Identifier: BSD-2-Clause
/* Where GOMP_task has allocated a deferred task, and where it returns from creating it. */
#include "uprobes/code/code_paths.h"
#include "uprobes/libgomp/libgomp_patterns.h"

#include <stdio.h>

static uint32_t home_of(const struct planner *planner, const struct code_range *f, size_t insn,
			uint32_t argument)
{
	struct code_operand home;

	if (!code_paths__argument_home(planner->code, f, insn, planner__argument(planner, argument),
				       argument == TASK_FLAGS, &home))
		return COOKIE_HOME_NONE;
	if (home.type == OPERAND_REG)
		return home.reg;
	return home.value >= 0 && home.value % 4 == 0 && home.value / 4 <= COOKIE_HOME_MAX - COOKIE_HOME_SLOT
		       ? COOKIE_HOME_SLOT + (uint32_t)home.value / 4
		       : COOKIE_HOME_NONE;
}

bool libgomp__task_homes(const struct planner *planner, const struct code_range *f, size_t insn, int *out)
{
	uint32_t flags;

	*out = 0;
	if (code__arch(planner->code)->argument_count <= TASK_DEPENDS)
		return true;
	flags = home_of(planner, f, insn, TASK_FLAGS);
	*out = COOKIE_HOMES(flags, home_of(planner, f, insn, TASK_DEPENDS));
	return flags != COOKIE_HOME_NONE;
}

/* Where GOMP_task has allocated a task. Before this jump no other thread knows the block. */
int libgomp__find_create(struct planner *planner, const struct code_range *f, uint32_t b, size_t *out)
{
	size_t call = CODE_NONE;
	uint32_t reg;
	char reads[64];
	int homes;

	for (size_t i = f->first; i < f->end && call == CODE_NONE; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target && libgomp__is_allocator(planner, in->target))
			call = i;
	}
	if (call == CODE_NONE)
		return planner__refuse(planner, "the allocation of the task in GOMP_task");
	*out = libgomp__allocated(planner, f, call, &reg);
	if (*out == CODE_NONE)
		return planner__refuse(planner,
				       "the conditional jump after the task's allocation in GOMP_task");
	if (!libgomp__task_homes(planner, f, *out, &homes))
		return planner__refuse(planner, "where GOMP_task has the flags of a task");
	snprintf(reads, sizeof(reads), "%s = task, [rbp+8] = call site, flags, depend",
		 planner__reg_name(planner, reg));
	planner__add(planner,
		     &(struct point_spec){.insn = *out,
					  .entry_cookie =
						  cookie__make(RING_TASK_CREATE, COOKIE_ALWAYS, 0, reg,
							       COOKIE_REG_NONE, COOKIE_OF_TASK, b, homes),
					  .event = "task-create",
					  .function = "GOMP_task",
					  .reads = reads});
	return 0;
}

/* GOMP_task takes one of these jumps when it returns from a creation. */
int libgomp__find_create_end(struct planner *planner, const struct code_range *f, size_t create)
{
	struct path_edge edges[PATH_EDGES_MAX];
	size_t count = code_paths__exits(planner->code, f, create, PATH_TAIL_CALLS, edges);

	if (!count)
		return planner__refuse(planner, "a jump on every way out of GOMP_task after a creation");
	for (size_t i = 0; i < count; i++) {
		uint32_t test = code__at(planner->code, edges[i].insn)->test;

		planner__add(planner, &(struct point_spec){.insn = edges[i].insn,
							   .entry_cookie = cookie__make(
								   RING_TASK_CREATE_END, edges[i].when, test,
								   COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 0, 0),
							   .event = "task-create-end",
							   .function = "GOMP_task",
							   .reads = path_edge__text(&edges[i])});
	}
	return 0;
}
