/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where libgomp does not show that it calls the bodies of constructs, they are
 * probed in the files of the observed programs: all that a file has when it is
 * first seen, and others when the runtime is handed one.
 */
#ifndef GRAIND_PROGRAM_BODIES_H
#define GRAIND_PROGRAM_BODIES_H

#include "uprobes/capture.h"

#include <stdbool.h>

struct program_bodies;

struct program_bodies *program_bodies__new(struct capture *capture); /* NULL without memory */
void program_bodies__free(struct program_bodies *bodies);	     /* accepts NULL */

/* Probes the files that the process has mapped and that are not known yet. */
void program_bodies__look(struct program_bodies *bodies, pid_t pid);

/*
 * The process has handed the runtime the function at this address; true: only now there is a probe, what it
 * did until now was not seen.
 */
bool program_bodies__seen(struct program_bodies *bodies, pid_t pid, uint64_t address);

#endif
