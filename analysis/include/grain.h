/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The analysis library. It reads a trace file or an event log, and makes the grain graph, its metrics and
 * their machine-readable forms. It needs no privilege. It touches only the files that it is told to read and
 * the streams that it is told to write.
 *
 * Terms follow Muddukrishna et al., "Grain graphs: OpenMP performance analysis made easy", PPoPP 2016;
 * analysis/README.md defines every element. Times are nanoseconds of CLOCK_MONOTONIC.
 *
 * A loaded graph does not change. All its strings and arrays belong to it and live as long as it does.
 * Indices run from 0 to the matching count - 1; GRAIN_NONE stands for "no such element".
 */
#ifndef GRAIND_GRAIN_H
#define GRAIND_GRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_NONE UINT32_MAX

struct grain_graph;

/* One line that says what is wrong, where, and what to do about it. */
struct grain_error {
	char text[512];
};

/*
 * How instantaneous parallelism is computed (PPOPP16 section 3.2). The exact value comes from a sweep over
 * time, the others from intervals.
 */
enum grain_parallelism {
	GRAIN_PARALLELISM_EXACT, /* the smallest number of fragments that run at any time of the grain's own
				    fragments */
	GRAIN_PARALLELISM_OPTIMISTIC,	/* a grain counts in every interval that it overlaps */
	GRAIN_PARALLELISM_CONSERVATIVE, /* a grain counts only in intervals that it fills */
};
/* Length of those intervals. */
enum grain_interval {
	GRAIN_INTERVAL_MEDIAN,	/* the median length of grains */
	GRAIN_INTERVAL_MINIMUM, /* the shortest grain */
	GRAIN_INTERVAL_GAP,	/* the smallest time between the start of one grain and the end of another */
	GRAIN_INTERVAL_GIVEN,	/* interval_ns */
};

/* Thresholds and choices of the derived metrics. grain_settings__default() has the papers' values. */
struct grain_settings {
	double parallel_benefit;	  /* a problem if the metric is below this; 1 */
	double load_balance;		  /* a problem above this; 1 */
	double work_deviation;		  /* a problem above this; 2 */
	double instantaneous_parallelism; /* a problem below this; 0: the members of the grain's team */
	double scatter; /* a problem above this; NAN: the largest distance inside a socket, or cores per
			   socket */
	double memory_hierarchy_utilization; /* a problem below this; 2 */
	double cache_miss_ratio;	     /* a problem above this; 0.3 */
	enum grain_parallelism parallelism;
	enum grain_interval interval;
	uint64_t interval_ns;
	/* hwloc XML file of the machine, for distances. NULL: the trace's own description. */
	const char *topology;
	const char *topology_xml; /* the text of that file; NULL: the library opens the file */
	/*
	 * Counters by name, as in the capture. NULL: the usual counters, if the capture has them
	 * (METRICS.md).
	 */
	const char *stall_counter, *cycle_counter, *miss_counter, *reference_counter;
	uint64_t memory_bytes; /* how much memory an analysis may take; 0: 8 GiB, or three quarters of the
				  machine's */
};
void grain_settings__default(struct grain_settings *settings);
/*
 * Applies "NAME=VALUE" ("parallel_benefit=2", "parallelism=optimistic", "interval=median", "interval=50us",
 * "topology=FILE", "memory=16G"). Strings must outlive *settings. -EINVAL: *err names the choices.
 */
int grain_settings__set(struct grain_settings *settings, const char *text, struct grain_error *err);

struct grain_load_opts {
	const struct grain_settings *settings; /* NULL: the defaults */
	/*
	 * The run to compare with, usually of one thread. Work deviation is computed against it. It must live
	 * until the load is over. NULL: none.
	 */
	const struct grain_graph *baseline;
	bool keep_going;    /* analyse the intact part of a damaged file, and mark the result */
	bool keep_events;   /* keep what grain_graph__write_log needs (about 40 bytes an event) */
	uint64_t max_bytes; /* memory bound; 0 = what the settings say */
	/* Called from time to time with the part of the work that is done (0..1). May be NULL. */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
};

