/* SPDX-License-Identifier: BSD-2-Clause */
/* The description of a machine from an hwloc topology. */
#ifndef GRAIND_TOPOLOGY_HWLOC_H
#define GRAIND_TOPOLOGY_HWLOC_H

#include "analysis/machine/topology.h"

#include <hwloc.h>

/*
 * Fills *out from a loaded topology: CPUs in its order, with hwloc's numbers of cores, sockets and nodes, and
 * the latencies between NUMA nodes if known. The caller frees both arrays, also on failure. -EBADMSG: the
 * topology has no CPUs.
 */
int machine__from_hwloc(hwloc_topology_t topology, struct machine *out);

#endif
