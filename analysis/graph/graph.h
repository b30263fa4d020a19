/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grain graph as the files of analysis/ see it: arrays of compact structs, one array for each kind of
 * element. The items of a context are consecutive and in order. A parent has a smaller index than its
 * children.
 */
#ifndef GRAIND_GRAPH_H
#define GRAIND_GRAPH_H

#include "analysis/event/event.h"
#include "analysis/include/grain_scheduler.h"
#include "analysis/base/memory.h"

enum {
	ITEM_OPEN = 1,	   /* while building: not closed yet */
	ITEM_APART = 1,	   /* its end is in graph->aparts */
	ITEM_CRITICAL = 2, /* on the heaviest path */
	ITEM_JUMP = 4,	   /* a join where the path of another context was heavier */
	ITEM_UNCLOSED = 8, /* its end was not seen */
	ITEM_DROPPED = 16, /* while building: its length is 0, and it will be removed */
	ITEM_ONWARD = 32,  /* the heaviest path goes on to the context's next item */
};

struct item {
	uint64_t start_ns;
	uint64_t own_ns; /* length without the bodies of other contexts */
	uint32_t ref;
	uint32_t place : 23; /* index into places */
	uint32_t kind : 3;   /* enum grain_item_kind */
	uint32_t flags : 6;
};
#define PLACE_LIMIT (1u << 23)

/* An item while the graph is built, in the order in which items opened. */
struct raw_item {
	uint64_t start_ns, end_ns;
	uint64_t own_ns; /* while open: time of other contexts' bodies in it */
	uint32_t context, ref;
	uint32_t thread; /* index into threads */
	uint16_t cpu;
	uint8_t kind;
	uint8_t flags;
};

/* Where an item began. */
struct spot {
	uint32_t thread; /* index into threads */
	uint16_t cpu;
};

/* The end of an item, if the next item of its context does not begin there. */
struct apart {
	uint64_t end_ns;
	uint32_t item;
};

enum {
	CONTEXT_UNDEFERRED = 1,
	CONTEXT_CRITICAL = 2,
	CONTEXT_INCOMPLETE = 4,
	CONTEXT_BEGUN = 8,
	CONTEXT_ENDED = 16,
	CONTEXT_CREATED = 32,	  /* its creation was seen (always true of an initial task) */
	CONTEXT_LEAF = 64,	  /* it forks nothing */
	CONTEXT_UNKNOWN = 128,	  /* a task or member that was running before observation began */
	CONTEXT_DISCARDED = 256,  /* created, cancelled before it began */
	CONTEXT_SPLIT = 512,	  /* a task of the runtime that splits a taskloop: no grain */
	CONTEXT_FULFILLED = 1024, /* a detached task whose event was fulfilled */
	CONTEXT_OFFERED = 8192,	  /* while building: it is deferred and has not begun */
	CONTEXT_PARTIAL = 16384,  /* a descendant is incomplete */
	CONTEXT_ENTERED = 2048,	  /* the heaviest path enters it from its creation */
	CONTEXT_LEFT = 4096,	  /* the heaviest path leaves it to its join */
};

struct context {
	uint32_t parent, definition, region, join;
	uint32_t first_item, item_count;
	uint32_t item; /* the parent's item that holds it; GRAIN_NONE: none */
	uint16_t task_flags;
	uint16_t flags;
	uint8_t kind;	  /* enum grain_context_kind */
	uint8_t problems; /* bits 1 << enum grain_problem */
	bool ready;	  /* while building: it was created and has not begun */
	uint32_t rare;	  /* 1 + index into rares; 0: all values of struct rare are 0 */
	uint64_t start_ns, end_ns, exec_ns, create_ns, wait_ns;
	union {
		struct {
			/* While building. */
			uint32_t group;	  /* innermost taskgroup around its creation */
			uint32_t barrier; /* the latest barrier of its team that joins it */
			uint32_t frame;	  /* while it runs or is suspended: its struct frame */
			uint32_t link;	  /* next in the list of the parent's children that no wait has joined
					     yet */
		};
		struct {
			/* While its items are arranged: */
			uint64_t last_end; /* end of the last item so far */
			uint32_t arranged; /* number of items so far */
		};
		struct {
			/* After graph__measure_siblings(): */
			double cost_ns; /* time to create it and wait for it; NAN: unknown */
			double load_balance;
		};
	};
	uint32_t depth;	  /* number of explicit tasks above it */
	uint32_t ordinal; /* the last number of its identifier */
	uint32_t single;  /* number of the single of its region in which it was created; GRAIN_NONE: none */
	uint32_t number;  /* chunk: index into chunks; task: its number in the stream */
	uint32_t min_parallelism; /* smallest number of fragments that ran while its own fragments ran */
};

