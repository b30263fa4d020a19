/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Injects libgrainshim.so into a running program, with the rights of the caller and under the kernel's rules
 * for debuggers. A thread of the program is stopped twice, each time usually for less than a millisecond.
 * Each step returns 0, or -1 with one line in `why`.
 */
#ifndef GRAINCTL_INJECT_H
#define GRAINCTL_INJECT_H

#include <stdint.h>
#include <sys/types.h>

struct inject;

/*
 * Checks, without touching the process, whether it can be recorded from inside (-1 if not), and whether the
 * caller may do so (-EACCES if not).
 */
int inject__look(pid_t pid, const char *library, struct inject **out, char why[512]);
/* Loads the library, which then connects to graind at `socket`. */
int inject__load(struct inject *inject, const char *socket, char why[512]);
/* Call this after graind has answered. From now on the program's calls of the runtime go to the library. */
int inject__begin(struct inject *inject, char why[512]);

/* The longest time that a thread was stopped, in ns. */
uint64_t inject__stopped_ns(const struct inject *inject);
/* Accepts NULL. */
void inject__free(struct inject *inject);

#endif