/*
 * Reads `path`, builds the graph and computes all metrics. The file is a trace or an event log; its content
 * tells which. On success the caller owns *out. On failure returns a negative errno (-EBADMSG: damaged
 * content; -E2BIG: the memory bound), leaves *out untouched, and *err says why. opts and err may be NULL.
 */
int grain_graph__load(const char *path, const struct grain_load_opts *opts, struct grain_graph **out,
		      struct grain_error *err);
/*
 * As grain_graph__load(), for a file that is open for reading, at its beginning. The caller keeps the file;
 * its offset moves. `name` is for messages.
 */
int grain_graph__load_fd(int fd, const char *name, const struct grain_load_opts *opts,
			 struct grain_graph **out, struct grain_error *err);
void grain_graph__free(struct grain_graph *graph); /* accepts NULL */

/* ---- what was observed ------------------------------------------------ */

struct grain_info {
	const char *host, *kernel, *exe, *command, *runtime; /* "" when unknown */
	const char *source;				     /* "uprobes", "shim", "log" or "mir" */
	int64_t pid, uid;				     /* -1 when unknown */
	uint32_t cores, sockets;
	uint32_t threads;	      /* the largest team seen, at least 1; for a MIR profile its workers */
	uint64_t start_ns, end_ns;    /* first and last event */
	bool late;		      /* the process already ran when the recording began */
	bool damaged;		      /* the file is damaged or incomplete, and was read with keep_going */
	double ns_per_event;	      /* cost of one event in the observed program; NAN when unknown */
	uint64_t resolution_ns;	      /* grains shorter than this are mostly measuring overhead; 0: unknown */
	bool cycles;		      /* every time is in processor cycles, not in nanoseconds */
	bool scheduler;		      /* the capture recorded scheduling */
	const char *scheduler_absent; /* why it did not; "" if it did, or if the file does not say */
	bool times_derived; /* only durations were measured; most begins are computed from them (FORMATS.md)
			     */
};
const struct grain_info *grain_graph__info(const struct grain_graph *graph);

/* Counts of everything that was not seen or is inconsistent, by cause. */
struct grain_truth {
	uint64_t events;	   /* read from the file */
	uint64_t lost;		   /* missing events of all causes */
	uint64_t lost_switches;	   /* of these: scheduling events that the kernel lost, in a recording by
				      libgrainshim */
	uint64_t unmatched_begins; /* bodies whose creation was not seen */
	uint64_t unmatched_ends;   /* ends without their begin */
	uint64_t never_begun;	   /* creations whose body was not seen */
	uint64_t never_ended;	   /* bodies whose end was not seen */
	uint64_t unclosed_waits;   /* waits whose end was not seen */
	uint64_t incomplete_grains;
	uint64_t incomplete_regions;
	uint64_t read_faults;
	uint64_t dropped; /* with keep_going: lines of a log or a profile, or parts of a trace, that break the
			     rules and were left out */
	uint64_t below_resolution;	  /* grains shorter than info.resolution_ns */
	uint64_t conservation_violations; /* threads whose parts do not sum to their wall time */
	const char *first_violation;	  /* one line, or "" */
};
const struct grain_truth *grain_graph__truth(const struct grain_graph *graph);

/* Named loss counters of the capture ("ring-full", ...), in file order. */
size_t grain_graph__loss_count(const struct grain_graph *graph);
const char *grain_graph__loss(const struct grain_graph *graph, size_t index, uint64_t *count);

/* ---- definitions: constructs in the source ---------------------------- */

struct grain_definition {
	const char *source; /* "fib.c:8", or "module+0x1234" without debug information */
	const char *file;   /* full path as in the debug information, "" when unknown */
	const char *function;
	const char *kind; /* "task", "parallel", "taskwait", ... */
	uint32_t line;	  /* 0 when unknown */
};
size_t grain_graph__definition_count(const struct grain_graph *graph);
void grain_graph__definition(const struct grain_graph *graph, uint32_t definition,
			     struct grain_definition *out);

/* ---- contexts: what executes fragments -------------------------------- */

enum grain_context_kind {
	GRAIN_INITIAL,	/* the initial task of the process */
	GRAIN_IMPLICIT, /* an implicit task: one team member of a region */
	GRAIN_TASK,	/* an explicit task (a grain) */
	GRAIN_CHUNK,	/* a loop chunk or a section (a grain) */
};

