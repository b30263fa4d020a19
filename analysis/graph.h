/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The graph as this folder's files see it: arrays of compact structs, one per
 * kind of element. A context's items lie together, in order; a parent's index
 * is smaller than its children's.
 */
#ifndef GRAIND_GRAPH_H
#define GRAIND_GRAPH_H

#include "analysis/event.h"
#include "analysis/grain_scheduler.h"

enum {
	ITEM_OPEN = 1,	   /* while building: not closed yet */
	ITEM_APART = 1,	   /* its end is among the aparts */
	ITEM_CRITICAL = 2, /* on the heaviest path */
	ITEM_JUMP = 4,	   /* a join at which another context's path was the heavier */
	ITEM_UNCLOSED = 8, /* its end was not seen */
	ITEM_DROPPED = 16, /* while building: of length 0 and not needed */
	ITEM_ONWARD = 32,  /* the heaviest path goes on to the context's next item */
};

struct item {
	uint64_t start_ns;
	uint64_t own_ns; /* length less other contexts' bodies */
	uint32_t ref;
	uint32_t place : 23; /* index into places */
	uint32_t kind : 3;   /* enum grain_item_kind */
	uint32_t flags : 6;
};
#define PLACE_LIMIT (1u << 23)

/* While building, in the order in which they opened. */
struct raw_item {
	uint64_t start_ns, end_ns;
	uint64_t own_ns; /* while open: those bodies */
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

/* The end of an item that is not where the next one of its context begins. */
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
	CONTEXT_LEAF = 64,	  /* forks nothing */
	CONTEXT_UNKNOWN = 128,	  /* a task or member that was running before observation began */
	CONTEXT_DISCARDED = 256,  /* created, cancelled before it began */
	CONTEXT_SPLIT = 512,	  /* a task of the runtime that splits a taskloop: no grain */
	CONTEXT_FULFILLED = 1024, /* a detached task whose event was fulfilled */
	CONTEXT_OFFERED = 8192,	  /* while building: deferred, and not begun yet */
	CONTEXT_PARTIAL = 16384,  /* a descendant is incomplete */
	CONTEXT_ENTERED = 2048,	  /* by the heaviest path, from what created it */
	CONTEXT_LEFT = 4096,	  /* by the heaviest path, to what joins it */
};

struct context {
	uint32_t parent, definition, region, join;
	uint32_t first_item, item_count;
	uint32_t item; /* the parent's item that holds it, GRAIN_NONE */
	uint16_t task_flags;
	uint16_t flags;
	uint8_t kind;	  /* enum grain_context_kind */
	uint8_t problems; /* bits 1 << enum grain_problem */
	bool ready;	  /* while building: created and not begun */
	uint32_t rare;	  /* 1 + index into rares, 0: all of it is 0 */
	uint64_t start_ns, end_ns, exec_ns, create_ns, wait_ns;
	union {
		struct {
			/* While building. */
			uint32_t group;	  /* innermost taskgroup around its creation */
			uint32_t barrier; /* join of its team that ends it at the latest */
			uint32_t frame;	  /* while it is live: its struct frame */
			uint32_t link;	  /* list of the parent's children that are not joined */
		};
		struct {
			/* While its items are arranged: */
			uint64_t last_end; /* of the last one */
			uint32_t arranged; /* so many so far */
		};
		struct {
			/* From graph__measure_siblings on. */
			double cost_ns; /* of creating it and waiting for it, NAN unknown */
			double load_balance;
		};
	};
	uint32_t depth;		  /* explicit tasks above */
	uint32_t ordinal;	  /* last number of its identifier */
	uint32_t single;	  /* made inside this single of its region, GRAIN_NONE */
	uint32_t number;	  /* of a chunk: index into chunks; of a task: the stream's number */
	uint32_t min_parallelism; /* smallest number of fragments running during its own */
};

/* Times that few contexts have. */
struct rare {
	uint64_t bookkeeping_ns, lock_ns;
	struct grain_scheduled scheduled;
};

struct join {
	uint64_t start_ns, end_ns;
	uint32_t waiter, region;
	uint32_t ordinal;
	uint32_t joined;
	uint32_t next;	     /* the team's following barrier */
	uint32_t definition; /* of the wait, as far as its source was seen */
	uint32_t awaited;    /* arrivals of a team's members, and tasks that it joins */
	uint8_t kind;	     /* enum grain_join_kind */
	uint8_t flags;	     /* JOIN_* */
};
enum { JOIN_CRITICAL = 1, JOIN_REACHED = 2, JOIN_UNCLOSED = 4, JOIN_YIELD = 8 };

