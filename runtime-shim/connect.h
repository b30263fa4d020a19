/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection to graind, for those who ask before the first event. */
#ifndef GRAIND_SHIM_CONNECT_H
#define GRAIND_SHIM_CONNECT_H

#include <stdbool.h>

/* Whether somebody has named a socket. */
bool connect__is_wanted(void);
/* Whether a runtime (enum shim_runtime) that asks now is recorded: graind has rings for the process. */
bool connect__open(unsigned runtime);
/*
 * libomp cannot be recorded from inside here: returns when graind has probes in place; false: it does not
 * want to, or has no job for this process yet.
 */
bool connect__ask_for_probes(void);

#endif