enum grain_problem {
	GRAIN_PROBLEM_PARALLEL_BENEFIT,
	GRAIN_PROBLEM_LOAD_BALANCE,
	GRAIN_PROBLEM_WORK_DEVIATION,
	GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
	GRAIN_PROBLEM_SCATTER,
	GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
	GRAIN_PROBLEM_CACHE_MISS_RATIO,
	GRAIN_PROBLEM_COUNT
};

struct grain_context {
	enum grain_context_kind kind;
	uint32_t parent;     /* context, GRAIN_NONE for the initial task and for orphans */
	uint32_t definition; /* GRAIN_NONE when unknown */
	uint32_t region;     /* of an implicit task; else the innermost enclosing region or GRAIN_NONE */
	uint32_t join;	     /* the join that synchronizes it, GRAIN_NONE when none was seen */
	uint32_t depth; /* number of explicit tasks on the path to it, including itself; 0 for initial and
			   implicit tasks */
	uint32_t first_item, item_count; /* see struct grain_item */
	uint64_t start_ns, end_ns;	 /* begin and end of its body */
	uint64_t exec_ns;		 /* sum of its fragments */
	uint64_t create_ns;		 /* 0 for initial and implicit */
	uint64_t wait_ns;		 /* sum of its own waits, without the bodies that ran inside them */
	uint64_t bookkeeping_ns;	 /* of a chunk: time to get it; else of its loops */
	uint64_t lock_ns;		 /* time waiting for locks; part of exec_ns */
	uint64_t cpu_ns;       /* exec_ns minus the time that its thread was off the CPU in its fragments */
	bool cpu_known;	       /* false: scheduling was not recorded, and cpu_ns is 0 */
	uint64_t fulfilled_ns; /* time of omp_fulfill_event for a detached task; 0: not seen */
	uint32_t flags;	       /* enum event_task_flags */
	bool undeferred;
	bool critical;	 /* has a fragment on the critical path */
	bool incomplete; /* its begin, end or creation was not seen */
	bool discarded;	 /* it was created, but cancelled before it began: it has no body */
	bool runtime;	 /* the runtime made it to split a taskloop; it is not a grain */
	bool detached;	 /* it has a detach clause: it is over when its body has ended and fulfilled_ns is
			    reached */
	/* Metrics. NAN if absent. */
	double parallel_benefit;
	double load_balance; /* of its sibling group or loop */
	double instantaneous_parallelism;
	double work_deviation, scatter, memory_hierarchy_utilization, cache_miss_ratio;
	uint32_t problems; /* bit 1 << enum grain_problem */
};
size_t grain_graph__context_count(const struct grain_graph *graph);
void grain_graph__context(const struct grain_graph *graph, uint32_t context, struct grain_context *out);

/*
 * The context's identifier ("0.p0.s0.1.0"), by path enumeration. Writes at most `size` bytes with a NUL at
 * the end. Returns the length of the whole identifier.
 */
size_t grain_graph__context_id(const struct grain_graph *graph, uint32_t context, char *buffer, size_t size);

/* ---- items: what a context did, in order ------------------------------ */

enum grain_item_kind {
	GRAIN_FRAGMENT,	   /* execution between two runtime calls; may be of length 0 */
	GRAIN_FORK,	   /* one task creation; ref = the child context */
	GRAIN_REGION,	   /* a parallel region that this context encountered; ref = region */
	GRAIN_JOIN,	   /* a wait; ref = join */
	GRAIN_BOOKKEEPING, /* ref = loop */
	GRAIN_CHUNK_ITEM,  /* ref = the chunk's context */
};

struct grain_item {
	enum grain_item_kind kind;
	uint32_t ref;
	uint32_t tid;
	uint16_t cpu;
	bool critical;
	uint64_t start_ns, end_ns;
	uint64_t own_ns; /* length without the bodies of other contexts that ran inside on this thread */
};
void grain_graph__item(const struct grain_graph *graph, uint32_t item, struct grain_item *out);

