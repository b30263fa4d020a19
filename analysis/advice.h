/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kinds of advice share: who looks for them, and how one is made. */
#ifndef GRAIND_ADVICE_H
#define GRAIND_ADVICE_H

#include "analysis/graph.h"

/* Definitions of one kind of advice that are looked at more closely, the costliest first. */
#define ADVICE_CANDIDATES 8
/* A grain is worth its management when it runs this many times as long. */
#define ADVICE_WORTHWHILE 10
/* Grains per thread that still balance. */
#define ADVICE_GRAINS_PER_THREAD 4

struct advisor {
	struct grain_graph *graph;
	size_t capacity;
	double worth_ns;    /* less is not worth saying */
	double sync_share;  /* of all waiting, what is not for lack of something to run */
	uint64_t *critical; /* per context: its fragments on the critical path */
	bool *uneven;	    /* per definition and, last, for none: small chunks that must not become larger */
	bool *explained;    /* per region: its idle time has been spoken of */
};

/* Time off the CPU and how it is told of. */
struct off_cpu {
	double off_ns, ready_ns; /* ready: of it, for lack of a CPU */
	const char *off;	 /* "its threads were off their cores" */
	const char *blocked;	 /* "its grains were blocked" */
	const char *of_what;	 /* " of that time" */
};
/* What to do about it: others took the CPU, its own threads did, or it waited for something else. */
void advice__off_cpu(const struct grain_graph *graph, const struct off_cpu *what, char *text, size_t size);

/* A definition with what is at stake in it. */
struct stake {
	double saves_ns;
	uint64_t grains;
	uint32_t definition; /* GRAIN_NONE: none */
};
/* Zeroed stakes of all definitions and, last, of none, under the graph's bound; freed by stakes__free. */
int stakes__new(struct grain_graph *graph, struct stake **out);
void stakes__free(struct grain_graph *graph, struct stake **stakes);
/* Where the definition's stake is while they are not sorted. */
struct stake *stakes__of(const struct grain_graph *graph, struct stake *stakes, uint32_t definition);
/* The largest first; returns how many are worth looking at. */
size_t stakes__sort(const struct advisor *advisor, struct stake *stakes);

/*
 * A new advice without text and evidence; saves_ns is cut to the wall time. The
 * pointer is valid until the next is made.
 */
int advisor__add(struct advisor *advisor, enum grain_advice_kind kind, enum grain_problem problem,
		 uint32_t definition, double saves_ns, struct advice **out);

/* Threads of the context's team, at least 1. */
uint32_t advisor__threads(const struct grain_graph *graph, const struct context *context);

/*
 * An upper bound of the wall time that goes when `work_ns` of the fragments
 * go, `critical_ns` of them on the critical path: in proportion to the bound
 * work / p + span * (1 - 1 / p) of p threads (Brent 1974), as the what-if has it.
 */
double advisor__shorter(const struct advisor *advisor, double work_ns, double critical_ns);

/* Part of the context's fragments that is on the critical path, 0..1. */
double advisor__critical_share(const struct advisor *advisor, uint32_t context);

/* Nanoseconds as a whole number; clocks that went wild do not overflow. */
static inline uint64_t advisor__whole(double ns)
{
	return ns < 1e19 ? (uint64_t)ns : (uint64_t)1e19;
}

/* What creating and joining the task costs when only sync_share of the waiting is a cost. */
double advisor__task_cost(const struct advisor *advisor, const struct context *context);

static inline bool region__is_team(const struct region *r)
{
	return r->threads > 1 && !r->incomplete && r->end_ns > r->start_ns;
}

/* Time of all its threads. */
static inline double region__core_ns(const struct region *r)
{
	return (double)(r->end_ns - r->start_ns) * r->threads;
}

/*
 * One kind each; 0 or a negative errno. The order matters: chunks say which are
 * uneven before the balance is looked at, creation which regions are explained
 * before their parallelism is.
 */
int advisor__small_tasks(struct advisor *advisor);  /* advice_tasks.c */
int advisor__small_chunks(struct advisor *advisor); /* advice_chunks.c */
int advisor__creation(struct advisor *advisor);	    /* advice_creation.c */
int advisor__parallelism(struct advisor *advisor);  /* advice_parallelism.c */
int advisor__balance(struct advisor *advisor);	    /* advice_balance.c */
int advisor__inflation(struct advisor *advisor);    /* advice_inflation.c: against a baseline, stalls */
int advisor__locks(struct advisor *advisor);	    /* advice_locks.c */
int advisor__first_touch(struct advisor *advisor);  /* advice_pages.c */

#endif
