/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes, what ran on them, and which memory was on them. Internal to analysis. */
#ifndef GRAIND_NUMA_H
#define GRAIND_NUMA_H

#include "analysis/include/grain_numa.h"
#include "analysis/graph/graph.h"

#define NUMA_PAGE_BYTES 4096

/* A thread moved to another node inside a fragment. */
struct numa_move {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t to; /* index of a node */
};

/* A sampled memory access of a thread. */
struct numa_access {
	uint64_t page;	  /* address of the page, 0: unknown */
	uint32_t context; /* the innermost context, GRAIN_NONE: none */
	uint32_t from;	  /* indices of nodes: the CPU's, and the page's; GRAIN_NONE unknown */
	uint32_t to;
	bool working; /* it was in a fragment of the context */
	uint8_t why;  /* why `to` is unknown: enum grain_access_why */
};

struct numa {
	struct grain_node *nodes;
	size_t node_count;
	uint32_t *of_cpu; /* per CPU: index of its node; GRAIN_NONE: unknown */
	size_t cpus;
	uint32_t *distance; /* from * node_count + to; GRAIN_NONE unknown */
	struct numa_move *moves;
	size_t move_count, move_capacity;
	uint64_t *thread_ns; /* thread * node_count + node; NULL with one node */
	uint64_t *bytes;     /* (area * GRAIN_LOOKS + look) * node_count + node */
	struct grain_area *areas;
	size_t area_count;
	uint64_t hidden_bytes[GRAIN_LOOKS];
	uint64_t moved;
	struct numa_access *accesses;
	size_t access_count, access_capacity;
	/* Counts of accesses: per context, per slot of the profile, per problem. NULL: there are none. */
	struct grain_access_counts *of_context, *of_profile, *of_problem;
	uint64_t *between; /* from * node_count + to, in parallel regions */
};

/* Makes graph->numa with nodes and CPUs. Call it before the replay. */
int graph__find_nodes(struct grain_graph *graph);
/* During the replay: a thread continues a fragment on another CPU. */
int numa__move(struct grain_graph *graph, uint32_t thread, uint64_t time_ns, uint32_t from_cpu,
	       uint32_t to_cpu);
/* numa_accesses.c. Call these when items are arranged. */
int graph__measure_numa(struct grain_graph *graph);
int graph__measure_accesses(struct grain_graph *graph);
/* Returns the index of the node with that number. GRAIN_NONE: there is none. */
uint32_t numa__index(const struct numa *numa, uint32_t node);
void numa__free(struct numa *numa); /* accepts NULL */

/* Adds the time of the context's fragments on each node. */
void numa__add_context(const struct grain_graph *graph, const struct context *context, uint64_t *by_node);

#endif
