/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine as a trace describes it. */
#ifndef GRAIND_MACHINE_H
#define GRAIND_MACHINE_H

#include "daemon/common/trace_writer.h"

#include <sys/types.h>

/*
 * Writes @machine, one @cpu line for every CPU that is online, one @node line for every NUMA node and, where
 * there are several, the @distance lines between them: as hwloc finds the machine, which is asked again when
 * CPUs or nodes have come or gone. Cpusets of graind itself do not matter.
 */
int machine__describe(struct trace_writer *writer);

/* Writes the @allowed line: the CPUs and nodes that the process may use, which its cpuset may restrict. */
int machine__describe_allowed(struct trace_writer *writer, pid_t pid);

#endif
