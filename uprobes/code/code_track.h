/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a function's arguments and its return address some instructions after its entry. */
#ifndef GRAIND_CODE_TRACK_H
#define GRAIND_CODE_TRACK_H

#include "bpf/abi/cookie.h"
#include "uprobes/code/code.h"

#define TRACK_ARGUMENTS 6

enum track_need {
	TRACK_ARGUMENT_0 = 1 << 0, /* this argument must be in a register; shift it for the others */
	TRACK_IN_PLACE = 1 << 6,   /* ... in the register in which it was passed */
	TRACK_RETURN = 1 << 7,	   /* a return probe will be set, so rsp must be that of the entry */
};

struct track_point {
	size_t insn;
	uint32_t words;			    /* words by which rsp is below its value at the entry */
	uint32_t argument[TRACK_ARGUMENTS]; /* enum cookie_reg of a register that holds it */
};

/*
 * Finds the first instruction at or after a function's entry that the kernel emulates, that every call
 * passes once, and at which everything in `needs` can be read. If there is none, this is the entry itself.
 */
void code_track__entry(const struct code *code, size_t first, unsigned needs, struct track_point *out);

/*
 * The number of words by which rsp is below its value at the entry, at one of the function's instructions.
 * False: it differs between paths or is not known.
 */
bool code_track__words(const struct code *code, const struct code_range *f, size_t insn, uint32_t *words);

/*
 * Whether every path from the function's entry to one of its returns passes a marked instruction. marks[i]
 * is for instruction f->first + i.
 */
bool code_track__all_pass(const struct code *code, const struct code_range *f, const bool *marks);

#endif