/* Prefetches items that will be read soon. Use it in walks that visit contexts out of order. */
void grain_graph__fetch_items(const struct grain_graph *graph, uint32_t first, uint32_t count);

/*
 * Edges (PPOPP16 section 3.1) follow from items: each item except a context's last has an edge to the next
 * item, and each context has edges from its creation and to its join. `index` is an item or a context.
 */
enum grain_edge {
	GRAIN_EDGE_CONTINUATION,    /* from item `index` to the next; to a join item: to its join */
	GRAIN_EDGE_CREATION,	    /* from the fork, region or chunk item to context `index` */
	GRAIN_EDGE_SYNCHRONIZATION, /* from context `index` to its join, its region's end, or its loop */
};
/* Whether the edge is on the critical path. Dependences have their own flag. */
bool grain_graph__edge_critical(const struct grain_graph *graph, enum grain_edge edge, uint32_t index);

/* ---- counters ---------------------------------------------------------- */

/* Events that the capture counted, in the order of its @counter lines. */
size_t grain_graph__counter_count(const struct grain_graph *graph);
const char *grain_graph__counter_name(const struct grain_graph *graph, size_t counter);
/* The sum over the context's own fragments. Returns false if it is not known for all of them. */
bool grain_graph__counter(const struct grain_graph *graph, uint32_t context, size_t counter, uint64_t *value);

/* ---- joins ------------------------------------------------------------ */

enum grain_join_kind {
	GRAIN_JOIN_TASKWAIT,
	GRAIN_JOIN_TASKGROUP,
	GRAIN_JOIN_BARRIER,
	GRAIN_JOIN_REGION_END,
	GRAIN_JOIN_LOOP,
};

struct grain_join {
	enum grain_join_kind kind;
	uint32_t waiter;	   /* the waiting context; for barriers and region ends, that of member 0 */
	uint32_t region;	   /* of a barrier or region end; else GRAIN_NONE */
	uint32_t ordinal;	   /* number within its waiter; for a barrier, within its region */
	uint32_t joined;	   /* number of contexts that it synchronizes */
	uint32_t definition;	   /* of the wait; GRAIN_NONE when its source was not seen */
	uint64_t start_ns, end_ns; /* begin of the first wait, end of the last */
	bool critical;
};
size_t grain_graph__join_count(const struct grain_graph *graph);
void grain_graph__join(const struct grain_graph *graph, uint32_t join, struct grain_join *out);
/* "0.p0.s0.1/j0"; barriers of a team: "<region>/b<n>". As grain_graph__context_id. */
size_t grain_graph__join_id(const struct grain_graph *graph, uint32_t join, char *buffer, size_t size);

/* ---- parallel regions ------------------------------------------------- */

struct grain_region {
	uint32_t parent; /* the encountering context */
	uint32_t definition;
	uint32_t threads;      /* members */
	uint32_t first_member; /* index into grain_graph__member, `threads` of them */
	uint32_t end_join;     /* its GRAIN_JOIN_REGION_END; GRAIN_NONE if no member ended */
	uint64_t start_ns, end_ns;
	uint64_t tasks; /* explicit tasks created in it, at any depth */
	double load_balance;
	uint32_t max_active_tasks_per_thread;
	bool incomplete;
	bool teams; /* it is a league of teams on the host */
};
size_t grain_graph__region_count(const struct grain_graph *graph);
void grain_graph__region(const struct grain_graph *graph, uint32_t region, struct grain_region *out);
uint32_t grain_graph__member(const struct grain_graph *graph, uint32_t index); /* a context, or GRAIN_NONE */
size_t grain_graph__region_id(const struct grain_graph *graph, uint32_t region, char *buffer, size_t size);

/* ---- loops and sections ----------------------------------------------- */

enum grain_bounds {
	GRAIN_BOUNDS_OBSERVED, /* every chunk as it was handed out */
	GRAIN_BOUNDS_DERIVED,  /* a member's chunks of a static schedule are one grain; first chunk and stride
				  were seen */
	GRAIN_BOUNDS_HIDDEN,   /* a static share whose bounds cannot be observed */
};

