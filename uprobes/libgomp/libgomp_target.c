// SPDX-License-Identifier: BSD-2-Clause
/*
 * Target regions that run on the host. GOMP_target_ext calls one function that runs the region at once, and
 * another one that makes it a task (nowait). Such a task has no body of its own: at the place where the
 * runtime calls bodies, it takes another path (libgomp_tasks.c).
 */
#include "uprobes/code/code_paths.h"
#include "uprobes/libgomp/libgomp_patterns.h"
#include "uprobes/plan/plan_data.h"

#include <stdio.h>

/* This is far enough for the functions that are looked for. */
#define CALLEE_MAX 600

/*
 * The function at `address` up to its first return. Code behind the return is for rare cases and comes back
 * with the same values.
 */
static bool function_at(const struct planner *planner, uint64_t address, struct code_range *out)
{
	size_t first = address ? code__find(planner->code, address) : CODE_NONE;

	if (first == CODE_NONE || code__plt_name(planner->code, address))
		return false;
	for (size_t i = first; i < code__count(planner->code) && i < first + CALLEE_MAX; i++)
		if (code__at(planner->code, i)->flow == FLOW_RETURN) {
			*out = (struct code_range){first, i + 1};
			return true;
		}
	return false;
}

/* The place where the function calls its first argument, if that is its first indirect call. */
static size_t call_of_body(const struct planner *planner, const struct code_range *f)
{
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && !in->target && in->operand_count)
			return libgomp__callee(planner, f, i) == CALLEE_BODY ? i : CODE_NONE;
	}
	return CODE_NONE;
}

static size_t call_of_allocator(const struct planner *planner, const struct code_range *f)
{
	for (size_t i = f->first; i < f->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow == FLOW_CALL && in->target && libgomp__is_allocator(planner, in->target))
			return i;
	}
	return CODE_NONE;
}

static bool calls(const struct planner *planner, const struct code_range *f, uint64_t target)
{
	for (size_t i = f->first; i < f->end; i++)
		if (code__at(planner->code, i)->flow == FLOW_CALL &&
		    code__at(planner->code, i)->target == target)
			return true;
	return false;
}

/* The number of words by which the stack pointer goes down in a call. */
static uint32_t call_words(const struct planner *planner)
{
	return code__arch(planner->code)->link == CODE_REG_NONE;
}

/* Adds each call of `target` in GOMP_target_ext. */
static void add_calls(struct planner *planner, const struct code_range *ext, uint64_t target, uint32_t kind,
		      const char *event)
{
	for (size_t i = ext->first; i < ext->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		int homes = 0;

		if (in->flow != FLOW_CALL || in->target != target)
			continue;
		/* If they are no longer kept anywhere, the event has no dependences. */
		(void)libgomp__task_homes(planner, ext, i, &homes);
		planner__add(planner, &(struct point_spec){.insn = i,
							   .entry_cookie = cookie__make(
								   kind, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
								   COOKIE_REG_NONE, COOKIE_OF_TARGET,
								   call_words(planner), homes),
							   .event = event,
							   .function = "GOMP_target_ext",
							   .reads = "rdi, rsi = body, [rbp+8] = call site"});
	}
}

/* Adds where GOMP_target_ext goes on after its calls of `target`. */
static bool add_created(struct planner *planner, const struct code_range *ext, uint64_t target)
{
	for (size_t i = ext->first; i < ext->end; i++) {
		size_t at = planner__next_emulated(planner, i + 1, 12);
		int depth = 0;

		if (code__at(planner->code, i)->flow != FLOW_CALL ||
		    code__at(planner->code, i)->target != target)
			continue;
		for (size_t k = i + 1; at != CODE_NONE && k < at; k++) {
			if (code__at(planner->code, k)->stack == CODE_STACK_UNKNOWN)
				return false;
			depth += code__at(planner->code, k)->stack;
		}
		if (at == CODE_NONE)
			return false;
		planner__add(planner,
			     &(struct point_spec){.insn = at,
						  .entry_cookie =
							  cookie__make(RING_TASK_CREATE_END, COOKIE_ALWAYS, 0,
								       COOKIE_REG_NONE, COOKIE_REG_NONE,
								       COOKIE_OF_TARGET, call_words(planner),
								       depth),
						  .event = "task-create-end",
						  .function = "GOMP_target_ext",
						  .reads = "-"});
	}
	return true;
}

