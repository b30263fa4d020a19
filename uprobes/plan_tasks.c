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
	uint16_t block = X86_REG_RAX;

	for (size_t i = call + 1; i < f->end && i < call + 64; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_BRANCH) {
			*reg = planner__cookie_reg(block);
			return in->emulated && *reg != COOKIE_REG_NONE ? i : CODE_NONE;
		}
		if (in->flow != FLOW_NEXT)
			break;
		if (block == X86_REG_RAX && in->id == X86_INS_MOV && in->operand[0].type == X86_OP_REG &&
		    in->operand[1].type == X86_OP_REG && in->operand[1].reg == X86_REG_RAX)
			block = in->operand[0].reg;
		else if (insn__writes(in, block))
			break;
	}
	return CODE_NONE;
}

/* Where GOMP_task has allocated a task: before this jump nobody else knows the block. */
int libgomp__find_create(struct planner *planner, const struct code_range *f, uint32_t b, size_t *out)
{
	size_t call = CODE_NONE;
	uint32_t reg;
	char reads[64];

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
	snprintf(reads, sizeof(reads), "%s = task, [rbp+8] = call site, flags, depend",
		 cookie_reg__name(reg));
	planner__add(planner,
		     &(struct point_spec){.insn = *out,
					  .entry_cookie =
						  cookie__make(RING_TASK_CREATE, COOKIE_ALWAYS, 0, reg,
							       COOKIE_REG_NONE, COOKIE_OF_TASK, b, 0),
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
		uint32_t condition = code__at(planner->code, edges[i].insn)->condition;

		planner__add(planner,
			     &(struct point_spec){.insn = edges[i].insn,
						  .entry_cookie =
							  cookie__make(RING_TASK_CREATE_END, edges[i].when,
								       condition, COOKIE_REG_NONE,
								       COOKIE_REG_NONE, 0, 0, 0),
						  .event = "task-create-end",
						  .function = "GOMP_task",
						  .reads = path_edge__text(&edges[i])});
	}
	return 0;
}

size_t libgomp__load_before(const struct planner *planner, size_t call, uint16_t reg, size_t window)
{
	for (size_t i = call; i > 0 && i + window > call; i--) {
		const struct code_insn *in = code__at(planner->code, i - 1);

		if (in->flow != FLOW_NEXT && in->flow != FLOW_BRANCH)
			return CODE_NONE;
		if (in->id == X86_INS_MOV && in->operand[0].type == X86_OP_REG && in->operand[0].reg == reg)
			return in->operand[1].type == X86_OP_MEM ? i - 1 : CODE_NONE;
		if (insn__writes(in, reg))
			return CODE_NONE;
	}
	return CODE_NONE;
}

static void add_body(struct planner *planner, size_t begin, size_t end, uint32_t task, uint32_t fn,
		     const char *function)
{
	char reads[64];

	snprintf(reads, sizeof(reads), "%s = task, %s = body", cookie_reg__name(task), cookie_reg__name(fn));
	planner__add(planner,
		     &(struct point_spec){.insn = begin,
					  .entry_cookie =
						  cookie__make(RING_TASK_BEGIN, COOKIE_IF_NOT_TAKEN,
							       code__at(planner->code, begin)->condition,
							       task, fn, 0, 0, 0),
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
		const struct code_insn *test = code__at(planner->code, i - 2), *fn_load, *data_load;
		uint16_t fn = call->operand_count ? call->operand[0].reg : 0;
		uint32_t task;
		size_t a, b, end;

		if (call->flow != FLOW_CALL || call->operand[0].type != X86_OP_REG ||
		    code__at(planner->code, i - 1)->flow != FLOW_BRANCH ||
		    !code__at(planner->code, i - 1)->emulated || test->id != X86_INS_TEST ||
		    test->operand[0].type != X86_OP_REG || test->operand[0].reg != fn)
			continue;
		a = libgomp__load_before(planner, i - 1, fn, 8);
		b = libgomp__load_before(planner, i - 1, X86_REG_RDI, 8);
		if (a == CODE_NONE || b == CODE_NONE)
			continue;
		fn_load = code__at(planner->code, a);
		data_load = code__at(planner->code, b);
		task = planner__cookie_reg(fn_load->operand[1].reg);
		if (task == COOKIE_REG_NONE || fn_load->operand[1].reg != data_load->operand[1].reg ||
		    fn_load->operand[1].segment || fn_load->operand[1].reg == fn ||
		    fn_load->operand[1].value <= 0 ||
		    data_load->operand[1].value - fn_load->operand[1].value != 8)
			continue;
		if (found && fn_load->operand[1].value != fn_offset)
			return planner__refuse(planner, "one layout of the task structure");
		fn_offset = fn_load->operand[1].value;
		end = planner__next_emulated(planner, i + 1, 24);
		if (end == CODE_NONE)
			return planner__refuse(planner, "an instruction to probe after a task's body");
		add_body(planner, i - 1, end, task, planner__cookie_reg(fn), name_of(planner, i));
		found++;
	}
	if (found < 3)
		return planner__refuse(planner, "the calls of task bodies (barrier, taskwait, taskgroup)");
	*offset = fn_offset;
	return 0;
}

bool libgomp__body_home(const struct planner *planner, const struct code_range *f, struct code_operand *out)
{
	for (size_t i = f->first; i < f->end && i < f->first + 48; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->id == X86_INS_MOV && in->operand[1].type == X86_OP_REG &&
		    in->operand[1].reg == X86_REG_RDI) {
			*out = in->operand[0];
			return out->type == X86_OP_REG || out->reg == X86_REG_RBP;
		}
		if (in->flow == FLOW_CALL || insn__writes(in, X86_REG_RDI))
			return false;
	}
	return false;
}

enum libgomp_callee libgomp__callee(const struct planner *planner, const struct code_range *f, size_t call)
{
	const struct code_insn *in = code__at(planner->code, call);

	if (in->flow != FLOW_CALL || in->target || !in->operand_count)
		return CALLEE_OTHER;
	if (code_paths__is_argument(planner, f, call, &in->operand[0], X86_REG_RDI))
		return CALLEE_BODY;
	return code_paths__is_argument(planner, f, call, &in->operand[0], X86_REG_RDX) ? CALLEE_COPY
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

/*
 * An undeferred task's body is called inside GOMP_task, at one place without
 * and at one with a copy constructor; the conditional jump that tells them
 * apart is its begin, the first one after either call its end.
 */
static int find_undeferred(struct planner *planner, const struct code_range *f)
{
	struct code_operand home;
	size_t begin = CODE_NONE, calls = 0;
	uint32_t reg;
	char reads[64];

	if (!libgomp__body_home(planner, f, &home))
		return planner__refuse(planner, "where GOMP_task keeps the body");
	reg = home.type == X86_OP_REG ? planner__cookie_reg(home.reg) : COOKIE_REG_NONE;
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
			 cookie_reg__name(reg));
	planner__add(planner,
		     &(struct point_spec){.insn = begin,
					  .entry_cookie =
						  cookie__make(RING_UNDEFERRED_BEGIN, COOKIE_ALWAYS, 0,
							       COOKIE_REG_NONE, reg, 0, 0, (int)home.value),
					  .event = "undeferred-begin",
					  .function = "GOMP_task",
					  .reads = reads});
	return 0;
}

int plan_tasks__find(struct planner *planner)
{
	struct code_range f;
	size_t create = CODE_NONE, before = planner->plan->count;
	int64_t fn_offset = 0;
	int r;

	if (!planner__function(planner, "GOMP_task", &f))
		return planner__refuse(planner, "the code of GOMP_task");
	if (!code_paths__has_frame_pointer(planner, &f))
		return planner__refuse(planner, "a frame pointer in GOMP_task");
	r = libgomp__find_create(planner, &f, 0, &create);
	if (r)
		return r;
	if ((r = libgomp__find_create_end(planner, &f, create)) || (r = find_bodies(planner, &fn_offset)) ||
	    (r = find_undeferred(planner, &f))) {
		planner__go_back(planner, before);
		return plan_bodies__tasks(planner);
	}
	return plan_taskloop__find(planner, fn_offset);
}