/* One instance of a worksharing loop or of a sections construct. */
struct grain_loop {
	uint32_t context;    /* the context that entered it first */
	uint32_t region;     /* GRAIN_NONE outside of regions */
	uint32_t definition; /* GRAIN_NONE when unknown */
	uint32_t join;	     /* GRAIN_NONE with nowait */
	bool sections;
	const char *schedule; /* "dynamic", "runtime-guided", "sections"; NULL: unknown */
	int64_t chunk;	      /* chunk size in the schedule clause; 0: not known */
	enum grain_bounds bounds;
	bool ordered, doacross, nonmonotonic, distribute, incomplete;
	uint64_t iterations; /* number in the whole loop; 0: not known, or none */
	uint32_t chunks, members;
	uint64_t start_ns, end_ns; /* entry of the first member, exit of the last */
	uint64_t exec_ns;	   /* of all chunks */
	uint64_t bookkeeping_ns;   /* of all members */
	double load_balance;	   /* NAN: absent */
	uint32_t minimum_cores;	   /* 0: absent */
};
size_t grain_graph__loop_count(const struct grain_graph *graph);
void grain_graph__loop(const struct grain_graph *graph, uint32_t loop, struct grain_loop *out);
/* "0.p0/l0", sections "0.p0/x1". As grain_graph__context_id. */
size_t grain_graph__loop_id(const struct grain_graph *graph, uint32_t loop, char *buffer, size_t size);

/* The iterations of a chunk, a section, or a task of a taskloop. */
struct grain_iterations {
	uint32_t loop;	  /* GRAIN_NONE for a task */
	bool hidden;	  /* a static share whose bounds cannot be observed; lower and upper are not set */
	bool is_unsigned; /* bounds are uint64_t */
	int64_t lower, upper;
	uint64_t chunks; /* number of chunks that it stands for: this one, moved by 0, 1, ... times the stride
			  */
	int64_t stride;	 /* set if chunks > 1; 0: not known */
};
/* Returns false if the context has no known iterations. */
bool grain_graph__iterations(const struct grain_graph *graph, uint32_t context, struct grain_iterations *out);

/* ---- dependences ------------------------------------------------------ */

/* `from` is over before `to` begins, or before the wait `join` (a taskwait with depend) ends. */
struct grain_dependence {
	uint32_t from;
	uint32_t to;   /* context, or GRAIN_NONE */
	uint32_t join; /* or GRAIN_NONE */
	bool critical;
};
size_t grain_graph__dependence_count(const struct grain_graph *graph);
void grain_graph__dependence(const struct grain_graph *graph, size_t index, struct grain_dependence *out);

/* ---- locks ------------------------------------------------------------ */

struct grain_lock {
	const char *kind;    /* "critical", "ordered", "lock", ... */
	uint32_t definition; /* GRAIN_NONE when unknown */
	uint64_t waits, wait_ns;
};
size_t grain_graph__lock_count(const struct grain_graph *graph); /* the longest wait first */
void grain_graph__lock(const struct grain_graph *graph, size_t index, struct grain_lock *out);

/* ---- totals ----------------------------------------------------------- */

struct grain_totals {
	uint64_t grains, tasks, chunks;
	uint64_t discarded;	/* number of tasks that were cancelled before they began */
	uint64_t detached;	/* number of detached tasks */
	uint64_t runtime_tasks; /* made by the runtime to split taskloops; not grains */
	uint64_t dependences;	/* edges between grains and to waits */
	uint64_t unread_dependences;
	/* Per kind of construct: parallel, loop, sections, taskgroup. */
	uint64_t cancels[4], cancellation_points[4];
	uint64_t lock_wait_ns;
	uint64_t wall_ns, work_ns, span_ns, burdened_span_ns;
	double average_parallelism; /* work / span, NAN when span is 0 */
	/*
	 * Matched grains in percent of the grains of this run or of its baseline, whichever has more. NAN: no
	 * baseline.
	 */
	double baseline_matched_percent;
	double measuring_percent; /* events * ns_per_event in percent of the threads' observed time; NAN:
				     unknown */
	double events_per_s;
};
const struct grain_totals *grain_graph__totals(const struct grain_graph *graph);

/*
 * For a long job, only a part of the events is kept. Totals, truth and profile are of the whole run:
 * statistics were computed while it ran. Everything else is only of the graph's part.
 */
