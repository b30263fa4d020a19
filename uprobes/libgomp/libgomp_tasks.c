// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explicit tasks: their creation, the place where the runtime calls a task's body and returns from it, and
 * the same for bodies that GOMP_task runs at once.
 */
#include "uprobes/code/code_paths.h"
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/plan/plan_data.h"

#include <stdio.h>

/* Finds where `reg` was loaded from, in the `window` instructions before `call`. */
static bool loaded_before(const struct planner *planner, size_t call, uint8_t reg, size_t window,
			  struct code_operand *from)
{
	struct code_operand to;

	for (size_t i = call; i > 0 && i + window > call; i--) {
		const struct code_insn *in = code__at(planner->code, i - 1);

		if (in->flow != FLOW_NEXT && in->flow != FLOW_BRANCH)
			return false;
		if (!insn__writes(in, reg))
			continue;
		for (int k = 0; insn__move(in, k, &to, from); k++)
			if (operand__is(&to, reg))
				return from->type == OPERAND_MEMORY && from->index == CODE_REG_NONE &&
				       !from->thread;
		return false;
	}
	return false;
}

static void add_begin(struct planner *planner, size_t begin, uint32_t when, uint32_t task, uint32_t fn,
		      const char *function)
{
	char reads[64];

	snprintf(reads, sizeof(reads), "%s = task, %s = body", planner__reg_name(planner, task),
		 planner__reg_name(planner, fn));
	planner__add(planner,
		     &(struct point_spec){.insn = begin,
					  .entry_cookie = cookie__make(RING_TASK_BEGIN, when,
								       code__at(planner->code, begin)->test,
								       task, fn, 0, 0, 0),
					  .event = "task-begin",
					  .function = function,
					  .reads = reads});
}

/*
 * Adds `call` and the test before it. Tasks without a body are seen only at the test, other tasks at the
 * call if it is cheap to probe.
 */
static void add_body(struct planner *planner, size_t call, size_t end, uint32_t task, uint32_t fn,
		     const char *function)
{
	bool apart = code__at(planner->code, call)->emulated;

	add_begin(planner, call - 1, apart ? COOKIE_IF_TAKEN : COOKIE_ALWAYS, task, fn, function);
	if (apart)
		add_begin(planner, call, COOKIE_ALWAYS, task, fn, function);
	planner__add(planner, &(struct point_spec){.insn = end,
						   .entry_cookie = cookie__make(RING_TASK_END, COOKIE_ALWAYS,
										0, COOKIE_REG_NONE,
										COOKIE_REG_NONE, 0, 0, 0),
						   .event = "task-end",
						   .function = function,
						   .reads = "-"});
}

static const char *name_of(const struct planner *planner, size_t insn)
{
	uint64_t address = code__at(planner->code, insn)->address;

	for (size_t i = 0; i < elf_image__function_count(planner->image); i++) {
		const struct elf_function *f = elf_image__function(planner->image, i);

		if (address >= f->address && address < f->address + f->size)
			return f->name;
	}
	return "(internal)";
}

/* Whether the conditional jump, or the instruction before it, tests whether the register is 0. */
static bool tests_register(const struct planner *planner, size_t branch, uint8_t reg)
{
	const struct code_insn *in = code__at(planner->code, branch),
			       *test = code__at(planner->code, branch - 1);

	if (in->flow != FLOW_BRANCH || !in->emulated)
		return false;
	if (in->test & COOKIE_TEST_REGISTER)
		return (in->test & 31) == reg && !(in->test & COOKIE_TEST_SET);
	return test->op == CODE_TEST && test->operand[0].type == OPERAND_REG && test->operand[0].reg == reg;
}

/*
 * Where a deferred task's body is called. fn and fn_data are neighbours in the task. The code tests fn,
 * because target tasks and `taskwait depend nowait` have none, and then calls it: mov fn, [task+A]; mov
 * rdi, [task+A+8]; test fn, fn; je ...; call fn
 */
static int find_bodies(struct planner *planner, int64_t *offset)
{
	size_t found = 0;
	int64_t fn_offset = 0;

	for (size_t i = 4; i < code__count(planner->code); i++) {
		const struct code_insn *call = code__at(planner->code, i);
		uint8_t fn = call->operand_count ? call->operand[0].reg : CODE_REG_NONE;
		struct code_operand fn_from, data_from;
		uint32_t task;
		size_t end;

		if (call->flow != FLOW_CALL || call->operand[0].type != OPERAND_REG ||
		    !tests_register(planner, i - 1, fn) || !loaded_before(planner, i - 1, fn, 8, &fn_from) ||
		    !loaded_before(planner, i - 1, planner__argument(planner, 0), 8, &data_from))
			continue;
		task = planner__cookie_reg(fn_from.reg);
		if (task == COOKIE_REG_NONE || fn_from.reg != data_from.reg || fn_from.reg == fn ||
		    fn_from.value <= 0 || data_from.value - fn_from.value != 8)
			continue;
		if (found && fn_from.value != fn_offset)
			return planner__refuse(planner, "one layout of the task structure");
		fn_offset = fn_from.value;
		end = planner__next_emulated(planner, i + 1, 24);
		if (end == CODE_NONE)
			return planner__refuse(planner, "an instruction to probe after a task's body");
		add_body(planner, i, end, task, planner__cookie_reg(fn), name_of(planner, i));
		found++;
	}
	if (found < 3)
		return planner__refuse(planner, "the calls of task bodies (barrier, taskwait, taskgroup)");
	*offset = fn_offset;
	return 0;
}