/* Times that only few contexts have. */
struct rare {
	uint64_t bookkeeping_ns, lock_ns;
	struct grain_scheduled scheduled;
};

struct join {
	uint64_t start_ns, end_ns;
	uint32_t waiter, region;
	uint32_t ordinal;
	uint32_t joined;
	uint32_t next;	     /* the next barrier of the team */
	uint32_t definition; /* of the wait; GRAIN_NONE if its source was not seen */
	uint32_t awaited;    /* number of team members that arrive and of tasks that it joins */
	uint8_t kind;	     /* enum grain_join_kind */
	uint8_t flags;	     /* JOIN_* */
};
enum { JOIN_CRITICAL = 1, JOIN_REACHED = 2, JOIN_UNCLOSED = 4, JOIN_YIELD = 8 };

struct region {
	uint64_t start_ns, end_ns;
	uint64_t tasks;
	uint64_t idle_ns; /* thread time without anything to run */
	uint64_t barrier_ns, barrier_own_ns,
		barrier_idle_ns; /* thread time in its members' barriers: all of it; without the tasks
				    executed there; only while there was no task to begin */
	double load_balance;
	uint32_t parent, definition;
	uint32_t ordinal, single;
	uint32_t item; /* the parent's GRAIN_REGION item */
	uint32_t declared, threads, first_member;
	uint32_t first_barrier, last_barrier, barriers;
	uint32_t end_join;
	uint32_t awaited; /* number of members that were seen */
	uint32_t loops;	  /* number of loops and sections so far */
	uint32_t max_active;
	uint32_t active; /* while building: how many more threads it lets run fragments */
	bool begun, ended, incomplete, teams;
};

/* One instance of a worksharing loop or sections construct. */
struct loop {
	uint32_t region; /* region whose members share it; GRAIN_NONE: its identifier is made from that of its
			    context */
	uint32_t context; /* the context that entered it first */
	uint32_t definition;
	uint32_t ordinal;
	uint32_t join; /* GRAIN_NONE with nowait */
	uint32_t chunks;
	uint32_t members;	/* number of members that entered it */
	uint32_t minimum_cores; /* 0: absent */
	double load_balance;
	uint64_t start_ns, end_ns;
	uint64_t longest_ns, exec_ns, bookkeeping_ns;
	bool sections, seen, incomplete, hidden, derived;
};

struct chunk {
	int64_t lower, upper;
	uint32_t loop, context, visit;
	uint32_t count; /* number of chunks of a static schedule that it stands for, 1 or more */
	uint32_t copy;	/* number of earlier chunks with the same identifier */
	bool hidden;	/* its bounds are not known */
};

/* The iterations of one task of a taskloop. */
struct task_bounds {
	int64_t lower, upper;
	uint32_t context, taskloop;
};

/* A task dependence: `from` must end before the body of `to` begins. */
struct dependence {
	uint32_t to, from;
	bool critical; /* on the heaviest path */
};

/* A task that a taskwait with depend clauses waits for. */
struct depend_wait {
	uint32_t join, from;
	bool critical;
};

/* omp_fulfill_event for a detached task. */
struct fulfilment {
	uint64_t time_ns;
	uint32_t context;
};

/* The visit of one team member (a context) to a loop. */
struct visit {
	uint64_t exec_ns;
	uint32_t loop, member, chunks;
};

struct member {
	uint64_t busy_ns; /* time of fragments on its thread inside the region */
	uint32_t region, number, context;
};

struct thread {
	uint64_t first_ns, last_ns;
	uint64_t outside_ns;
	uint64_t outside_since;
	uint64_t away_ns; /* time between windows */
	uint64_t off_since;
	struct grain_scheduled scheduled;
	uint64_t unseen; /* number of switches that must have happened but that the kernel did not report */
	uint64_t switches_lost; /* lost records of switches */
	uint32_t off_by;	/* number of a neighbour, 0: none */
	uint16_t off_cpu;
	uint8_t off_reason; /* enum event_reason */
	uint64_t events;    /* while building: number of events that are still to come */
	uint32_t tid;
	uint32_t top; /* top frame, GRAIN_NONE outside of every context */
	uint32_t cpu;
	uint8_t first_kind;
	uint64_t lock_since;
	uint32_t lock_definition;
	bool started, framed, member, locking;
	bool off, on; /* state after the latest switch in this window; both false: no switch was reported */
	bool away;    /* while building: the thread's window has ended */
	size_t came_back; /* in the survey: 1 + index of the first event in its window; 0: none */
};

