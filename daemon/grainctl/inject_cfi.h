/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a stack's frames are: as the objects of a process say it for exceptions
 * and debuggers (.eh_frame). Read from its memory, where anything may be.
 */
#ifndef GRAINCTL_INJECT_CFI_H
#define GRAINCTL_INJECT_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* DWARF's numbers on x86-64: 7 is the stack pointer, 16 where a function returns to. */
#define INJECT_CFI_REGISTERS 17
#define INJECT_CFI_SP 7
#define INJECT_CFI_RETURN 16

enum inject_cfi_how {
	INJECT_CFI_SAME = 0,  /* as in the frame below */
	INJECT_CFI_UNDEFINED, /* it is not kept; of the return address: nobody has called */
	INJECT_CFI_AT_CFA,    /* in memory, `offset` from the frame's address */
	INJECT_CFI_AT_BASE,   /* in memory, `offset` from the register `base` */
	INJECT_CFI_UNKNOWN,
};

struct inject_cfi_rule {
	uint8_t how; /* enum inject_cfi_how */
	uint8_t base;
	int32_t offset;
};

/* How a function's caller is found, at one of its instructions. */
struct inject_cfi_row {
	/* The frame's address: `offset` from the register `base`; AT_BASE: in memory there. */
	struct inject_cfi_rule frame;
	struct inject_cfi_rule registers[INJECT_CFI_REGISTERS];
	bool of_signal; /* its caller is what a signal has interrupted */
};

/*
 * At `pc`, in the object whose table of functions (.eh_frame_hdr) is at `table`.
 * 0 or a negative errno: -ENOENT there is nothing about it, -ENOTSUP, -EFAULT.
 */
int inject_cfi__row(pid_t pid, uint64_t table, uint64_t pc, struct inject_cfi_row *out);

#endif
