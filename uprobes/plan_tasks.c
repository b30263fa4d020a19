// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explicit tasks: where GOMP_task has allocated a deferred task and returns
 * from creating it, where the runtime calls a task's body and gets back from
 * it, and the same for bodies that GOMP_task runs at once.
 */
#include "uprobes/code_paths.h"
#include "uprobes/plan_data.h"
#include "uprobes/plan_libgomp.h"

#include <stdio.h>
#include <string.h>

uint64_t libgomp__cookie(uint32_t kind, uint32_t a)
{
	return cookie__make(kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, a, 0, 0);
}

static bool is_malloc(const struct planner *planner, uint64_t target)
{
	const char *name = code__plt_name(planner->code, target);
	const struct elf_function *f;

	if (name)
		return strcmp(name, "malloc") == 0;
	f = elf_image__find(planner->image, "malloc"); /* statically linked */
	return f && f->address == target;
}

bool libgomp__is_allocator(const struct planner *planner, uint64_t target)
{
	size_t at = code__find(planner->code, target);

	if (is_malloc(planner, target))
		return true;
	if (at == CODE_NONE || code__plt_name(planner->code, target))
		return false;
	for (size_t i = at; i < code__count(planner->code) && i < at + 8; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target)
			return is_malloc(planner, in->target);
		if (in->flow != FLOW_NEXT)
			break;
	}
	return false;
}

size_t libgomp__allocated(const struct planner *planner, const struct code_range *f, size_t call,
			  uint32_t *reg)
{
	uint8_t result = code__arch(planner->code)->result, block = result;

	for (size_t i = call + 1; i < f->end && i < call + 64; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_BRANCH) {
			*reg = planner__cookie_reg(block);
			return in->emulated && *reg != COOKIE_REG_NONE ? i : CODE_NONE;
		}
		if (in->flow != FLOW_NEXT)
			break;
		if (block == result && in->op == CODE_COPY && in->operand[0].type == OPERAND_REG &&
		    operand__is(&in->operand[1], result))
			block = in->operand[0].reg;
		else if (insn__writes(in, block))
			break;
	}
	return CODE_NONE;
}

/* Of GOMP_task's arguments. */
enum { TASK_FLAGS = 6, TASK_DEPENDS = 7 };

static uint32_t home_of(const struct planner *planner, const struct code_range *f, size_t insn,
			uint32_t argument)
{
	struct code_operand home;

	if (!code_paths__argument_home(planner, f, insn, planner__argument(planner, argument),
				       argument == TASK_FLAGS, &home))
		return COOKIE_HOME_NONE;
	if (home.type == OPERAND_REG)
		return home.reg;
	return home.value >= 0 && home.value % 4 == 0 && home.value / 4 <= COOKIE_HOME_MAX - COOKIE_HOME_SLOT
		       ? COOKIE_HOME_SLOT + (uint32_t)home.value / 4
		       : COOKIE_HOME_NONE;
}

/* Where the flags and the dependences are that GOMP_task was called with; 0: behind its return address. */
static bool homes_of(const struct planner *planner, const struct code_range *f, size_t insn, int *out)
{
	uint32_t flags;

	*out = 0;
	if (code__arch(planner->code)->argument_count <= TASK_DEPENDS)
		return true;
	flags = home_of(planner, f, insn, TASK_FLAGS);
	*out = COOKIE_HOMES(flags, home_of(planner, f, insn, TASK_DEPENDS));
	return flags != COOKIE_HOME_NONE;
}

/* Where GOMP_task has allocated a task: before this jump nobody else knows the block. */
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
	if (!homes_of(planner, f, *out, &homes))
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

