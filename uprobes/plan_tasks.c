// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explicit tasks: where GOMP_task has allocated a deferred task and returns
 * from creating it, where the runtime calls a task's body and gets back from
 * it, and the same for bodies that GOMP_task runs at once.
 */
#include "uprobes/planner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `mov rN, rsp`-based frame at the start of the function: [rbp+8] is its return address. */
static bool has_frame_pointer(const struct planner *planner, const struct code_range *f)
{
	bool pushed = false;

	for (size_t i = f->first; i < f->end && i < f->first + 12; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->id == X86_INS_PUSH && !pushed) {
			if (in->operand[0].reg != X86_REG_RBP)
				return false;
			pushed = true;
		} else if (pushed && in->id == X86_INS_MOV && in->operand[0].type == X86_OP_REG &&
			   in->operand[0].reg == X86_REG_RBP && in->operand[1].type == X86_OP_REG &&
			   in->operand[1].reg == X86_REG_RSP) {
			return true;
		}
	}
	return false;
}

/* Whether `target` is a small function around malloc (gomp_malloc), or malloc's PLT entry. */
static bool is_allocator(const struct planner *planner, uint64_t target)
{
	const char *name = code__plt_name(planner->code, target);
	size_t at = code__find(planner->code, target);

	if (name)
		return strcmp(name, "malloc") == 0;
	if (at == CODE_NONE)
		return false;
	for (size_t i = at; i < code__count(planner->code) && i < at + 8; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target) {
			name = code__plt_name(planner->code, in->target);
			return name && strcmp(name, "malloc") == 0;
		}
		if (in->flow != FLOW_NEXT)
			break;
	}
	return false;
}

/*
 * The first conditional jump after the allocation of the task block, and the
 * register that holds the block there. Before it nobody else knows the block.
 */
static int find_create(struct planner *planner, const struct code_range *f, size_t *out)
{
	size_t call = CODE_NONE;
	uint16_t block = X86_REG_RAX;
	char reads[64];

	for (size_t i = f->first; i < f->end && call == CODE_NONE; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target && is_allocator(planner, in->target))
			call = i;
	}
	if (call == CODE_NONE)
		return planner__refuse(planner, "the allocation of the task in GOMP_task");
	for (size_t i = call + 1; i < f->end && i < call + 64; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_BRANCH) {
			uint32_t reg = planner__cookie_reg(block);

			if (!in->emulated || reg == COOKIE_REG_NONE)
				break;
			snprintf(reads, sizeof(reads), "%s = task, [rbp+8] = call site, flags",
				 cookie_reg__name(reg));
			planner__add(planner, &(struct point_spec){.insn = i,
								   .entry_cookie = cookie__make(
									   RING_TASK_CREATE, COOKIE_ALWAYS, 0,
									   reg, COOKIE_REG_NONE, 0, 0, 0),
								   .event = "task-create",
								   .function = "GOMP_task",
								   .reads = reads});
			*out = i;
			return 0;
		}
		if (in->flow != FLOW_NEXT)
			break;
		if (block == X86_REG_RAX && in->id == X86_INS_MOV && in->operand[0].type == X86_OP_REG &&
		    in->operand[1].type == X86_OP_REG && in->operand[1].reg == X86_REG_RAX)
			block = in->operand[0].reg;
		else if (insn__writes(in, block))
			break;
	}
	return planner__refuse(planner, "the conditional jump after the task's allocation in GOMP_task");
}

static bool is_epilogue(const struct code_insn *in)
{
	return in->id == X86_INS_POP || in->id == X86_INS_LEAVE ||
	       (in->flow == FLOW_NEXT && in->operand_count && in->operand[0].type == X86_OP_REG &&
		in->operand[0].reg == X86_REG_RSP);
}

static void add_create_end(struct planner *planner, size_t insn, uint32_t when)
{
	const struct code_insn *in = code__at(planner->code, insn);

	planner__add(planner,
		     &(struct point_spec){.insn = insn,
					  .entry_cookie =
						  cookie__make(RING_TASK_CREATE_END, when, in->condition,
							       COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 0, 0),
					  .event = "task-create-end",
					  .function = "GOMP_task",
					  .reads = when == COOKIE_ALWAYS     ? "-"
						   : when == COOKIE_IF_TAKEN ? "- (if it jumps)"
									     : "- (if it does not jump)"});
}

/*
 * GOMP_task returns from a creation over the edges that lead from the code
 * after the allocation into the function's epilogue. Each is a jump; at each
 * the condition says whether it will be taken.
 */