struct grain_coverage {
	bool partial;					    /* false: the graph has the whole run */
	uint64_t grains, events, wall_ns, work_ns, regions; /* of the graph's part */
	uint64_t run_regions;
	uint64_t shares; /* number of static shares of loops; the statistics do not count them as chunks */
	const char *why; /* why the statistics do not cover the whole run, or "" */
	/*
	 * The graph has the first part of the run up to first_ns and, after it, some whole parallel regions.
	 */
	uint64_t first_ns;
	size_t kept_regions;
	uint64_t regions_seen; /* number of outermost regions after the first part; the kept ones were chosen
				  from them */
	uint64_t unkept_large, unkept_overlapping, unkept_lost, unkept_room,
		unkept_edge;	/* numbers of regions that could not be kept, by reason */
	const char *unkept_why; /* why no region could be kept, or "" */
};
const struct grain_coverage *grain_graph__coverage(const struct grain_graph *graph);

struct grain_kept_region {
	uint64_t start_ns, end_ns;
	bool slowest, last; /* the slowest or the last of the regions that could be kept */
	uint64_t every;	    /* kept because one of this many regions is kept; 0: not for this reason */
};
/* In the order of time. Returns false if there are no more. */
bool grain_graph__kept_region(const struct grain_graph *graph, size_t index, struct grain_kept_region *out);

struct grain_problem_summary {
	const char *name; /* "parallel_benefit", ... as in the JSON */
	bool available;
	const char *why; /* why it is not available */
	double threshold;
	uint64_t grains; /* number of grains that have the problem */
	double percent;	 /* of complete grains */
};
void grain_graph__problem(const struct grain_graph *graph, enum grain_problem problem,
			  struct grain_problem_summary *out);
/* The metric of this problem. NAN if absent. */
double grain_context__metric(const struct grain_context *context, enum grain_problem problem);

struct grain_stat {
	uint64_t sum, min, max;
	double mean, stddev;
};

enum grain_profile_of {
	GRAIN_PROFILE_TASKS,
	GRAIN_PROFILE_CHUNKS,
	GRAIN_PROFILE_SECTIONS,
	GRAIN_PROFILE_KINDS
};

/* One row of the profile: all explicit tasks, or all chunks, of one definition. */
struct grain_profile {
	uint32_t definition;
	enum grain_profile_of of;
	const char *kind; /* "task", "loop", "sections" or what the source says */
	uint64_t instances, leaves, undeferred, incomplete, discarded;
	uint64_t graph_complete;   /* complete instances in the graph; problem_grains are among them */
	uint64_t exec_buckets[65]; /* for long jobs: number of instances with 2^(b-1) <= exec < 2^b; bucket 0:
				      exec is 0 */
	struct grain_stat exec, create, wait; /* create is a chunk's book-keeping */
	uint64_t critical_path_ns;	      /* time of its fragments on the critical path */
	/* 1 - cpu / exec over all complete instances: the part that is lost to scheduling. NAN: not known. */
	double preemption_share;
	double work_deviation; /* median over its grains; NAN: absent */
	uint64_t problem_grains[GRAIN_PROBLEM_COUNT];
};
size_t grain_graph__profile_count(const struct grain_graph *graph); /* sorted by exec.sum, largest first */
void grain_graph__profile(const struct grain_graph *graph, size_t index, struct grain_profile *out);
/* The sum over the complete instances whose value is known. Returns false if it is known for none. */
bool grain_graph__profile_counter(const struct grain_graph *graph, size_t index, size_t counter,
				  uint64_t *sum, uint64_t *instances);

struct grain_depth {
	uint32_t depth;
	uint64_t grains;
	struct grain_stat exec;
};
size_t grain_graph__depth_count(const struct grain_graph *graph);
void grain_graph__depth(const struct grain_graph *graph, size_t index, struct grain_depth *out);