struct region {
	uint64_t start_ns, end_ns;
	uint64_t tasks;
	uint64_t idle_ns;				      /* thread time without anything to run */
	uint64_t barrier_ns, barrier_own_ns, barrier_idle_ns; /* of its members' barriers: thread time,
								 without tasks, without tasks to begin */
	double load_balance;
	uint32_t parent, definition;
	uint32_t ordinal, single;
	uint32_t item; /* the parent's GRAIN_REGION item */
	uint32_t declared, threads, first_member;
	uint32_t first_barrier, last_barrier, barriers;
	uint32_t end_join;
	uint32_t awaited; /* members that were seen */
	uint32_t loops;	  /* loops and sections numbered so far */
	uint32_t max_active;
	uint32_t active; /* while building: threads that it adds to those that could run fragments */
	bool begun, ended, incomplete, teams;
};

/* A worksharing loop or sections construct, one instance. */
struct loop {
	uint32_t region;  /* whose members share it; GRAIN_NONE: named by its context */
	uint32_t context; /* that entered it first */
	uint32_t definition;
	uint32_t ordinal;
	uint32_t join; /* GRAIN_NONE with nowait */
	uint32_t chunks;
	uint32_t members;	/* that entered it */
	uint32_t minimum_cores; /* 0: absent */
	double load_balance;
	uint64_t start_ns, end_ns;
	uint64_t longest_ns, exec_ns, bookkeeping_ns;
	bool sections, seen, incomplete, hidden, derived;
};

struct chunk {
	int64_t lower, upper;
	uint32_t loop, context, visit;
	uint32_t count; /* chunks of a static schedule that it stands for, 1 or more */
	uint32_t copy;	/* so many of the same name came before it */
	bool hidden;	/* its bounds are not known */
};

/* Iterations of a taskloop's task. */
struct task_bounds {
	int64_t lower, upper;
	uint32_t context, taskloop;
};

/* A task that must be over before the body of `to` begins. */
struct dependence {
	uint32_t to, from;
	bool critical; /* on the heaviest path */
};

/* A taskwait with depend and a task that it waits for. */
struct depend_wait {
	uint32_t join, from;
	bool critical;
};

/* omp_fulfill_event for a detached task. */
struct fulfilment {
	uint64_t time_ns;
	uint32_t context;
};

/* One team member's (context's) visit to a loop. */
struct visit {
	uint64_t exec_ns;
	uint32_t loop, member, chunks;
};

struct member {
	uint64_t busy_ns; /* fragments run on its thread inside the region */
	uint32_t region, number, context;
};

struct thread {
	uint64_t first_ns, last_ns;
	uint64_t outside_ns;
	uint64_t outside_since;
	uint64_t away_ns; /* between windows */
	uint64_t off_since;
	struct grain_scheduled scheduled;
	uint64_t unseen;	/* switches that the scheduler made but the kernel did not tell */
	uint64_t switches_lost; /* records of them */
	uint32_t off_by;	/* number of a neighbour, 0: none */
	uint16_t off_cpu;
	uint8_t off_reason; /* enum event_reason */
	uint64_t events;    /* still to come, while building */
	uint32_t tid;
	uint32_t top; /* frame, GRAIN_NONE when outside of every context */
	uint32_t cpu;
	uint8_t first_kind;
	uint64_t lock_since;
	uint32_t lock_definition;
	bool started, framed, member, locking;
	bool off, on;	  /* by the latest switch in this window; neither: none was told */
	bool away;	  /* while building: its window is over */
	size_t came_back; /* in the survey: 1 + index of the event with which its window began, 0 */
};

/* What unequal siblings, or members in a loop, of one definition cost on the critical path. */
struct imbalance {
	double excess_ns;	    /* sum of longest minus mean */
	double longest_ns, mean_ns; /* of the worst group */
	uint32_t members;
	uint32_t worst; /* of siblings: the longest */
};

/* What a neighbour took from fragments. */
struct taken {
	uint64_t preemptions, ns;
};

/* Where a thread was when it was asked. */
struct sample {
	uint32_t stack;	  /* of the stream */
	uint32_t context; /* the innermost, GRAIN_NONE: in none */
	bool working;	  /* in a fragment of it */
};

