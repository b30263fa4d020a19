/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NUMA: the machine's nodes, on which of them a program's fragments ran and on which its memory lay.
 * Addresses of single accesses are not known: what can be said of remote ones follows from where pages are.
 */
#ifndef GRAIND_GRAIN_NUMA_H
#define GRAIND_GRAIN_NUMA_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory was looked at several times while the program ran; what is kept: */
enum grain_look { GRAIN_LOOK_FIRST, GRAIN_LOOK_LAST, GRAIN_LOOKS };

struct grain_numa {
	const char *absent;	  /* why nothing can be remote, or nodes are not known; NULL */
	const char *pages_absent; /* why it is not known where memory lay; NULL */
	size_t nodes, areas;
	const char *allowed_cpus, *allowed_nodes; /* lists of what the process could use; "" unknown */
	uint64_t first_ns, last_ns;		  /* of the looks */
	uint64_t moved;				  /* grains with fragments on several nodes */
	/*
	 * Parts of the accesses to memory by teams, if its pages are all used alike: the least that is
	 * remote, whichever thread uses which page, and what is if every thread uses all of them. NAN
	 * unknown.
	 */
	double remote_least, remote_alike;
};
void grain_graph__numa(const struct grain_graph *graph, struct grain_numa *out);

struct grain_node {
	uint32_t node; /* as the machine numbers it */
	uint32_t cpus;
	uint64_t memory_bytes;		      /* 0 unknown */
	uint64_t work_ns;		      /* of fragments that ran there */
	uint64_t team_ns;		      /* of these, inside of parallel regions */
	uint64_t resident_bytes[GRAIN_LOOKS]; /* of the areas */
};
/* By number. */
void grain_graph__node(const struct grain_graph *graph, size_t index, struct grain_node *out);
/* Its index; GRAIN_NONE: unknown. */
uint32_t grain_graph__node_of_cpu(const struct grain_graph *graph, uint32_t cpu);
/* Between nodes by index; GRAIN_NONE unknown. */
uint32_t grain_graph__node_distance(const struct grain_graph *graph, size_t from, size_t to);
/* Part of all accesses that go from one node to another's memory if pages are used alike; NAN unknown. */
double grain_graph__node_accesses(const struct grain_graph *graph, size_t from, size_t to);
/* Of grain_graph__thread's: what its fragments ran on the node. */
uint64_t grain_graph__thread_on_node(const struct grain_graph *graph, size_t thread, size_t node);

/* A part of the program's memory, the one with the most pages first. */
struct grain_area {
	const char *name;   /* of the variable or the file; "" */
	const char *module; /* of a variable */
	const char *kind; /* "data", "heap", "stack", "allocation", "anonymous", "shared", "file", "other" */
	uint64_t bytes;
	uint64_t step[GRAIN_LOOKS];	      /* every so many'th page was looked at; 0: it was not there */
	uint64_t resident_bytes[GRAIN_LOOKS]; /* in memory; of large ones estimated */
	size_t node;			      /* index of the node with most of it at last */
	double on_node;			      /* part of it that is there, NAN nothing in memory */
	double far;	/* part of teams' time on other nodes than its pages, by their parts; NAN unknown */
	bool misplaced; /* nearly all of it on one node, while much of the time is spent on others */
};
void grain_graph__area(const struct grain_graph *graph, size_t index, struct grain_area *out);
uint64_t grain_graph__area_bytes(const struct grain_graph *graph, size_t area, enum grain_look look,
				 size_t node);

#ifdef __cplusplus
}
#endif

#endif
