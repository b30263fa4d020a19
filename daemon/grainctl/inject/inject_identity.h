/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The identity of a process (program, user, rights), and whether functions can be called on its threads. It
 * is read at the first check, and again when a thread is stopped: in between, the process may have executed
 * another program or changed its rights, or its pid may now belong to another process.
 */
#ifndef GRAINCTL_INJECT_IDENTITY_H
#define GRAINCTL_INJECT_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct inject_identity;

/* Reads the identity. NULL: the process has ended, the caller may not inspect it, or memory is short. */
struct inject_identity *inject_identity__read(pid_t pid);
void inject_identity__free(struct inject_identity *identity); /* accepts NULL */

/*
 * Checks a thread of that process. 0; -ESRCH: it has ended; -ESTALE: it has another program or user now;
 * -EPROTO: no function can be called on it, and *unfit says why.
 */
int inject_identity__check(const struct inject_identity *identity, pid_t tid, const char **unfit);

/* Returns why no function can be called on any thread of the process. NULL: there is no such reason. */
const char *inject_identity__unfit(pid_t pid);

#endif
