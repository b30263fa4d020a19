/* SPDX-License-Identifier: BSD-2-Clause */
/* What ran on a CPU instead of a recorded thread: each process that did is told of once in the trace. */
#ifndef GRAIND_NEIGHBOURS_H
#define GRAIND_NEIGHBOURS_H

#include "daemon/common/trace_writer.h"

#include <sys/types.h>

#define NEIGHBOUR_COMMAND 16

struct neighbours;

int neighbours__new(struct neighbours **out);
void neighbours__free(struct neighbours *neighbours); /* accepts NULL */

/*
 * The number of a process by its id and the command of its thread, as the
 * scheduler showed them (not necessarily ended by a zero). A new one gets a
 * "@neighbour" line, with its control group while it can be read. 0: there are
 * too many.
 */
uint32_t neighbours__number(struct neighbours *neighbours, struct trace_writer *writer, pid_t pid,
			    const char command[NEIGHBOUR_COMMAND]);

#endif
