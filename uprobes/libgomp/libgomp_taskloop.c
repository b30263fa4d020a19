// SPDX-License-Identifier: BSD-2-Clause
/*
 * Taskloops. GOMP_taskloop and GOMP_taskloop_ull create their tasks one by one in a loop. They also call
 * the bodies of undeferred tasks.
 */
#include "uprobes/code/code_paths.h"
#include "uprobes/libgomp/libgomp_patterns.h"

#include <stdio.h>

struct taskloop {
	const char *name;
	struct code_range f;
	int64_t fn_offset;
	int depth; /* distance from the frame pointer to the stack pointer at the entry */
};

/* Whether there is a store to the task's field for the body, or a store of the pair of body and data. */
static bool stores_body(const struct planner *planner, size_t from, size_t to, int64_t fn_offset)
{
	for (size_t i = from; i < to; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_NEXT && in->operand_count && in->operand[0].type == OPERAND_MEMORY &&
		    in->operand[0].value == fn_offset && in->operand[0].reg != CODE_REG_SP &&
		    in->operand[0].reg != code__arch(planner->code)->frame_pointer)
			return true;
	}
	return false;
}

/*
 * Finds the loop around an allocation whose block gets a body. The task is created at the first jump after
 * the allocation, and is complete at the loop's end.
 */
static size_t add_creations(struct planner *planner, const struct taskloop *loop)
{
	size_t found = 0, allocations = 0;
	char reads[64];

	for (size_t i = loop->f.first; i < loop->f.end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		size_t create, end;
		uint32_t reg;

		if (in->flow != FLOW_CALL || !in->target || !libgomp__is_allocator(planner, in->target))
			continue;
		if (allocations++ == CALLS_MAX)
			return 0;
		create = libgomp__allocated(planner, &loop->f, i, &reg);
		end = code_paths__loop_end(planner->code, &loop->f, i);
		if (create == CODE_NONE || end == CODE_NONE || create == end ||
		    (loop->fn_offset && !stores_body(planner, end > 48 ? end - 48 : 0, end, loop->fn_offset)))
			continue;
		snprintf(reads, sizeof(reads), "%s = task", planner__reg_name(planner, reg));
		planner__add(planner, &(struct point_spec){.insn = create,
							   .entry_cookie = cookie__make(
								   RING_TASK_CREATE, COOKIE_ALWAYS, 0, reg,
								   COOKIE_REG_NONE, COOKIE_OF_TASKLOOP,
								   !loop->fn_offset, loop->depth),
							   .event = "taskloop-create",
							   .function = loop->name,
							   .reads = reads});
		snprintf(reads, sizeof(reads), loop->fn_offset ? "[[task+%d]] = bounds" : "-",
			 (int)loop->fn_offset + 8);
		planner__add(planner,
			     &(struct point_spec){.insn = end,
						  .entry_cookie = cookie__make(
							  RING_TASK_CREATE_END, COOKIE_ALWAYS, 0,
							  COOKIE_REG_NONE, COOKIE_REG_NONE,
							  COOKIE_OF_TASKLOOP, (uint32_t)loop->depth / 8,
							  loop->fn_offset ? (int)loop->fn_offset + 8 : 0),
						  .event = "taskloop-created",
						  .function = loop->name,
						  .reads = reads});
		found++;
	}
	return found;
}

/*
 * The bodies of undeferred tasks are also called in loops. Their bounds are stored just before the call, so
 * the call itself is the only point at which they are certain to be there.
 */
static size_t add_undeferred(struct planner *planner, const struct taskloop *loop)
{
	size_t found = 0;
	char reads[64];

	for (size_t i = loop->f.first; i < loop->f.end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		enum libgomp_callee callee = libgomp__callee(planner, &loop->f, i);
		const struct code_operand *fn = &in->operand[0];
		uint32_t reg;
		size_t end;

		if (callee == CALLEE_UNKNOWN || found == CALLS_MAX)
			return 0;
		if (callee != CALLEE_BODY)
			continue;
		end = libgomp__next_branch(planner, i + 1);
		if (end == CODE_NONE)
			return 0;
		reg = fn->type == OPERAND_REG ? planner__cookie_reg(fn->reg) : COOKIE_REG_NONE;
		if (reg == COOKIE_REG_NONE)
			snprintf(reads, sizeof(reads), "[rbp%+d] = body, [rdi] = bounds", (int)fn->value);
		else
			snprintf(reads, sizeof(reads), "%s = body, [rdi] = bounds",
				 planner__reg_name(planner, reg));
		planner__add(planner,
			     &(struct point_spec){.insn = i,
						  .entry_cookie = cookie__make(
							  RING_UNDEFERRED_BEGIN, COOKIE_ALWAYS, 0,
							  COOKIE_REG_NONE, reg, COOKIE_OF_TASKLOOP,
							  (uint32_t)loop->depth / 8,
							  reg == COOKIE_REG_NONE ? (int)fn->value : 0),
						  .event = "taskloop-undeferred",
						  .function = loop->name,
						  .reads = reads});
		planner__add(planner,
			     &(struct point_spec){.insn = end,
						  .entry_cookie = libgomp__cookie(RING_UNDEFERRED_END, 0),
						  .event = "undeferred-end",
						  .function = loop->name,
						  .reads = "-"});
		found++;
	}
	return found;
}

int libgomp_taskloop__find(struct planner *planner, int64_t fn_offset)
{
	static const char *const names[] = {"GOMP_taskloop", "GOMP_taskloop_ull"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct taskloop loop = {.name = names[i], .fn_offset = fn_offset};

		if (!planner__function(planner, names[i], &loop.f) ||
		    !code_paths__frame(planner->code, &loop.f, &loop.depth) ||
		    loop.depth > 8 * COOKIE_SMALL_MAX || !add_creations(planner, &loop) ||
		    (fn_offset && !add_undeferred(planner, &loop))) {
			planner__missing(planner, names[i]);
			continue;
		}
		planner__add(planner,
			     &(struct point_spec){
				     .insn = planner__entry_point(planner, loop.f.first, ENTRY_ARGUMENTS),
				     .entry_cookie = libgomp__cookie(RING_TASKLOOP_BEGIN, 0),
				     .return_cookie = libgomp__cookie(RING_TASKLOOP_END, 0),
				     .event = "taskloop-begin/-end",
				     .function = names[i],
				     .reads = "rdi = body, r9d = flags, [rsp] = call site, step"});
	}
	return 0;
}
