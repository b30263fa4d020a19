/* SPDX-License-Identifier: BSD-2-Clause */
/* Where control goes inside one function: ways out, loops, the stack's depth. */
#ifndef GRAIND_CODE_PATHS_H
#define GRAIND_CODE_PATHS_H

#include "uprobes/planner.h"

/* A jump over which control passes, and when: COOKIE_ALWAYS or depending on its condition. */
struct path_edge {
	size_t insn;
	uint32_t when; /* enum cookie_when */
};

#define PATH_EDGES_MAX 24

/* For people: when an event without operands is recorded there. */
const char *path_edge__text(const struct path_edge *edge);

enum path_exits {
	PATH_TAIL_CALLS = 1, /* a jump to another function is a way out, not a failure */
	PATH_CLEANUP = 2,    /* code with branches that at most frees memory before it returns is part of what
				returns */
};

/*
 * The jumps that lead from what is reachable from instruction `from` into the
 * code that returns: straight-line code up to a `ret` that calls nothing but
 * imported functions. Every return passes exactly one of them. Returns their
 * number; 0 when a way out has no jump, or there are more than PATH_EDGES_MAX.
 */
size_t code_paths__exits(const struct planner *planner, const struct code_range *f, size_t from,
			 unsigned flags, struct path_edge edges[PATH_EDGES_MAX]);

/*
 * The one jump over which control leaves the loop around `inside`, if it
 * stands at the loop's end: it is reached once in every iteration, after
 * `inside` was. CODE_NONE if there is no such loop or it has other ways out.
 */
size_t code_paths__loop_end(const struct planner *planner, const struct code_range *f, size_t inside);

/*
 * Whether the register or the slot of the frame (at the frame pointer plus x)
 * that `value` names holds, before `at`, what register `argument` held at the
 * function's entry: all the moves, spills and reloads that lead there are followed back.
 */
bool code_paths__is_argument(const struct planner *planner, const struct code_range *f, size_t at,
			     const struct code_operand *value, uint8_t argument);

/* Whether `to` can be reached from `from` in `f` without passing `avoiding` (CODE_NONE: nothing). */
bool code_paths__reaches(const struct planner *planner, const struct code_range *f, size_t from, size_t to,
			 size_t avoiding);

/*
 * Whether the function has a frame pointer with the caller's one at it and the return address
 * behind that. *depth: bytes from there to where the stack pointer would be at the entry if the call
 * had put the return address on the stack, as x86-64 does.
 */
bool code_paths__frame(const struct planner *planner, const struct code_range *f, int *depth);

/*
 * Bytes by which the stack pointer lies below its value at the entry when
 * `insn` is about to be executed; negative if that is not the same on all ways,
 * or the return address cannot be found from there.
 */
int code_paths__depth(const struct planner *planner, const struct code_range *f, size_t insn);

/*
 * Whether the return address can be found at `insn`, where the stack pointer is `depth` bytes lower
 * than at the entry: on the stack; or in the link register if that is 0, else behind the frame pointer.
 */
bool code_paths__return_address(const struct planner *planner, const struct code_range *f, size_t insn,
				int depth);

/*
 * Where an argument of the function is at `insn`: a register, or a slot of its frame. False if it
 * is nowhere any more. `narrow`: only its lower half is asked for.
 */
bool code_paths__argument_home(const struct planner *planner, const struct code_range *f, size_t insn,
			       uint8_t argument, bool narrow, struct code_operand *out);

/*
 * The instructions with which the part of `f` begins from which `to` can be reached but `other`
 * cannot any more: one of them is on every way from the start to `to`. Returns their number, at most `room`.
 */
size_t code_paths__parting(const struct planner *planner, const struct code_range *f, size_t to, size_t other,
			   size_t *out, size_t room);

#endif
