/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes, and what ran and lay on them. Internal to analysis. */
#ifndef GRAIND_NUMA_H
#define GRAIND_NUMA_H

#include "analysis/grain_numa.h"
#include "analysis/graph.h"

#define NUMA_PAGE_BYTES 4096

/* A thread went on on another node in the middle of what it did. */
struct numa_move {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t to; /* index of a node */
};

struct numa {
	struct grain_node *nodes;
	size_t node_count;
	uint32_t *of_cpu; /* index of its node, GRAIN_NONE unknown */
	size_t cpus;
	uint32_t *distance; /* from * node_count + to; GRAIN_NONE unknown */
	struct numa_move *moves;
	size_t move_count, move_capacity;
	uint64_t *thread_ns; /* thread * node_count + node; NULL with one node */
	uint64_t *bytes;     /* (area * GRAIN_LOOKS + look) * node_count + node */
	struct grain_area *areas;
	size_t area_count;
	uint64_t moved;
};

/* Before the replay: graph->numa, with nodes and CPUs. */
int graph__find_nodes(struct grain_graph *graph);
/* While replaying: the thread is put on another CPU than it was taken off, in a fragment. */
int numa__move(struct grain_graph *graph, uint32_t thread, uint64_t time_ns, uint32_t from_cpu,
	       uint32_t to_cpu);
/* When all is arranged. */
int graph__measure_numa(struct grain_graph *graph);
void numa__free(struct numa *numa); /* accepts NULL */

/* Adds what the context's fragments ran on each node. */
void numa__add_context(const struct grain_graph *graph, const struct context *context, uint64_t *by_node);

#endif
