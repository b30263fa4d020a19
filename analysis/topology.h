/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where CPUs are and how far they are from each other, for scatter (PPOPP16
 * section 3.2): from the hwloc XML that the settings name, else from what the
 * capture says of its machine.
 */
#ifndef GRAIND_TOPOLOGY_H
#define GRAIND_TOPOLOGY_H

#include "analysis/graph.h"

#define TOPOLOGY_MAX_NODES EVENT_NODES_MAX

struct topology {
	/* By CPU: the number of its core or, where there are several nodes, of its node; GRAIN_NONE: unknown.
	 */
	uint32_t *place;
	size_t cpus;
	/* By node * nodes + node. NULL: places are cores, and the difference of their numbers is the
	 * distance. */
	uint32_t *distance;
	uint32_t nodes;
	double threshold; /* the largest distance inside one socket, or the cores of a socket */
};

/* A description of a machine. Elements as in event.h. */
struct machine {
	struct event_cpu *cpus;
	size_t cpu_count;
	struct event_distance *distances;
	size_t distance_count;
	uint32_t cores, sockets; /* 0: not known */
};

/*
 * Sets graph->topology, or says why scatter is absent. Negative errno with
 * *err when the settings name a file that cannot be used.
 */
int graph__read_topology(struct grain_graph *graph, struct grain_error *err);
void topology__free(struct topology *topology); /* accepts NULL */

/* topology_hwloc.c: reads hwloc's XML; the caller frees both arrays. */
int machine__read_xml(const char *path, struct machine *out, struct grain_error *err);

#endif