struct memory {
	uint64_t used, max;
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
	struct topology *topology;   /* topology.h; NULL: scatter is absent */
	struct numa *numa;	     /* numa.h */
	uint64_t interval_ns;	     /* of instantaneous parallelism; 0: exact, or absent */
	/* Why a metric cannot be had; "": it can. */
	char absent[GRAIN_PROBLEM_COUNT][160];
	/* Per context: exec here / exec of its namesake in the baseline, NAN absent; NULL: absent of all. */
	double *deviation;
	const char *deviation_why; /* when NULL */
	char violation[160];

	struct context *contexts;
	size_t context_count, context_capacity;
	double *scatters; /* per context; NULL: absent of all */
	struct rare *rares;
	size_t rare_count, rare_capacity;
	struct raw_item *raw; /* NULL when built */
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
	struct member *members; /* of region r: [first_member, first_member + threads) */
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
	struct sample_names *functions, *lines; /* that samples were in (sample_names.h) */
	struct taken *taken;			/* per neighbour of the stream; NULL: none took anything */
	struct grain_neighbour *neighbours;
	size_t neighbour_count;
	bool scheduler_seen; /* off-cpu events exist: cpu time is known */
	bool events_dropped; /* the stream has none any more */

	struct grain_problem_summary problems[GRAIN_PROBLEM_COUNT];
	struct grain_profile *profiles;
	size_t profile_count;
	struct tasking *tasking; /* tasking.h */
	struct grain_depth *depths;
	size_t depth_count;
	struct advice *advice;
	size_t advice_count;
	/* Scratch of the heaviest path, kept until the metrics that need it are done. */
	struct grain_coverage coverage;
	uint64_t *path_start, *path_end;
	uint64_t *inclusive_ns; /* scratch of profile and advice: per context, its descendants included */
};

struct advice {
	struct grain_advice public;
	char finding[512], text[512];
};

/*
 * Takes over `stream` in every case, also on failure. The graph is complete
 * with all metrics.
 */
int grain_graph__build(struct event_stream *stream, const struct grain_load_opts *opts,
		       struct grain_graph **out, struct grain_error *err);

/*
 * Makes room for one more element in a growing array; the bound of `memory`
 * gives -E2BIG. On failure the array is as it was.
 */
int memory__grow(struct memory *memory, void **array, size_t *capacity, size_t count, size_t size);
/*
 * Makes room for what will probably be so many elements, where they are many
 * and the bound leaves plenty: what is then not used costs nothing, and growing
 * step by step does.
 */
void memory__reserve(struct memory *memory, void **array, size_t *capacity, size_t count, size_t size);
/* Zeroed array of a fixed length, counted against the bound; NULL in *out for length 0 is possible. */
int memory__array(struct memory *memory, size_t count, size_t size, void **out);
/* Frees an array that memory__array made and gives its bytes back to the bound. */
void memory__release(struct memory *memory, void **array, size_t count, size_t size);

#define GROW(graph, field, count, capacity)                                                                  \
	((graph)->count < (graph)->capacity                                                                  \
		 ? 0                                                                                         \
		 : memory__grow(&(graph)->memory, (void **)&(graph)->field, &(graph)->capacity,              \
				(graph)->count, sizeof *(graph)->field))

/* The steps of grain_graph__build, in this order. */
int graph__number_definitions(struct grain_graph *graph); /* graph_definitions.c */
int graph__replay(struct grain_graph *graph, const struct grain_load_opts *opts,
		  struct grain_error *err); /* graph_build.c */
int graph__arrange(
	struct grain_graph *graph); /* graph_arrange.c: items by context, members by region, joins */
int graph__name_loops(struct grain_graph *graph); /* graph_names.c: copies of chunks, taskloops' tasks */
int graph__check_conservation(struct grain_graph *graph);  /* graph_check.c */
int graph__find_span(struct grain_graph *graph);	   /* metrics_span.c */
int graph__measure_parallelism(struct grain_graph *graph); /* metrics_parallelism.c */
int graph__name_neighbours(struct grain_graph *graph);	   /* graph_scheduler.c */
int graph__measure_counters(struct grain_graph *graph);	   /* counters.c */
int graph__profile_counters(struct grain_graph *graph);	   /* counters.c, after graph__profile */
int graph__measure_siblings(struct grain_graph *graph);	   /* metrics_siblings.c */
int graph__measure_loops(struct grain_graph *graph);	   /* metrics_loops.c */
/* compare_deviation.c; baseline NULL: there is none */
int graph__measure_deviation(struct grain_graph *graph, const struct grain_graph *baseline);
/* compare_deviation.c, after graph__profile */
int graph__profile_deviation(struct grain_graph *graph);
/* windows.c: the wall time that was recorded, and is in the graph */
uint64_t graph__recorded_ns(const struct grain_graph *graph);
/* ... up to the end of the first window */
uint64_t graph__first_window_ns(const struct grain_graph *graph);
/* Whether windows are of one run that was recorded all the time, one after the other, with others left out.
 */
