/* SPDX-License-Identifier: BSD-2-Clause */
/* What the patterns of libgomp's functions have in common; private to uprobes/plan_*.c. */
#ifndef GRAIND_PLAN_LIBGOMP_H
#define GRAIND_PLAN_LIBGOMP_H

#include "uprobes/planner.h"

/* A cookie without operands but `a`. */
uint64_t libgomp__cookie(uint32_t kind, uint32_t a);

/* Whether `target` is a small function around malloc (gomp_malloc), or malloc itself. */
bool libgomp__is_allocator(const struct planner *planner, uint64_t target);

/*
 * The first conditional jump after the call of the allocator at `call`, and in
 * *reg (enum cookie_reg) the register that holds the new block there; CODE_NONE
 * if there is no such jump in straight line.
 */
size_t libgomp__allocated(const struct planner *planner, const struct code_range *f, size_t call,
			  uint32_t *reg);

/* In the `window` instructions before `call`: the load of `reg` from memory, or CODE_NONE. */
size_t libgomp__load_before(const struct planner *planner, size_t call, uint16_t reg, size_t window);

/* Where the function keeps its first argument, the body: a slot of its frame or a register. */
bool libgomp__body_home(const struct planner *planner, const struct code_range *f, struct code_operand *out);
#define CALLS_MAX 8 /* of bodies or allocators in one function; more are not libgomp's */

enum libgomp_callee {
	CALLEE_OTHER,	/* a function of the runtime, or no call */
	CALLEE_BODY,	/* the first argument, fn */
	CALLEE_COPY,	/* the third, the copy constructors */
	CALLEE_UNKNOWN, /* an indirect call of something else */
};
/* What an instruction of GOMP_task or GOMP_taskloop calls. */
enum libgomp_callee libgomp__callee(const struct planner *planner, const struct code_range *f, size_t call);

/* The first conditional jump that control reaches from `from`, along unconditional jumps. */
size_t libgomp__next_branch(const struct planner *planner, size_t from);

/* Taskloops; `fn_offset`: where a task has its body, followed by the address of its data. */
int plan_taskloop__find(struct planner *planner, int64_t fn_offset);

#endif
