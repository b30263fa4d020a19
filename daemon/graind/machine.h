/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine as a trace describes it. */
#ifndef GRAIND_MACHINE_H
#define GRAIND_MACHINE_H

#include "daemon/common/trace_writer.h"

/* Writes @machine, one @cpu line for every CPU that is online, @distance lines where there are NUMA nodes. */
int machine__describe(struct trace_writer *writer);

#endif
