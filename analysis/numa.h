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

/* A thread used memory. */
struct numa_access {
	uint64_t page;	  /* its address, 0 unknown */
	uint32_t context; /* the innermost, GRAIN_NONE: in none */
	uint32_t from;	  /* indices of nodes: the CPU's, and the page's; GRAIN_NONE unknown */
	uint32_t to;
	bool working; /* in a fragment of the context */
	uint8_t why;  /* to is unknown */
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
	uint64_t hidden_bytes[GRAIN_LOOKS];
	uint64_t moved;
	struct numa_access *accesses;
	size_t access_count, access_capacity;
	/* Of the accesses, NULL where there are none: by context, by slot of the profile, by problem. */
	struct grain_access_counts *of_context, *of_profile, *of_problem;
	uint64_t *between; /* from * node_count + to, in parallel regions */
};

/* Before the replay: graph->numa, with nodes and CPUs. */
int graph__find_nodes(struct grain_graph *graph);
/* While replaying: the thread is put on another CPU than it was taken off, in a fragment. */
int numa__move(struct grain_graph *graph, uint32_t thread, uint64_t time_ns, uint32_t from_cpu,
	       uint32_t to_cpu);
/* When all is arranged; graph_accesses.c */
int graph__measure_numa(struct grain_graph *graph);
int graph__measure_accesses(struct grain_graph *graph);
/* The index of the node of that number; GRAIN_NONE: there is none. */
uint32_t numa__index(const struct numa *numa, uint32_t node);
void numa__free(struct numa *numa); /* accepts NULL */

/* Adds what the context's fragments ran on each node. */
void numa__add_context(const struct grain_graph *graph, const struct context *context, uint64_t *by_node);

#endif