/* METRICS.md defines when each advice is given. */
enum grain_advice_kind {
	GRAIN_ADVICE_SMALL_TASKS,	 /* fewer, larger tasks: a cutoff, or more in each */
	GRAIN_ADVICE_SMALL_CHUNKS,	 /* a larger chunk size */
	GRAIN_ADVICE_LITTLE_PARALLELISM, /* threads without anything to run */
	GRAIN_ADVICE_FEW_GRAINS, /* threads without anything to run, because there are few and large grains */
	GRAIN_ADVICE_CREATION,	 /* one thread creates all tasks and cannot keep up */
	GRAIN_ADVICE_IMBALANCE,
	GRAIN_ADVICE_INFLATION,	  /* longer than in the baseline */
	GRAIN_ADVICE_STALLS,	  /* cores wait for memory */
	GRAIN_ADVICE_LOCKS,	  /* threads wait for critical sections and locks */
	GRAIN_ADVICE_FIRST_TOUCH, /* memory lies on one NUMA node, and threads of others use it */
	/* From the account (grain_account.h). */
	GRAIN_ADVICE_SERIAL_CODE,    /* one thread works outside of regions */
	GRAIN_ADVICE_SMALL_REGIONS,  /* regions take longer to begin and end than they can bear */
	GRAIN_ADVICE_OVERSUBSCRIBED, /* more threads than CPUs */
	GRAIN_ADVICE_OTHER_PROGRAMS, /* other programs have the CPUs */
};
/* "small_tasks", as in the JSON. */
const char *grain_advice__kind_name(enum grain_advice_kind kind);

/* The numbers behind the advice. Those that do not apply to its kind are 0, NAN or GRAIN_NONE. */
struct grain_evidence {
	uint64_t grains, of; /* number of grains that show the problem, and of all that were examined; for
				locks, numbers of waits */
	uint32_t worst;	     /* the context that shows it most clearly */
	double median_exec_ns, median_cost_ns;
	uint32_t cutoff_depth;	/* create no tasks below it */
	uint64_t times;		/* how many times as much work each grain should have */
	uint64_t vanish;	/* how many fewer grains there would be */
	uint64_t chunk;		/* chunk size in iterations */
	uint32_t minimum_cores; /* cores that suffice instead of `threads` */
	uint32_t threads;
	uint32_t nodes;		  /* NUMA nodes that ran the grains */
	uint64_t wait_ns;	  /* wait time for locks, of all threads */
	double idle_percent;	  /* of the threads' time in the regions */
	double deviation;	  /* exec of all / exec of all in the baseline */
	double off_cpu_percent;	  /* of exec */
	double scattered_percent; /* of the grains */
	double stalled_percent;	  /* of exec: stalls beyond the threshold */
	double elsewhere_percent; /* of the teams' time: on other NUMA nodes than the memory */
	uint64_t memory_bytes;	  /* bytes on the wrong node */
	/* The function with most of the serial code, and its hottest line (0: not known); NULL: not known. */
	const char *function, *function_file;
	uint32_t function_line;
};

/* One piece of advice. The list is sorted: the advice that may save the most time comes first. */
struct grain_advice {
	enum grain_advice_kind kind;
	enum grain_problem problem; /* GRAIN_PROBLEM_COUNT: none of them (locks, first touch) */
	uint32_t definition;	    /* GRAIN_NONE when it concerns the whole program */
	uint64_t saves_ns;	    /* upper bound of the wall-clock time that following it saves */
	struct grain_evidence evidence;
	const char *finding; /* "8190 tasks average 0.4 us, less than the 1.2 us it costs to create and join
				one" */
	const char *text;    /* "stop creating tasks at fib.c:8 below depth 10 (run that part serially)" */
};
size_t grain_graph__advice_count(const struct grain_graph *graph);
void grain_graph__advice(const struct grain_graph *graph, size_t index, struct grain_advice *out);

/* ---- machine-readable forms ------------------------------------------- */

/*
 * All functions return 0 or a negative errno of the stream. `job` is written as it is; 0: there is no job
 * number.
 */
int grain_graph__write_summary_json(const struct grain_graph *graph, uint64_t job, FILE *out);
int grain_graph__write_grains_json(const struct grain_graph *graph, FILE *out); /* one object a line */
/* Event log, version 1. -ENODATA unless the graph was loaded with keep_events. */
int grain_graph__write_log(const struct grain_graph *graph, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