static int find_create_end(struct planner *planner, const struct code_range *f, size_t create)
{
	size_t *work = calloc(f->end - f->first, sizeof(*work)), pending = 0, found = 0;
	bool *seen = calloc(f->end - f->first, sizeof(*seen)), *exit_insn = calloc(f->end - f->first, 1);
	int r = -ENOMEM;

	if (!work || !seen || !exit_insn)
		goto out;
	for (size_t i = f->first; i < f->end; i++) {
		if (code__at(planner->code, i)->flow != FLOW_RETURN)
			continue;
		exit_insn[i - f->first] = true;
		for (size_t j = i; j > f->first && is_epilogue(code__at(planner->code, j - 1)); j--)
			exit_insn[j - 1 - f->first] = true;
	}
	work[pending++] = create;
	seen[create - f->first] = true;
	while (pending) {
		size_t i = work[--pending];
		const struct code_insn *in = code__at(planner->code, i);
		size_t next[2] = {CODE_NONE, CODE_NONE};

		if (in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH)
			next[0] = i + 1;
		if ((in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP) && in->target)
			next[1] = code__find(planner->code, in->target);
		for (int k = 0; k < 2; k++) {
			bool inside = next[k] != CODE_NONE && next[k] >= f->first && next[k] < f->end;

			if (!inside)
				continue;
			if (exit_insn[next[k] - f->first]) {
				if (in->flow == FLOW_NEXT || in->flow == FLOW_CALL) {
					r = planner__refuse(planner, "a jump on every way out of GOMP_task");
					goto out;
				}
				add_create_end(planner, i,
					       in->flow == FLOW_JUMP ? COOKIE_ALWAYS
					       : k == 1		     ? COOKIE_IF_TAKEN
								     : COOKIE_IF_NOT_TAKEN);
				found++;
			} else if (!seen[next[k] - f->first]) {
				seen[next[k] - f->first] = true;
				work[pending++] = next[k];
			}
		}
	}
	r = found ? 0 : planner__refuse(planner, "the return of GOMP_task after a creation");
out:
	free(work);
	free(seen);
	free(exit_insn);
	return r;
}

/* In the `window` instructions before `call`: the load of `reg` from memory, or CODE_NONE. */
static size_t load_before(const struct planner *planner, size_t call, uint16_t reg, size_t window)
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
					  .entry_cookie = cookie__make(RING_TASK_BEGIN, COOKIE_ALWAYS, 0,
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
 * task, fn is tested (a target task has none) and called:
 *     mov fn, [task+A]; mov rdi, [task+A+8]; test fn, fn; je ...; call fn
 */
static int find_bodies(struct planner *planner)
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
		a = load_before(planner, i - 1, fn, 8);
		b = load_before(planner, i - 1, X86_REG_RDI, 8);
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
	return 0;
}

/* Where GOMP_task keeps its first argument, the body: a slot of its frame or a register. */
static bool find_fn_home(const struct planner *planner, const struct code_range *f, struct code_operand *out)
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

/* The call goes to the body kept in `home`: directly, or loaded from it in the instructions before. */
static bool calls_home(const struct planner *planner, size_t call, const struct code_operand *home)
{
	const struct code_insn *in = code__at(planner->code, call);
	size_t load;

	if (in->flow != FLOW_CALL || !in->operand_count)
		return false;
	if (in->operand[0].type == X86_OP_MEM)
		return home->type == X86_OP_MEM && in->operand[0].reg == home->reg &&
		       in->operand[0].value == home->value;
	if (in->operand[0].type != X86_OP_REG)
		return false;
	if (home->type == X86_OP_REG)
		return in->operand[0].reg == home->reg;
	load = load_before(planner, call, in->operand[0].reg, 4);
	return load != CODE_NONE && code__at(planner->code, load)->operand[1].reg == home->reg &&
	       code__at(planner->code, load)->operand[1].value == home->value;
}

/* The first conditional jump that control reaches from `from`, along unconditional jumps. */
static size_t next_branch(const struct planner *planner, size_t from)
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

	if (!find_fn_home(planner, f, &home))
		return planner__refuse(planner, "where GOMP_task keeps the body");
	reg = home.type == X86_OP_REG ? planner__cookie_reg(home.reg) : COOKIE_REG_NONE;
	for (size_t i = f->first; i < f->end; i++) {
		size_t end;

		if (!calls_home(planner, i, &home))
			continue;
		end = next_branch(planner, i + 1);
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
	size_t create = CODE_NONE;
	int r;

	if (!planner__function(planner, "GOMP_task", &f))
		return planner__refuse(planner, "the code of GOMP_task");
	if (!has_frame_pointer(planner, &f))
		return planner__refuse(planner, "a frame pointer in GOMP_task");
	if ((r = find_create(planner, &f, &create)) || (r = find_create_end(planner, &f, create)))
		return r;
	if ((r = find_bodies(planner)) || (r = find_undeferred(planner, &f)))
		return r;
	return 0;
}
