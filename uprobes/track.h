/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a function's arguments and its return address are, some instructions after its entry; private to
 * uprobes/. */
#ifndef GRAIND_TRACK_H
#define GRAIND_TRACK_H

#include "uprobes/planner.h"

#define TRACK_ARGUMENTS 6

enum track_need {
	TRACK_ARGUMENT_0 = 1 << 0, /* this argument must still be in a register; shift for the others */
	TRACK_IN_PLACE = 1 << 6,   /* ... in the one that it was passed in */
	TRACK_RETURN = 1 << 7,	   /* a return probe will be set: rsp must be that of the entry */
};

struct track_point {
	size_t insn;
	uint32_t words;			    /* by which rsp has gone down since the entry */
	uint32_t argument[TRACK_ARGUMENTS]; /* enum cookie_reg of a register that holds it */
};

/*
 * The first instruction at or after a function's entry that the kernel
 * emulates, that every call passes once and at which what is needed can be
 * read. The entry itself where there is none.
 */
void track__entry(const struct planner *planner, size_t first, unsigned needs, struct track_point *out);

/*
 * The words by which rsp is below that of the function's entry at one of its
 * instructions; false where that is not the same on every way there or
 * not known.
 */
bool track__words(const struct planner *planner, const struct code_range *f, size_t insn, uint32_t *words);

/*
 * Whether every way through the function to one of its returns leads over an
 * instruction that is marked: marks[i] is that of instruction f->first + i.
 */
bool track__all_pass(const struct planner *planner, const struct code_range *f, const bool *marks);

#endif
