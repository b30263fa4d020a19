/* SPDX-License-Identifier: BSD-2-Clause */
/* From frame to frame of a stopped thread, as long as its objects say where the next one is. */
#ifndef GRAINCTL_INJECT_UNWIND_H
#define GRAINCTL_INJECT_UNWIND_H

#include "daemon/grainctl/inject_cfi.h"
#include "daemon/grainctl/inject_target.h"

/* Places that come again and again, as in recursion. */
#define INJECT_UNWIND_KNOWN 64

struct inject_unwind {
	const struct inject_target *target;
	uint64_t registers[INJECT_CFI_REGISTERS]; /* of the frame that it is at */
	/* What was read of the stack. */
	const uint64_t *words;
	uint64_t from, to;
	bool inner; /* it has gone a step */
	struct {
		uint64_t pc; /* 0: none */
		int error;
		struct inject_cfi_row row;
	} known[INJECT_UNWIND_KNOWN];
};

/*
 * To the caller's frame: 1; 0: nobody has called, the thread begins here; negative:
 * where that is cannot be told, the registers are those of the frame before.
 */
int inject_unwind__step(struct inject_unwind *unwind);

#endif
