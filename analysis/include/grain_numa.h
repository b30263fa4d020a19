/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NUMA: the machine's nodes, on which nodes a program's fragments ran, and where its memory was. If accesses
 * were sampled, the samples say which are remote. Else this is estimated from the locations of pages.
 */
#ifndef GRAIND_GRAIN_NUMA_H
#define GRAIND_GRAIN_NUMA_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory was examined several times while the program ran. Two results are kept: the first and the last. */
enum grain_look { GRAIN_LOOK_FIRST, GRAIN_LOOK_LAST, GRAIN_LOOKS };

struct grain_numa {
	const char *absent; /* why no access can be remote, or why nodes are not known; NULL: some can, and
			       they are known */
	const char *pages_absent; /* why the location of memory is not known; NULL: it is */
	size_t nodes, areas;
	const char *allowed_cpus, *allowed_nodes; /* lists of what the process could use; "" unknown */
	uint64_t first_ns, last_ns;		  /* times of the examinations */
	uint64_t moved;				  /* number of grains with fragments on several nodes */
	uint64_t hidden_bytes[GRAIN_LOOKS];	  /* sum over the areas */
	/*
	 * Estimated part of the teams' accesses that is remote. remote_least: the smallest possible part,
	 * with the best assignment of pages to threads, if all pages are used equally. remote_alike: the part
	 * if every thread uses all pages equally. NAN: unknown.
	 */
	double remote_least, remote_alike;
};
void grain_graph__numa(const struct grain_graph *graph, struct grain_numa *out);

struct grain_node {
	uint32_t node; /* as the machine numbers it */
	uint32_t cpus;
	uint64_t memory_bytes;		      /* 0 unknown */
	uint64_t work_ns;		      /* of fragments that ran there */
	uint64_t team_ns;		      /* the part of work_ns in parallel regions */
	uint64_t resident_bytes[GRAIN_LOOKS]; /* sum over the areas */
};
/* Nodes are sorted by number. */
void grain_graph__node(const struct grain_graph *graph, size_t index, struct grain_node *out);
/* Returns the index of the CPU's node. GRAIN_NONE: unknown. */
uint32_t grain_graph__node_of_cpu(const struct grain_graph *graph, uint32_t cpu);
/* Returns the distance between two nodes, given by index. GRAIN_NONE: unknown. */
uint32_t grain_graph__node_distance(const struct grain_graph *graph, size_t from, size_t to);
/*
 * The estimated part of all accesses that go from one node to the memory of another if pages are used
 * equally; NAN: unknown.
 */
double grain_graph__node_accesses(const struct grain_graph *graph, size_t from, size_t to);
/* Time of fragments that the thread (grain_graph__thread()) ran on the node, in ns. */
uint64_t grain_graph__thread_on_node(const struct grain_graph *graph, size_t thread, size_t node);

/*
 * Samples of memory accesses: an access is remote if its page is on another node than the CPU of the sample.
 * With n samples a share p has a standard error of about sqrt(p (1 - p) / n).
 */
enum grain_access_why {
	GRAIN_ACCESS_UNKNOWN,  /* the CPU's node is not known, or the page's node is not known for another
				  reason */
	GRAIN_ACCESS_ABSENT,   /* the page was not in memory any more */
	GRAIN_ACCESS_UNMAPPED, /* no page was mapped there any more, or only the shared zero page */
	GRAIN_ACCESS_ENDED,    /* the process had ended */
	GRAIN_ACCESS_REFUSED,  /* the kernel did not report it */
	GRAIN_ACCESS_WHYS
};

struct grain_access_counts {
	uint64_t local, remote;
	uint64_t unknown; /* the page's node is not known */
};

struct grain_accesses {
	const char *event; /* the sampled event; NULL: there are no samples, for the reason `why` */
	const char *why;
	uint32_t hz;
	uint64_t lost;
	struct grain_access_counts all;
	struct grain_access_counts teams;    /* in fragments inside parallel regions */
	struct grain_access_counts grains;   /* the part of `teams` in tasks and chunks */
	uint64_t unknown[GRAIN_ACCESS_WHYS]; /* all.unknown, by cause */
	double remote;			     /* remote part of the teams' accesses; NAN: unknown */
};
void grain_graph__accesses(const struct grain_graph *graph, struct grain_accesses *out);
/*
 * Accesses in the fragments of a context; of all tasks or chunks of a profile row; of all grains with a
 * problem.
 */
void grain_graph__accesses_of(const struct grain_graph *graph, uint32_t context,
			      struct grain_access_counts *out);
void grain_graph__accesses_of_profile(const struct grain_graph *graph, size_t row,
				      struct grain_access_counts *out);
void grain_graph__accesses_of_problem(const struct grain_graph *graph, enum grain_problem problem,
				      struct grain_access_counts *out);
/* Number of accesses of teams from one node to the memory of another. Nodes are given by index. */
uint64_t grain_graph__accesses_between(const struct grain_graph *graph, size_t from, size_t to);
/* Returns the remote part. NAN if no access has a known node. */
double grain_access_counts__remote(const struct grain_access_counts *counts);

/* An area of the program's memory; the one with the most pages comes first. */
struct grain_area {
	const char *name;   /* name of the variable or file; or "" */
	const char *module; /* module of a variable */
	const char *kind; /* "data", "heap", "stack", "allocation", "anonymous", "shared", "file", "other" */
	uint64_t bytes;
	uint64_t step[GRAIN_LOOKS]; /* every how many pages one was examined; 0: the area did not exist */
	uint64_t resident_bytes[GRAIN_LOOKS]; /* on known nodes; estimated for large areas */
	uint64_t hidden_bytes[GRAIN_LOOKS];   /* in memory, but the kernel did not report the node */
	size_t node;			      /* index of the node with most of it at the last examination */
	double on_node; /* part of the pages with known nodes that is on `node`; NAN: none is known */
	double far; /* part of the teams' time that is spent on other nodes than the area's pages, weighted by
		       pages; NAN: unknown */
	bool misplaced; /* nearly all of it is on one node, but the teams spend much time on other nodes */
	struct grain_access_counts accesses; /* sampled accesses of teams to it */
};
void grain_graph__area(const struct grain_graph *graph, size_t index, struct grain_area *out);
uint64_t grain_graph__area_bytes(const struct grain_graph *graph, size_t area, enum grain_look look,
				 size_t node);

#ifdef __cplusplus
}
#endif

#endif
