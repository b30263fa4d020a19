/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes the bodies of constructs in the files of the observed programs, where libgomp does not show its
 * calls of these bodies. Bodies that are known when a file is first seen are probed at once. Others are
 * probed when the program passes their address to the runtime.
 */
#ifndef GRAIND_PROGRAM_BODIES_H
#define GRAIND_PROGRAM_BODIES_H

#include "daemon/graind/plan/plan_cache.h"
#include "uprobes/capture/capture.h"

#include <stdbool.h>

struct program_bodies;

/*
 * `subject`: PLAN_BODIES, or PLAN_LOOPS for the static loops that GCC wrote into programs. `unseen`: see
 * attach__may_kill(). NULL: out of memory.
 */
struct program_bodies *program_bodies__new(struct capture *capture, enum plan_subject subject, bool unseen);
void program_bodies__free(struct program_bodies *bodies); /* accepts NULL */

/* Excludes a file from probing, because it is a runtime and not a program. */
void program_bodies__leave_out(struct program_bodies *bodies, uint64_t device, uint64_t inode);

/* Probes the bodies in files of the process that were not seen before. */
void program_bodies__look(struct program_bodies *bodies, pid_t pid);

/*
 * Call this when the process has passed the function at this address to the runtime. True: the function's
 * probe was set only now, so earlier executions were not seen.
 */
bool program_bodies__seen(struct program_bodies *bodies, pid_t pid, uint64_t address);

/* Tells how many static loops are probed in all files so far, and how many others were not understood. */
void program_bodies__loops(const struct program_bodies *bodies, size_t *understood, size_t *missing);

#endif