/* The function that runs a region on the host: the only callee that calls its first argument. */
static bool find_host(struct planner *planner, const struct code_range *ext)
{
	struct code_range host = {0};
	uint64_t target = 0;
	size_t body = CODE_NONE, end;
	int depth;

	for (size_t i = ext->first; i < ext->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		struct code_range f;
		size_t call;

		if (in->flow != FLOW_CALL || in->target == target || !function_at(planner, in->target, &f) ||
		    (call = call_of_body(planner, &f)) == CODE_NONE)
			continue;
		if (target)
			return false;
		target = in->target;
		host = f;
		body = call;
	}
	if (!target)
		return false;
	end = planner__next_emulated(planner, body + 1, 24);
	depth = end < host.end ? code_paths__depth(planner->code, &host, end) : -1;
	if (depth < 0)
		return false;
	add_calls(planner, ext, target, RING_UNDEFERRED_BEGIN, "target-begin");
	planner__add(planner,
		     &(struct point_spec){.insn = end,
					  .entry_cookie = cookie__make(RING_UNDEFERRED_END, COOKIE_ALWAYS, 0,
								       COOKIE_REG_NONE, COOKIE_REG_NONE,
								       COOKIE_OF_TARGET, 0, depth),
					  .event = "target-end",
					  .function = "gomp_target_fallback",
					  .reads = "-"});
	return true;
}

/* After the allocation at `call`: the first cheap instruction at which a register holds the block. */
static size_t after_allocation(const struct planner *planner, const struct code_range *f, size_t call,
			       uint32_t *reg)
{
	uint8_t result = code__arch(planner->code)->result, block = result;

	for (size_t i = call + 1; i < f->end && i < call + 96; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		*reg = planner__cookie_reg(block);
		if (in->emulated)
			return *reg != COOKIE_REG_NONE ? i : CODE_NONE;
		if (in->flow != FLOW_NEXT)
			break;
		if (in->op == CODE_COPY && in->operand[0].type == OPERAND_REG &&
		    operand__is(&in->operand[1], block) && block == result)
			block = in->operand[0].reg;
		else if (insn__writes(in, block))
			break;
	}
	return CODE_NONE;
}

/* The function that makes a task. It allocates, and it is also called for `target update nowait`. */
static bool find_nowait(struct planner *planner, const struct code_range *ext)
{
	struct code_range update, f, made = {0};
	uint64_t target = 0;
	char reads[64];
	uint32_t reg;
	size_t at;
	int depth;

	if (!planner__function(planner, "GOMP_target_update_ext", &update))
		return false;
	for (size_t i = ext->first; i < ext->end; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->flow != FLOW_CALL || in->target == target || !calls(planner, &update, in->target) ||
		    !function_at(planner, in->target, &f) || call_of_allocator(planner, &f) == CODE_NONE)
			continue;
		if (target)
			return false;
		target = in->target;
		made = f;
	}
	if (!target)
		return false;
	at = after_allocation(planner, &made, call_of_allocator(planner, &made), &reg);
	if (at == CODE_NONE)
		return false;
	depth = code_paths__depth(planner->code, &made, at);
	if (depth < 0)
		return false;
	add_calls(planner, ext, target, RING_TASK_CREATE, "target-nowait");
	snprintf(reads, sizeof(reads), "%s = task", planner__reg_name(planner, reg));
	planner__add(planner,
		     &(struct point_spec){.insn = at,
					  .entry_cookie =
						  cookie__make(RING_TASK_CREATE, COOKIE_ALWAYS, 0, reg,
							       COOKIE_REG_NONE, COOKIE_OF_TARGET, 0, depth),
					  .event = "task-create",
					  .function = "gomp_create_target_task",
					  .reads = reads});
	return add_created(planner, ext, target);
}

void libgomp_target__find(struct planner *planner)
{
	struct code_range ext;
	int depth;

	if (!planner__function(planner, "GOMP_target_ext", &ext) ||
	    !code_paths__frame(planner->code, &ext, &depth) || !find_host(planner, &ext))
		planner__missing(planner, "where GOMP_target_ext runs a region on the host");
	/* If bodies are observed in the program, the bodies of such tasks are not. */
	else if (!(planner->plan->bodies & PLAN_BODIES_TASKS) && !find_nowait(planner, &ext))
		planner__missing(planner, "where GOMP_target_ext makes a task");
}
