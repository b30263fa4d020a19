/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NUMA: the machine's nodes, on which of them a program's fragments ran and on which its memory lay.
 * Where addresses of accesses were sampled, remote ones are those; else what can be said of them follows from
 * where pages are.
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
	uint64_t hidden_bytes[GRAIN_LOOKS];	  /* of the areas */
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

/*
 * Samples of accesses to memory: remote ones are those to pages on another node than that of the CPU at the
 * sample. Of n a share p is known to about sqrt(p (1 - p) / n).
 */
enum grain_access_why {
	GRAIN_ACCESS_UNKNOWN,  /* the CPU's node is not known, or the page's for no known reason */
	GRAIN_ACCESS_ABSENT,   /* the page was not in memory any more */
	GRAIN_ACCESS_UNMAPPED, /* there was none any more, or the one of zeros that all processes share */
	GRAIN_ACCESS_ENDED,    /* the process had ended */
	GRAIN_ACCESS_REFUSED,  /* the kernel did not tell */
	GRAIN_ACCESS_WHYS
};

struct grain_access_counts {
	uint64_t local, remote;
	uint64_t unknown; /* the page's node */
};

struct grain_accesses {
	const char *event; /* whose samples they are; NULL: there are none, for the reason `why` */
	const char *why;
	uint32_t hz;
	uint64_t lost;
	struct grain_access_counts all;
	struct grain_access_counts teams;    /* in the own code of what runs in parallel regions */
	struct grain_access_counts grains;   /* of tasks and chunks among them */
	uint64_t unknown[GRAIN_ACCESS_WHYS]; /* all.unknown, by cause */
	double remote;			     /* part of the teams'; NAN unknown */
};
void grain_graph__accesses(const struct grain_graph *graph, struct grain_accesses *out);
/* Those in the own code of a context; of the tasks or chunks of a row of the profile; of grains with a
 * problem. */
void grain_graph__accesses_of(const struct grain_graph *graph, uint32_t context,
			      struct grain_access_counts *out);
void grain_graph__accesses_of_profile(const struct grain_graph *graph, size_t row,
				      struct grain_access_counts *out);
void grain_graph__accesses_of_problem(const struct grain_graph *graph, enum grain_problem problem,
				      struct grain_access_counts *out);
/* The teams' from one node to another's memory, by index. */
uint64_t grain_graph__accesses_between(const struct grain_graph *graph, size_t from, size_t to);
/* NAN: none whose node is known. */
double grain_access_counts__remote(const struct grain_access_counts *counts);

/* A part of the program's memory, the one with the most pages first. */
struct grain_area {
	const char *name;   /* of the variable or the file; "" */
	const char *module; /* of a variable */
	const char *kind; /* "data", "heap", "stack", "allocation", "anonymous", "shared", "file", "other" */
	uint64_t bytes;
	uint64_t step[GRAIN_LOOKS];	      /* every so many'th page was looked at; 0: it was not there */
	uint64_t resident_bytes[GRAIN_LOOKS]; /* on a node that is known; of large ones estimated */
	uint64_t hidden_bytes[GRAIN_LOOKS];   /* in memory, the kernel did not tell on which node */
	size_t node;			      /* index of the node with most of it at last */
	double on_node;			      /* part of what is known that is there, NAN nothing */
	double far;	/* part of teams' time on other nodes than its pages, by their parts; NAN unknown */
	bool misplaced; /* nearly all that is in memory on one node, while much of the time is spent on others
			 */
	struct grain_access_counts accesses; /* sampled ones of it, by teams */
};
void grain_graph__area(const struct grain_graph *graph, size_t index, struct grain_area *out);
uint64_t grain_graph__area_bytes(const struct grain_graph *graph, size_t area, enum grain_look look,
				 size_t node);

#ifdef __cplusplus
}
#endif

#endif
