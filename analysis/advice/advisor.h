/* SPDX-License-Identifier: BSD-2-Clause */
/* Each advice_*.c looks for some kinds of advice. They share this. */
#ifndef GRAIND_ADVISOR_H
#define GRAIND_ADVISOR_H

#include "analysis/graph/graph.h"
#include "analysis/include/grain_account.h"

/* The most definitions that are examined for one kind of advice: those with the highest cost. */
#define ADVICE_CANDIDATES 8
/* A grain is large enough when it runs this many times as long as it takes to create and join. */
#define ADVICE_WORTHWHILE 10
/* The number of grains per thread at which load can still balance. */
#define ADVICE_GRAINS_PER_THREAD 4

struct advisor {
	struct grain_graph *graph;
	size_t capacity;
	double worth_ns;    /* advice that saves less than this is left out */
	double sync_share;  /* share of all wait time in which there was something to run */
	uint64_t *critical; /* per context: ns of its fragments on the critical path */
	bool nested;	    /* teams in teams */
	bool *uneven; /* per definition and, last, for grains without one: the loop has uneven iterations and
			 needs small chunks, so its chunks must not become larger */
	bool *explained;   /* per region: other advice already explains its idle time */
	double *uneven_ns; /* per region: thread time for which the advice on its loops' balance explains why
			      threads are idle */
	const struct grain_account_part **parts; /* per definition: the account of its regions; NULL: none */
};

/* The account of the regions of that definition; NULL: there is none. */
static inline const struct grain_account_part *advisor__part(const struct advisor *advisor,
							     uint32_t definition)
{
	return definition == GRAIN_NONE ? NULL : advisor->parts[definition];
}

/* Time off the CPU, and the words for it. */
struct off_cpu {
	double off_ns,
		ready_ns;    /* ready_ns: the part of off_ns in which the thread could run but had no CPU */
	const char *off;     /* "its threads were off their cores" */
	const char *blocked; /* "its grains were blocked" */
	const char *of_what; /* " of that time" */
};
/*
 * Writes what to do about time off the CPU. The advice depends on the cause: other processes took the CPU,
 * other threads of the program took it, or the thread was blocked.
 */
void advice__off_cpu(const struct grain_graph *graph, const struct off_cpu *what, char *text, size_t size);

/*
 * Writes what to do about threads without a CPU, with the setting that cures it. `own`: other threads of the
 * program have the CPUs; else other programs do, or a quota. Both are struct advice' finding and text.
 */
void advice__without_cpu(const struct grain_graph *graph, bool own, double lost_ns, struct advice *out);

/* A definition with the time that could be saved in it. */
struct stake {
	double saves_ns;
	uint64_t grains;
	uint32_t definition; /* GRAIN_NONE: none */
};
/*
 * Makes zeroed stakes for all definitions, and a last one for grains without a definition. They count against
 * the graph's memory bound. Free them with stakes__free(). Returns 0, -ENOMEM or -E2BIG.
 */
int stakes__new(struct grain_graph *graph, struct stake **out);
void stakes__free(struct grain_graph *graph, struct stake **stakes);
/* Returns the definition's stake. The pointer is valid until the stakes are sorted. */
struct stake *stakes__of(const struct grain_graph *graph, struct stake *stakes, uint32_t definition);
/* Sorts stakes, the largest first. Returns how many are worth a look. */
size_t stakes__sort(const struct advisor *advisor, struct stake *stakes);

/*
 * Adds advice without text and evidence. Limits saves_ns to the wall time. *out is valid until the next
 * advice is added. Returns 0 or -ENOMEM.
 */
int advisor__add(struct advisor *advisor, enum grain_advice_kind kind, enum grain_problem problem,
		 uint32_t definition, double saves_ns, struct advice **out);

/* Threads of the context's team, at least 1. */
uint32_t advisor__threads(const struct grain_graph *graph, const struct context *context);

/*
 * An upper bound of the wall time that is saved when the fragments become `work_ns` shorter, of which
 * `critical_ns` lie on the critical path. As in the what-if, it is in proportion to the bound work / p + span
 * * (1 - 1 / p) for p threads (Brent 1974).
 */
double advisor__shorter(const struct advisor *advisor, double work_ns, double critical_ns);

/* The part of the context's fragments that is on the critical path, 0..1. */
double advisor__critical_share(const struct advisor *advisor, uint32_t context);

/* Nanoseconds as a whole number. Absurd values of broken clocks do not overflow. */
static inline uint64_t advisor__whole(double ns)
{
	return ns < 1e19 ? (uint64_t)ns : (uint64_t)1e19;
}

/* The cost of creating and joining the task. Only the part sync_share of the waiting counts as a cost. */
double advisor__task_cost(const struct advisor *advisor, const struct context *context);

static inline bool region__is_team(const struct region *r)
{
	return r->threads > 1 && !r->incomplete && r->end_ns > r->start_ns;
}

/* Thread time of the region: its duration times its threads. */
static inline double region__core_ns(const struct region *r)
{
	return (double)(r->end_ns - r->start_ns) * r->threads;
}

/*
 * Each function looks for one kind of advice. Returns 0 or a negative errno. The order of calls matters:
 * regions, creation and balance say for which regions they explain the idle time, before parallelism looks at
 * what is left; regions comes before all that would divide a region further; chunks must mark uneven
 * definitions before balance looks at them.
 */
int advisor__small_regions(struct advisor *advisor); /* advice_regions.c */
int advisor__small_tasks(struct advisor *advisor);   /* advice_tasks.c */
int advisor__small_chunks(struct advisor *advisor);  /* advice_chunks.c */
int advisor__creation(struct advisor *advisor);	     /* advice_creation.c */
int advisor__parallelism(struct advisor *advisor);   /* advice_parallelism.c */
int advisor__balance(struct advisor *advisor);	     /* advice_balance.c */
int advisor__inflation(struct advisor *advisor);     /* advice_inflation.c: against a baseline, stalls */
int advisor__locks(struct advisor *advisor);	     /* advice_locks.c */
int advisor__first_touch(struct advisor *advisor);   /* advice_pages.c */
int advisor__losses(struct advisor *advisor);	     /* advice_losses.c: what the account shows */

#endif
