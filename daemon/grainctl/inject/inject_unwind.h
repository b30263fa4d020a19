/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks the frames of a stopped thread, as long as its objects have unwind tables. */
#ifndef GRAINCTL_INJECT_UNWIND_H
#define GRAINCTL_INJECT_UNWIND_H

#include "daemon/grainctl/inject/inject_cfi.h"
#include "daemon/grainctl/inject/inject_target.h"

/* Number of cached places. Places occur repeatedly, for instance in recursion. */
#define INJECT_UNWIND_KNOWN 64

struct inject_unwind {
	const struct inject_target *target;
	uint64_t registers[INJECT_CFI_REGISTERS]; /* registers of the current frame */
	/* A copy of a part of the stack. */
	const uint64_t *words;
	uint64_t from, to;
	bool inner; /* it has moved by at least one frame */
	struct {
		uint64_t pc; /* 0: none */
		int error;
		struct inject_cfi_row row;
	} known[INJECT_UNWIND_KNOWN];
};

/*
 * Moves to the caller's frame. Returns 1 on success and 0 if this is the thread's outermost frame.
 * Negative: the caller cannot be found, and the registers stay those of the current frame.
 */
int inject_unwind__step(struct inject_unwind *unwind);

#endif
