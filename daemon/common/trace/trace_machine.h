/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the description of the machine into a trace. */
#ifndef GRAIND_TRACE_MACHINE_H
#define GRAIND_TRACE_MACHINE_H

#include "daemon/common/trace/trace_writer.h"

#include <sys/types.h>

/*
 * Writes @machine, one @cpu line for each online CPU, one @node line for each NUMA node and, if there are
 * several nodes, the @distance lines. The data come from hwloc, which is asked again after CPUs or nodes
 * were added or removed. graind's own cpuset does not matter. 0 or the writer's error.
 */
int trace_machine__describe(struct trace_writer *writer);

/*
 * Writes the @allowed line: the CPUs and nodes that the process may use, which its cpuset may restrict. 0 or
 * the writer's error.
 */
int trace_machine__describe_allowed(struct trace_writer *writer, pid_t pid);

/*
 * Writes the @settings line: the quota of the process' cgroup, and what its environment says of binding and
 * waiting. Nothing if there is nothing to say. 0, -ENOMEM or the writer's error.
 */
int trace_settings__describe(struct trace_writer *writer, pid_t pid);

#endif