/* Finds where the function keeps its first argument, the body: in a slot of its frame or in a register. */
static bool body_home(const struct planner *planner, const struct code_range *f, struct code_operand *out)
{
	const struct code_arch *arch = code__arch(planner->code);

	for (size_t i = f->first; i < f->end && i < f->first + 48; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		struct code_operand from;

		for (int k = 0; insn__move(in, k, out, &from); k++)
			if (operand__is(&from, arch->argument[0]))
				return out->type == OPERAND_REG || out->reg == arch->frame_pointer;
		if (in->flow == FLOW_CALL || insn__writes(in, arch->argument[0]))
			return false;
	}
	return false;
}

#define PARTINGS_MAX 8

/*
 * Arguments that came in registers are gone at the call of an undeferred body. So they are kept where the
 * paths to it part from the paths to an allocation.
 */
static int keep_undeferred(struct planner *planner, const struct code_range *f, size_t begin, size_t create)
{
	size_t partings[PARTINGS_MAX], count;

	if (code__arch(planner->code)->argument_count <= TASK_DEPENDS)
		return 0;
	count = code_paths__parting(planner->code, f, begin, create, partings, PARTINGS_MAX);
	for (size_t i = 0; i < count; i++) {
		size_t at = planner__next_emulated(planner, partings[i], 12);
		int homes;

		if (at == CODE_NONE || at == begin || !libgomp__task_homes(planner, f, at, &homes)) {
			at = partings[i];
			if (!libgomp__task_homes(planner, f, at, &homes))
				count = 0;
		}
		planner__add(planner,
			     &(struct point_spec){.insn = at,
						  .entry_cookie =
							  cookie__make(RING_UNDEFERRED_BEGIN, COOKIE_ALWAYS,
								       0, COOKIE_REG_NONE, COOKIE_REG_NONE,
								       COOKIE_OF_TASK, COOKIE_UNDEFERRED_KEEP,
								       homes),
						  .event = "undeferred-call",
						  .function = "GOMP_task",
						  .reads = "flags, depend"});
	}
	return count ? 0 : planner__refuse(planner, "where GOMP_task has the flags of an undeferred task");
}

/*
 * GOMP_task itself calls an undeferred task's body, at one place without and at another one with a copy
 * constructor. The task begins at the conditional jump that chooses between the two, and ends at the first
 * one after either call.
 */
static int find_undeferred(struct planner *planner, const struct code_range *f, size_t create)
{
	struct code_operand home;
	size_t begin = CODE_NONE, calls = 0;
	uint32_t reg;
	char reads[64];

	if (!body_home(planner, f, &home))
		return planner__refuse(planner, "where GOMP_task keeps the body");
	reg = home.type == OPERAND_REG ? planner__cookie_reg(home.reg) : COOKIE_REG_NONE;
	for (size_t i = f->first; i < f->end; i++) {
		enum libgomp_callee callee;
		size_t end;

		callee = libgomp__callee(planner, f, i);
		if (callee == CALLEE_UNKNOWN || calls == CALLS_MAX)
			return planner__refuse(planner, "what GOMP_task calls");
		if (callee != CALLEE_BODY)
			continue;
		end = libgomp__next_branch(planner, i + 1);
		if (end == CODE_NONE)
			return planner__refuse(planner, "an instruction to probe after an undeferred body");
		calls++;
		planner__add(planner, &(struct point_spec){.insn = end,
							   .entry_cookie = cookie__make(
								   RING_UNDEFERRED_END, COOKIE_ALWAYS, 0,
								   COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 0, 0),
							   .event = "undeferred-end",
							   .function = "GOMP_task",
							   .reads = "-"});
		for (size_t j = i; begin == CODE_NONE && j > f->first && i - j < 6; j--) {
			const struct code_insn *in = code__at(planner->code, j - 1);

			if (in->flow == FLOW_BRANCH && in->emulated)
				begin = j - 1;
			else if (in->flow != FLOW_NEXT)
				break;
		}
	}
	if (!calls || begin == CODE_NONE)
		return planner__refuse(planner, "the call of undeferred bodies in GOMP_task");
	if (reg == COOKIE_REG_NONE)
		snprintf(reads, sizeof(reads), "[rbp%+d] = body, [rbp+8] = call site, flags",
			 (int)home.value);
	else
		snprintf(reads, sizeof(reads), "%s = body, [rbp+8] = call site, flags",
			 planner__reg_name(planner, reg));
	planner__add(planner,
		     &(struct point_spec){.insn = begin,
					  .entry_cookie =
						  cookie__make(RING_UNDEFERRED_BEGIN, COOKIE_ALWAYS, 0,
							       COOKIE_REG_NONE, reg, 0, 0, (int)home.value),
					  .event = "undeferred-begin",
					  .function = "GOMP_task",
					  .reads = reads});
	return keep_undeferred(planner, f, begin, create);
}

int libgomp_tasks__find(struct planner *planner)
{
	struct code_range f;
	size_t create = CODE_NONE, before = planner->plan->count;
	int64_t fn_offset = 0;
	int depth, r;

	if (!planner__function(planner, "GOMP_task", &f))
		return planner__refuse(planner, "the code of GOMP_task");
	if (!code_paths__frame(planner->code, &f, &depth))
		return planner__refuse(planner, "a frame pointer in GOMP_task");
	r = libgomp__find_create(planner, &f, 0, &create);
	if (r)
		return r;
	if ((r = libgomp__find_create_end(planner, &f, create)) || (r = find_bodies(planner, &fn_offset)) ||
	    (r = find_undeferred(planner, &f, create))) {
		planner__go_back(planner, before);
		return libgomp_bodies__tasks(planner);
	}
	return libgomp_taskloop__find(planner, fn_offset);
}