/* The imbalance of one definition on the critical path: of siblings, or of a team's members in a loop. */
struct imbalance {
	double excess_ns;	    /* sum of longest minus mean */
	double longest_ns, mean_ns; /* of the group with the largest imbalance */
	uint32_t members;
	uint32_t worst; /* the longest sibling */
};

/* How much a neighbour delayed fragments. */
struct taken {
	uint64_t preemptions, ns;
};

/* A sample: where a thread was. */
struct sample {
	uint32_t stack;	  /* index of its stack in the stream */
	uint32_t context; /* innermost context, GRAIN_NONE: none */
	bool working;	  /* it was in a fragment of that context */
};

struct grain_graph {
	struct event_stream *stream;
	struct grain_info info;
	struct grain_truth truth;
	struct grain_totals totals;
	struct memory memory;
	struct grain_settings settings;
	struct imbalance *imbalance; /* per definition and, last, for none */
	struct counters *counters;   /* counters.h; NULL: the capture has none */
	struct account *account;     /* account/account.h */
	struct topology *topology;   /* topology.h; NULL: scatter is absent */
	struct numa *numa;	     /* numa.h */
	uint64_t interval_ns;	     /* interval for instantaneous parallelism; 0: exact, or absent */
	/* Why a metric is not available; "": it is available. */
	char absent[GRAIN_PROBLEM_COUNT][160];
	/*
	 * Per context: exec here / exec of its counterpart in the baseline. NAN: absent. The pointer is NULL
	 * if it is absent for all.
	 */
	double *deviation;
	const char *deviation_why; /* why deviation is NULL */
	char violation[160];

	struct context *contexts;
	size_t context_count, context_capacity;
	double *scatters; /* per context; NULL: absent for all */
	struct rare *rares;
	size_t rare_count, rare_capacity;
	struct raw_item *raw; /* NULL once the graph is built */
	size_t raw_count, raw_capacity;
	struct item *items;
	size_t item_count;
	struct spot *places;
	size_t place_count, place_capacity;
	struct apart *aparts; /* ascending items */
	size_t apart_count, apart_capacity;
	struct join *joins;
	size_t join_count, join_capacity;
	struct region *regions;
	size_t region_count;
	struct member *members; /* those of region r: [first_member, first_member + threads) */
	size_t member_count, member_capacity;
	struct loop *loops;
	size_t loop_count;
	struct chunk *chunks;
	size_t chunk_count, chunk_capacity;
	struct visit *visits;
	size_t visit_count, visit_capacity;
	struct task_bounds *bounds; /* ascending contexts */
	size_t bounds_count, bounds_capacity;
	struct dependence *depends; /* sorted, each pair once */
	size_t depend_count, depend_capacity;
	struct depend_wait *depend_waits; /* sorted, each pair once */
	size_t depend_wait_count, depend_wait_capacity;
	struct fulfilment *fulfilments; /* ascending contexts */
	size_t fulfilment_count, fulfilment_capacity;
	struct grain_lock *locks; /* the longest wait first */
	size_t lock_count, lock_capacity;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	uint32_t *definition_of_source; /* by index into stream->sources */
	struct grain_definition *definitions;
	size_t definition_count;
	char *definition_text;
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct sample_names *functions, *lines; /* names of sampled addresses (sample_names.h) */
	struct taken *taken; /* per neighbour of the stream; NULL: none delayed fragments */
	struct grain_neighbour *neighbours;
	size_t neighbour_count;
	bool scheduler_seen; /* off-cpu events exist: cpu time is known */
	bool events_dropped; /* the stream's events were freed */

	struct grain_problem_summary problems[GRAIN_PROBLEM_COUNT];
	struct grain_profile *profiles;
	size_t profile_count;
	struct tasking *tasking; /* tasking.h */
	struct grain_depth *depths;
	size_t depth_count;
	struct advice *advice;
	size_t advice_count;
	/*
	 * Temporary results of the heaviest path. They are kept until all metrics that need them are
	 * computed.
	 */
	struct grain_coverage coverage;
	uint64_t *path_start, *path_end;
	uint64_t
		*inclusive_ns; /* temporary, for profile and advice: per context, including all descendants */
};

struct advice {
	struct grain_advice public;
	char finding[512], text[512];
};

/*
 * Builds the graph with all metrics. Takes ownership of `stream` in every case, also on failure. Returns 0,
 * or a negative errno with *err set.
 */
int grain_graph__build(struct event_stream *stream, const struct grain_load_opts *opts,
		       struct grain_graph **out, struct grain_error *err);

/* A step of grain_graph__build(): fills `violation` if times do not add up (graph_check.c). */
int graph__check_conservation(struct grain_graph *graph);

void tasking__free(struct tasking *tasking); /* tasking_rows.c; accepts NULL */