bool graph__windows_follow(const struct grain_graph *graph);
/* The last one that had begun by then; there are windows. */
size_t graph__window_at(const struct grain_graph *graph, uint64_t time_ns);
void graph__flag_problems(struct grain_graph *graph); /* metrics_problems.c */
int graph__profile(struct grain_graph *graph);	      /* profile.c; makes inclusive_ns */
int graph__advise(struct grain_graph *graph);	      /* advice.c */

void tasking__free(struct tasking *tasking); /* tasking_profile.c; accepts NULL */

/* exec / cost; NAN when absent. */
double context__benefit(const struct context *c); /* metrics_problems.c */
/* NAN where it has no fragment of positive length or would be falsified. */
double context__parallelism(const struct context *c); /* metrics_problems.c */

/* Work deviation; NAN when absent. */
double graph__deviation(const struct grain_graph *graph, uint32_t context); /* compare_deviation.c */

/* What is known of a taskloop's task or of a detached one; NULL: nothing. */
const struct task_bounds *graph__task_bounds(const struct grain_graph *graph, uint32_t context);
const struct fulfilment *graph__fulfilment(const struct grain_graph *graph, uint32_t context);
/* The first of the dependences of `context`; graph->depend_count when there is none. */
size_t graph__first_dependence(const struct grain_graph *graph, uint32_t context);
/* Likewise of what the wait waits for, graph->depend_wait_count. */
size_t graph__first_depend_wait(const struct grain_graph *graph, uint32_t join);

uint64_t graph__apart_end(const struct grain_graph *graph, uint32_t item); /* graph_arrange.c */
/* Of an item of a finished graph; what it is in: a search, for where no loop over contexts gives it. */
static inline uint64_t graph__item_end(const struct grain_graph *graph, uint32_t index)
{
	const struct item *item = &graph->items[index];

	if (item->flags & ITEM_APART)
		return graph__apart_end(graph, index);
	return item->kind == GRAIN_FRAGMENT ? item->start_ns + item->own_ns : item[1].start_ns;
}
uint32_t graph__item_context(const struct grain_graph *graph, uint32_t item); /* graph_arrange.c */

/* Whether its name says who executed it, not what. */
static inline bool chunk__by_member(const struct chunk *chunk)
{
	return chunk->hidden || chunk->count > 1;
}

/* For writing; *out is valid until the next call. */
int graph__rare(struct grain_graph *graph, uint32_t context, struct rare **out); /* graph_memory.c */

static inline uint64_t context__bookkeeping(const struct grain_graph *graph, const struct context *c)
{
	return c->rare ? graph->rares[c->rare - 1].bookkeeping_ns : 0;
}

static inline uint64_t context__off(const struct grain_graph *graph, const struct context *c)
{
	return c->rare ? graph->rares[c->rare - 1].scheduled.off_ns : 0;
}

/* Of that, able to run but without a CPU. */
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

/* On the CPU in its fragments; where the scheduler was seen. */
static inline uint64_t context__cpu(const struct grain_graph *graph, const struct context *c)
{
	uint64_t off_ns = context__off(graph, c);

	return c->exec_ns > off_ns ? c->exec_ns - off_ns : 0;
}

static inline bool context__is_grain(const struct context *c)
{
	return (c->kind == GRAIN_TASK && !(c->flags & CONTEXT_SPLIT)) || c->kind == GRAIN_CHUNK;
}

/* In the own code of a grain. */
static inline bool sample__is_in_grain(const struct sample *s, const struct context *contexts)
{
	return s->context != GRAIN_NONE && s->working && context__is_grain(&contexts[s->context]);
}

/* A grain that was seen from its begin to its end. */
static inline bool context__is_complete_grain(const struct context *c)
{
	return context__is_grain(c) && !(c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED));
}

/* The parent in the program: the runtime's own tasks are passed over. */
static inline uint32_t context__parent(const struct grain_graph *graph, const struct context *c)
{
	uint32_t parent = c->parent;

	while (parent != GRAIN_NONE && graph->contexts[parent].flags & CONTEXT_SPLIT)
		parent = graph->contexts[parent].parent;
	return parent;
}

#endif