/* GOMP_task returns from a creation over these jumps. */
int libgomp__find_create_end(struct planner *planner, const struct code_range *f, size_t create)
{
	struct path_edge edges[PATH_EDGES_MAX];
	size_t count = code_paths__exits(planner, f, create, PATH_TAIL_CALLS, edges);

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

/* In the `window` instructions before `call`: where `reg` was loaded from. */
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

/* `begin`: the call itself where that is cheap to probe, else the test before it. */
static void add_body(struct planner *planner, size_t begin, size_t end, uint32_t task, uint32_t fn,
		     const char *function)
{
	const struct code_insn *in = code__at(planner->code, begin);
	char reads[64];

	snprintf(reads, sizeof(reads), "%s = task, %s = body", planner__reg_name(planner, task),
		 planner__reg_name(planner, fn));
	planner__add(planner, &(struct point_spec){.insn = begin,
						   .entry_cookie = cookie__make(RING_TASK_BEGIN,
										in->flow == FLOW_CALL
											? COOKIE_ALWAYS
											: COOKIE_IF_NOT_TAKEN,
										in->test, task, fn, 0, 0, 0),
						   .event = "task-begin",
						   .function = function,
						   .reads = reads});
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

/* Whether the conditional jump, or what stands before it, tests whether the register is 0. */
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
 * Where a deferred task's body is called: fn and fn_data are neighbours in the
 * task, fn is tested (target tasks and `taskwait depend nowait` have none) and called:
 *     mov fn, [task+A]; mov rdi, [task+A+8]; test fn, fn; je ...; call fn
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
		add_body(planner, call->emulated ? i : i - 1, end, task, planner__cookie_reg(fn),
			 name_of(planner, i));
		found++;
	}
	if (found < 3)
		return planner__refuse(planner, "the calls of task bodies (barrier, taskwait, taskgroup)");
	*offset = fn_offset;
	return 0;
}

bool libgomp__body_home(const struct planner *planner, const struct code_range *f, struct code_operand *out)
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

enum libgomp_callee libgomp__callee(const struct planner *planner, const struct code_range *f, size_t call)
{
	const struct code_insn *in = code__at(planner->code, call);

	if (in->flow != FLOW_CALL || in->target || !in->operand_count)
		return CALLEE_OTHER;
	if (code_paths__is_argument(planner, f, call, &in->operand[0], planner__argument(planner, 0)))
		return CALLEE_BODY;
	return code_paths__is_argument(planner, f, call, &in->operand[0], planner__argument(planner, 2))
		       ? CALLEE_COPY
		       : CALLEE_UNKNOWN;
}

size_t libgomp__next_branch(const struct planner *planner, size_t from)
{
	for (int steps = 0; steps < 32 && from < code__count(planner->code); steps++) {
		const struct code_insn *in = code__at(planner->code, from);

		if (in->flow == FLOW_BRANCH)
			return in->emulated ? from : CODE_NONE;
		if (in->flow == FLOW_JUMP && in->target)
			from = code__find(planner->code, in->target);
		else if (in->flow == FLOW_NEXT)
			from++;
		else
			return CODE_NONE;
	}
	return CODE_NONE;
}

#define PARTINGS_MAX 8

/*
 * Arguments that came in registers are gone at the call of an undeferred body.
 * They are kept where the ways to it part from those to an allocation.
 */
static int keep_undeferred(struct planner *planner, const struct code_range *f, size_t begin, size_t create)
{
	size_t partings[PARTINGS_MAX], count;

	if (code__arch(planner->code)->argument_count <= TASK_DEPENDS)
		return 0;
	count = code_paths__parting(planner, f, begin, create, partings, PARTINGS_MAX);
	for (size_t i = 0; i < count; i++) {
		size_t at = planner__next_emulated(planner, partings[i], 12);
		int homes;

		if (at == CODE_NONE || at == begin || !homes_of(planner, f, at, &homes)) {
			at = partings[i];
			if (!homes_of(planner, f, at, &homes))
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
 * An undeferred task's body is called inside GOMP_task, at one place without
 * and at one with a copy constructor; the conditional jump that tells them
 * apart is its begin, the first one after either call its end.
 */
static int find_undeferred(struct planner *planner, const struct code_range *f, size_t create)
{
	struct code_operand home;
	size_t begin = CODE_NONE, calls = 0;
	uint32_t reg;
	char reads[64];

	if (!libgomp__body_home(planner, f, &home))
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

int plan_tasks__find(struct planner *planner)
{
	struct code_range f;
	size_t create = CODE_NONE, before = planner->plan->count;
	int64_t fn_offset = 0;
	int depth, r;

	if (!planner__function(planner, "GOMP_task", &f))
		return planner__refuse(planner, "the code of GOMP_task");
	if (!code_paths__frame(planner, &f, &depth))
		return planner__refuse(planner, "a frame pointer in GOMP_task");
	r = libgomp__find_create(planner, &f, 0, &create);
	if (r)
		return r;
	if ((r = libgomp__find_create_end(planner, &f, create)) || (r = find_bodies(planner, &fn_offset)) ||
	    (r = find_undeferred(planner, &f, create))) {
		planner__go_back(planner, before);
		return plan_bodies__tasks(planner);
	}
	return plan_taskloop__find(planner, fn_offset);
}
