/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The location of CPUs and the distances between them, for scatter (PPOPP16 section 3.2). The source is the
 * hwloc XML in the settings, else the capture's description of its machine.
 */
#ifndef GRAIND_TOPOLOGY_H
#define GRAIND_TOPOLOGY_H

#include "analysis/graph/graph.h"

struct topology {
	/*
	 * Per CPU: the number of its core; if there are several nodes, the number of its node. GRAIN_NONE:
	 * unknown.
	 */
	uint32_t *place;
	size_t cpus;
	/*
	 * Index: node * nodes + node. NULL: places are cores, and the distance is the difference of their
	 * numbers.
	 */
	uint32_t *distance;
	uint32_t nodes;
	double threshold; /* the largest distance inside one socket, or the cores of a socket */
};

/* A description of a machine, with elements of event.h. */
struct machine {
	struct event_cpu *cpus;
	size_t cpu_count;
	struct event_distance *distances;
	size_t distance_count;
	uint32_t cores, sockets; /* 0: not known */
};

/*
 * Sets graph->topology, or reports why scatter is absent. Returns a negative errno with *err if the settings
 * name a file that cannot be used.
 */
int graph__read_topology(struct grain_graph *graph, struct grain_error *err);
void topology__free(struct topology *topology); /* accepts NULL */

/*
 * topology_hwloc.c: reads hwloc's XML from `xml`, or from the file if that is NULL. The caller frees both
 * arrays.
 */
int machine__read_xml(const char *path, const char *xml, struct machine *out, struct grain_error *err);

#endif
