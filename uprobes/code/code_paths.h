/* SPDX-License-Identifier: BSD-2-Clause */
/* Control flow inside one function: exits, loops, the depth of the stack. */
#ifndef GRAIND_CODE_PATHS_H
#define GRAIND_CODE_PATHS_H

#include "bpf/abi/cookie.h"
#include "uprobes/code/code.h"

/* A jump that control takes, and when: always (COOKIE_ALWAYS) or depending on its condition. */
struct path_edge {
	size_t insn;
	uint32_t when; /* enum cookie_when */
};

#define PATH_EDGES_MAX 24

/* Text for readers that says when an event without operands is recorded there. */
const char *path_edge__text(const struct path_edge *edge);

enum path_exits {
	PATH_TAIL_CALLS = 1, /* a jump to another function is an exit, not a failure */
	PATH_CLEANUP = 2,    /* returning code may contain branches that free memory before they return */
};

/*
 * Finds the jumps into returning code from code that is reachable from instruction `from`. Returning code
 * is straight-line code up to a `ret` that calls only imported functions. Every return passes exactly one
 * of these jumps. Returns their number. 0: an exit has no jump, or there are more than PATH_EDGES_MAX.
 */
size_t code_paths__exits(const struct code *code, const struct code_range *f, size_t from, unsigned flags,
			 struct path_edge edges[PATH_EDGES_MAX]);

/*
 * Finds the one jump by which control leaves the loop around `inside`. The jump must stand at the loop's
 * end, where each iteration reaches it once, after `inside`. CODE_NONE: there is no such loop, or it has
 * other exits.
 */
size_t code_paths__loop_end(const struct code *code, const struct code_range *f, size_t inside);

/*
 * Whether `value` holds before instruction `at` what register `argument` held at the function's entry.
 * `value` is a register or a slot of the frame (at the frame pointer plus x). Follows all moves, spills and
 * reloads back.
 */
bool code_paths__is_argument(const struct code *code, const struct code_range *f, size_t at,
			     const struct code_operand *value, uint8_t argument);

/* Whether `to` can be reached from `from` in `f` without passing `avoiding` (CODE_NONE: any path counts). */
bool code_paths__reaches(const struct code *code, const struct code_range *f, size_t from, size_t to,
			 size_t avoiding);

/*
 * Whether the function keeps a frame pointer. The caller's frame pointer is stored at that address, and the
 * return address behind it. *depth: bytes from there up to the stack pointer at the entry if the call had
 * pushed the return address, as on x86-64.
 */
bool code_paths__frame(const struct code *code, const struct code_range *f, int *depth);

/*
 * Bytes by which the stack pointer is below its value at the entry when `insn` is about to be executed.
 * Negative: the depth differs between paths, or the return address cannot be found from there.
 */
int code_paths__depth(const struct code *code, const struct code_range *f, size_t insn);

/*
 * Whether the return address can be found at `insn`, where the stack pointer is `depth` bytes below its
 * value at the entry. It is on the stack. With a link register, it is in that register if `depth` is 0,
 * else behind the frame pointer.
 */
bool code_paths__return_address(const struct code *code, const struct code_range *f, size_t insn, int depth);

/*
 * Finds where an argument of the function is at `insn`: in a register, or in a slot of its frame. False: it
 * is no longer kept anywhere. `narrow`: only its lower half is needed.
 */
bool code_paths__argument_home(const struct code *code, const struct code_range *f, size_t insn,
			       uint8_t argument, bool narrow, struct code_operand *out);

/*
 * Finds where paths part in `f`: the first instructions from which `to` can be reached, but not `other`.
 * Every path from the start to `to` passes one of them. Returns their number, at most `room`.
 */
size_t code_paths__parting(const struct code *code, const struct code_range *f, size_t to, size_t other,
			   size_t *out, size_t room);

#endif
