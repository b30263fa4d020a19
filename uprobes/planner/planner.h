/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that find the points to probe in a runtime. */
#ifndef GRAIND_PLANNER_H
#define GRAIND_PLANNER_H

#include "bpf/abi/cookie.h"
#include "uprobes/code/code_arch.h"
#include "uprobes/code/code.h"
#include "uprobes/plan/probe_point.h"

struct planner {
	const struct elf_image *image;
	const struct code *code;
	struct probe_plan *plan;
	struct uprobes_error *err;
	int status;	     /* the first allocation error, or 0 */
	const char *refused; /* the argument of the last planner__refuse() */
};

/* Finds an exported function. False: there is none. */
bool planner__function(const struct planner *planner, const char *name, struct code_range *out);

/* Returns -ENOTSUP with "<what> not found ..." in the error. */
int planner__refuse(struct planner *planner, const char *what);

/*
 * Takes the bytes at the point's address from the file. `instruction` is the size of the instruction.
 * False: the address is in no segment.
 */
bool planner__take_bytes(struct probe_point *point, const struct elf_image *image, size_t instruction);

struct point_spec {
	size_t insn; /* index */
	uint64_t entry_cookie, return_cookie;
	const char *event, *function; /* static, or owned by the image */
	const char *reads;
};
/* Adds a point. If there is already one at the same address, that one is kept instead. */
void planner__add(struct planner *planner, const struct point_spec *spec);
/* Adds a point even if there are others at the same address. Each of them gets every hit. */
void planner__add_beside(struct planner *planner, const struct point_spec *spec);
/* Removes all points after the first `count`. Use it after a refusal for which there is another method. */
void planner__go_back(struct planner *planner, size_t count);
/* Notes the name of an optional point that was not found. */
void planner__missing(struct planner *planner, const char *name);

/*
 * The first emulated instruction from `from` on in straight-line code, within `limit` instructions.
 * CODE_NONE: there is none.
 */
size_t planner__next_emulated(const struct planner *planner, size_t from, size_t limit);

enum entry_need {
	ENTRY_ARGUMENTS = 1,   /* the argument registers must still hold the arguments */
	ENTRY_PAST_BRANCH = 2, /* prefer a place behind conditional jumps, on the path that does not jump */
};

/*
 * The cheapest instruction to probe at the start of a function, with the same stack pointer as at the
 * entry. So [rsp] is the return address, and a return probe can be set.
 */
size_t planner__entry_point(const struct planner *planner, size_t first, unsigned needs);

/* A register's number in cookies; COOKIE_REG_NONE for registers that cookies cannot express. */
uint32_t planner__cookie_reg(uint8_t reg);
const char *planner__reg_name(const struct planner *planner, uint32_t reg);
/* The register that holds argument `n` of a function at its entry. */
uint8_t planner__argument(const struct planner *planner, uint32_t n);

#endif
