/* SPDX-License-Identifier: BSD-2-Clause */
/* A breakpoint at the entry point of a traced, stopped program of x86-64 or aarch64. */
#ifndef GRAINCTL_ENTRY_POINT_H
#define GRAINCTL_ENTRY_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct entry_point {
	uint64_t address;  /* 0: none set */
	uint32_t original; /* what the breakpoint replaces */
};

/* Called when the program is stopped at its exec. NULL, or why it cannot be. */
const char *entry_point__set(pid_t pid, struct entry_point *out);

/*
 * Called when the program has stopped with SIGTRAP: if that was the
 * breakpoint, removes it, makes the program ready to execute what was there,
 * and returns true.
 */
bool entry_point__reached(pid_t pid, struct entry_point *entry);

#endif
