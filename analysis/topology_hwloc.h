/* SPDX-License-Identifier: BSD-2-Clause */
/* A machine as hwloc has found it. */
#ifndef GRAIND_TOPOLOGY_HWLOC_H
#define GRAIND_TOPOLOGY_HWLOC_H

#include "analysis/topology.h"

#include <hwloc.h>

/*
 * CPUs in the order of the topology, with cores, sockets and nodes as hwloc counts them, and the latencies
 * between its NUMA nodes where they are known. Of a loaded topology; the caller frees both arrays, also on
 * failure. -EBADMSG: it has no CPUs.
 */
int machine__from_hwloc(hwloc_topology_t topology, struct machine *out);

#endif
