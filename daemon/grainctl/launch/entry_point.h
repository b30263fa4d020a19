/* SPDX-License-Identifier: BSD-2-Clause */
/* A breakpoint at the entry point of a program that is traced and stopped (x86-64 and aarch64). */
#ifndef GRAINCTL_ENTRY_POINT_H
#define GRAINCTL_ENTRY_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct entry_point {
	uint64_t address;  /* 0: no breakpoint is set */
	uint32_t original; /* the code that the breakpoint replaces */
};

/* Sets the breakpoint while the program is stopped at its exec. Returns NULL, or the reason why it cannot. */
const char *entry_point__set(pid_t pid, struct entry_point *out);

/*
 * Call this when the program has stopped with SIGTRAP. If the breakpoint stopped it, removes the
 * breakpoint, sets the program back to its entry point and returns true.
 */
bool entry_point__reached(pid_t pid, struct entry_point *entry);

#endif
