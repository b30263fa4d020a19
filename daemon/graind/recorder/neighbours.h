/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Neighbours are processes that ran on a CPU instead of a recorded thread. The trace describes each of them
 * once.
 */
#ifndef GRAIND_NEIGHBOURS_H
#define GRAIND_NEIGHBOURS_H

#include "daemon/common/trace/trace_writer.h"

#include <sys/types.h>

#define NEIGHBOUR_COMMAND 16

struct neighbours;

/* `viewer`: the user who owns the trace; 0 is root. 0 or a negative errno. */
int neighbours__new(uid_t viewer, struct neighbours **out);
void neighbours__free(struct neighbours *neighbours); /* accepts NULL */

/*
 * Returns the number of the neighbour with this process id and command. The command is that of its thread,
 * as the scheduler shows it; it need not end with NUL. A new neighbour gets a "@neighbour" line, with its
 * control group if that can still be read. 0: there are too many.
 *
 * All processes that the viewer must not see share one number, without id and group. These are processes of
 * users who opted out, other users' processes if /proc hides them (hidepid=), and, unless the viewer is
 * root, processes that have already ended.
 */
uint32_t neighbours__number(struct neighbours *neighbours, struct trace_writer *writer, pid_t pid,
			    const char command[NEIGHBOUR_COMMAND]);

#endif