/* Parallel benefit: exec / cost. NAN if absent. */
double context__benefit(const struct context *c); /* context.c */
/*
 * Instantaneous parallelism. NAN if the context has no fragment longer than 0, or the value would be
 * misleading.
 */
double context__parallelism(const struct context *c); /* metrics_problems.c */

/* Work deviation. NAN if absent. */
double graph__deviation(const struct grain_graph *graph, uint32_t context); /* compare_deviation.c */

/* Records why a metric is absent for all grains; the first reason is kept. */
void graph__absent(struct grain_graph *graph, enum grain_problem problem, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Return NULL if it is not known: the iterations of a taskloop's task, and the fulfilment of a detached task.
 */
const struct task_bounds *graph__task_bounds(const struct grain_graph *graph, uint32_t context);
const struct fulfilment *graph__fulfilment(const struct grain_graph *graph, uint32_t context);
/* The first of the dependences of `context`; graph->depend_count when there is none. */
size_t graph__first_dependence(const struct grain_graph *graph, uint32_t context);
/* Returns the first task that a taskwait with depend waits for; graph->depend_wait_count if there is none. */
size_t graph__first_depend_wait(const struct grain_graph *graph, uint32_t join);

uint64_t graph__apart_end(const struct grain_graph *graph, uint32_t item); /* graph_arrange.c */
/*
 * The end of an item of a finished graph. graph__item_context() returns the context of an item. It searches,
 * so prefer a loop over contexts.
 */
static inline uint64_t graph__item_end(const struct grain_graph *graph, uint32_t index)
{
	const struct item *item = &graph->items[index];

	if (item->flags & ITEM_APART)
		return graph__apart_end(graph, index);
	return item->kind == GRAIN_FRAGMENT ? item->start_ns + item->own_ns : item[1].start_ns;
}
uint32_t graph__item_context(const struct grain_graph *graph, uint32_t item); /* graph_arrange.c */

/* Whether the chunk's identifier names the member that executed it instead of its iterations. */
static inline bool chunk__by_member(const struct chunk *chunk)
{
	return chunk->hidden || chunk->count > 1;
}

/*
 * Returns the context's struct rare for writing. Makes it if needed. *out is valid until the next call.
 * Returns 0, -ENOMEM or -E2BIG.
 */
int graph__rare(struct grain_graph *graph, uint32_t context, struct rare **out); /* context.c */

static inline uint64_t context__bookkeeping(const struct grain_graph *graph, const struct context *c)
{
	return c->rare ? graph->rares[c->rare - 1].bookkeeping_ns : 0;
}

static inline uint64_t context__off(const struct grain_graph *graph, const struct context *c)
{
	return c->rare ? graph->rares[c->rare - 1].scheduled.off_ns : 0;
}

/* The part of context__off() in which the thread could run but had no CPU. */
static inline uint64_t context__ready(const struct grain_graph *graph, const struct context *c)
{
	return c->rare ? graph->rares[c->rare - 1].scheduled.ready_ns : 0;
}

static inline uint64_t context__lock(const struct grain_graph *graph, const struct context *c)
{
	return c->rare ? graph->rares[c->rare - 1].lock_ns : 0;
}

/* NAN when absent. */
static inline double context__scatter(const struct grain_graph *graph, const struct context *c)
{
	return graph->scatters ? graph->scatters[c - graph->contexts] : __builtin_nan("");
}

/* CPU time in the context's fragments. Valid only if scheduling was recorded. */
static inline uint64_t context__cpu(const struct grain_graph *graph, const struct context *c)
{
	uint64_t off_ns = context__off(graph, c);

	return c->exec_ns > off_ns ? c->exec_ns - off_ns : 0;
}

static inline bool context__is_grain(const struct context *c)
{
	return (c->kind == GRAIN_TASK && !(c->flags & CONTEXT_SPLIT)) || c->kind == GRAIN_CHUNK;
}

/* Whether the sample was in a fragment of a grain. */
static inline bool sample__is_in_grain(const struct sample *s, const struct context *contexts)
{
	return s->context != GRAIN_NONE && s->working && context__is_grain(&contexts[s->context]);
}

/* A grain that was seen from its begin to its end. */
static inline bool context__is_complete_grain(const struct context *c)
{
	return context__is_grain(c) && !(c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED));
}

/* Returns the parent in the program. Skips tasks that the runtime made to split a taskloop. */
static inline uint32_t context__parent(const struct grain_graph *graph, const struct context *c)
{
	uint32_t parent = c->parent;

	while (parent != GRAIN_NONE && graph->contexts[parent].flags & CONTEXT_SPLIT)
		parent = graph->contexts[parent].parent;
	return parent;
}

#endif
