/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libgrainshim.so into a running program, with the rights of the caller and the
 * kernel's rules for debuggers: a thread of it is stopped twice, each time for
 * less than a millisecond as a rule. Each step returns 0, or -1 with one line
 * in `why`.
 */
#ifndef GRAINCTL_INJECT_H
#define GRAINCTL_INJECT_H

#include <stdint.h>
#include <sys/types.h>

struct inject;

/* Refuses what cannot be recorded so (-1), or not by the caller (-EACCES); the process is not touched. */
int inject__look(pid_t pid, const char *library, struct inject **out, char why[512]);
/* Loads the library, which then comes to graind at `socket`. */
int inject__load(struct inject *inject, const char *socket, char why[512]);
/* When graind has answered: the program's calls go to the library from here on. */
int inject__begin(struct inject *inject, char why[512]);

/* How long a thread was stopped at the longest. */
uint64_t inject__stopped_ns(const struct inject *inject);
/* Accepts NULL. */
void inject__free(struct inject *inject);

#endif
