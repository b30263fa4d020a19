/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwinds stack frames by the unwind tables (.eh_frame) of a process' objects. The tables are read from the
 * memory of the process, which may contain anything.
 */
#ifndef GRAINCTL_INJECT_CFI_H
#define GRAINCTL_INJECT_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* DWARF register numbers of x86-64: 7 is the stack pointer, 16 the return address. */
#define INJECT_CFI_REGISTERS 17
#define INJECT_CFI_SP 7
#define INJECT_CFI_RETURN 16

enum inject_cfi_how {
	INJECT_CFI_SAME = 0,  /* the same as in the callee's frame */
	INJECT_CFI_UNDEFINED, /* not saved; for the return address: this is the outermost frame */
	INJECT_CFI_AT_CFA,    /* in memory, `offset` from the frame's address */
	INJECT_CFI_AT_BASE,   /* in memory, `offset` from the register `base` */
	INJECT_CFI_UNKNOWN,
};

struct inject_cfi_rule {
	uint8_t how; /* enum inject_cfi_how */
	uint8_t base;
	int32_t offset;
};

/* How to find the caller of a function at one of its instructions. */
struct inject_cfi_row {
	/*
	 * The frame's address (CFA): `offset` from the register `base`; with AT_BASE, the address is read
	 * from memory there.
	 */
	struct inject_cfi_rule frame;
	struct inject_cfi_rule registers[INJECT_CFI_REGISTERS];
	bool of_signal; /* a signal frame: a signal interrupted its caller */
};

/*
 * Finds the row for `pc` in the object whose .eh_frame_hdr is at `table`. 0 or a negative errno; -ENOENT:
 * there is no row, -ENOTSUP: the table has unknown content, -EFAULT: the table cannot be read.
 */
int inject_cfi__row(pid_t pid, uint64_t table, uint64_t pc, struct inject_cfi_row *out);

#endif
