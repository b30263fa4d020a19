/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The neutral events. All readers make them, and the graph is built from them. They are the lines of the
 * event log (../EVENT-LOG.md) in binary: one event for each line. For a trace file, analysis/resolve makes
 * the events: it matches creations with bodies, and closes what is open.
 *
 * Tasks, regions and loops are numbered from 0 without gaps, in the order in which they first appear in the
 * event_stream.
 *
 * Every stream guarantees, whatever it was read from:
 *  - Events are ordered by time; a creation stands before the body it creates
 *    and a region-begin before its members, also at equal times.
 *  - On each thread everything is properly nested and every begin has its end.
 *    What the file leaves open is closed at the time of the last event, with
 *    EVENT_TROUBLE_NO_END for tasks and regions. Only task-suspend and
 *    task-switch break the nesting. task-suspend takes the task that its thread
 *    executes off the thread, with its open waits and creations. task-switch
 *    puts a suspended task on top of the thread that resumes it.
 *  - While a wait is the innermost open construct of a thread, only bodies, the
 *    wait's end and thread events (lost, sample, off-cpu, locks) occur on it.
 *  - An undeferred task is create-begin, task-begin, ..., task-end, create-end
 *    on one thread; the two begins and the two ends may have equal times.
 *  - A worker's member-end may come after the region-end of its region: the
 *    thread leaves the barrier when the scheduler lets it.
 *  - member-begin and -end with id GRAIN_NONE: the thread is inside a region
 *    whose begin was not seen (late attach, lost events). It is an orphan, a
 *    context without parent. What it creates has an unknown parent; its barriers
 *    belong to no team; its singles are left out.
 *  - A thread that is not inside a member is in its initial task.
 *  - Every region has its region-begin, whose value is the team's size if that
 *    is known. If there are fewer members, the others were not seen.
 *  - task-begin has a src, the function of the body, only if the creation of the
 *    task was not seen.
 *  - Only in orphans and in tasks that have trouble, a group-begin may have no
 *    wait, and the wait of a taskgroup no group-begin.
 *  - A task that is suspended when the file ends has EVENT_TROUBLE_NO_END and
 *    no task-end.
 *  - The end of a single of libgomp is not observed. The single-end stands at
 *    the member's next single, loop, sections, barrier or region end. What the
 *    winner of a `single nowait` creates before that counts as created in the
 *    single.
 */
#ifndef GRAIND_EVENT_H
#define GRAIND_EVENT_H

#include "analysis/include/grain.h"
#include "analysis/base/number_map.h"

/*
 * The comments say what each kind has in the fields of struct event. "id task" is the task's number, src is
 * the line of the construct.
 */
enum event_kind {
	EVENT_THREAD_BEGIN,
	EVENT_THREAD_END,
	EVENT_REGION_BEGIN, /* id region, src, value threads (0: not known yet), sub 1: teams on the host */
	EVENT_REGION_END,   /* id region */
	EVENT_MEMBER_BEGIN, /* id region or GRAIN_NONE, value member number */
	EVENT_MEMBER_END,   /* id region or GRAIN_NONE, value member number */
	EVENT_CREATE_BEGIN, /* id task, src, value enum event_task_flags */
	EVENT_CREATE_END,   /* id task */
	EVENT_DEPEND,	    /* id task, or GRAIN_NONE: it belongs to the taskwait-depend that has just begun;
			       value address, sub enum event_depend */
	EVENT_TASK_BEGIN,   /* id task; src body function or GRAIN_NONE */
	EVENT_TASK_SWITCH,  /* id task */
	EVENT_TASK_END,	    /* id task */
	EVENT_WAIT_BEGIN,   /* sub enum event_wait, src or GRAIN_NONE */
	EVENT_WAIT_END, /* sub enum event_wait; extra 1 + the wait's own time; 0: the time was not measured;
			   value 1: it was measured for several waits together */
	EVENT_GROUP_BEGIN, /* src or GRAIN_NONE */
	EVENT_LOOP_BEGIN,  /* id loop, src; the rest is in event_stream.loops */
	EVENT_CHUNK_BEGIN, /* id loop, value lower, extra upper. sub 1: it is a static share whose bounds are
			      hidden; value and extra are the member then. src: number of chunks of a static
			      schedule that it stands for, each one stride of the loop after the one before; 0
			      means 1 */
	EVENT_CHUNK_END,   /* id loop */
	EVENT_LOOP_END,	   /* id loop */
	EVENT_SECTIONS_BEGIN,
	EVENT_SECTION_BEGIN, /* id loop, value first section, extra last section (clang hands out ranges) */
	EVENT_SECTION_END,
	EVENT_SECTIONS_END,
	EVENT_SINGLE_BEGIN, /* src, value won: 1 on the thread that executes it */
	EVENT_SINGLE_END,   /* src, value won */
	EVENT_LOCK_BEGIN,   /* sub enum event_lock, value address, src or GRAIN_NONE */
	EVENT_LOCK_GOT,
	EVENT_LOCK_END,	    /* missing if the release is not observed; then lock-got is the last event */
	EVENT_OFF_CPU,	    /* sub enum event_reason; id the neighbour that runs instead, or GRAIN_NONE */
	EVENT_ON_CPU,	    /* sub enum event_reason; value since when it could run; 0: see the reason */
	EVENT_SAMPLE,	    /* id number of its stack */
	EVENT_TASK_SUSPEND, /* id task. The task leaves its thread, and the thread continues what was
			       below. task-switch resumes the task, on any thread (untied tasks) */
	EVENT_TASK_BOUNDS,  /* id task, value lower, extra upper, src number of the taskloop (from 0, without
			       gaps) or GRAIN_NONE. Stands between create-begin and task-begin of the task */
	EVENT_TASK_FULFILL, /* id task. The program has called omp_fulfill_event; a detached task is complete
			       when it has ended and is fulfilled */
	EVENT_TASK_DISCARD, /* id task. It was cancelled before it began. Stands before the end of the wait
			       that joins the task */
	EVENT_CANCEL,	    /* sub enum event_cancel, value 1 at the cancel, 0 at a cancellation point; src */
	EVENT_ACCESS, /* value address of the page, or 0; id number of the page's NUMA node, or GRAIN_NONE:
			 sub says why (enum event_access) */
	EVENT_LOST,   /* value count; tid 0: of any thread; sub 0, or 1 + index into event_stream.causes */
	EVENT_KIND_MAX
};

#define EVENT_NODES_MAX 1024 /* numbers of NUMA nodes are smaller than this */

/* Why the node of a page is not known. */
enum event_access {
	EVENT_ACCESS_UNKNOWN,
	EVENT_ACCESS_ABSENT,   /* it was not in memory */
	EVENT_ACCESS_UNMAPPED, /* no page was mapped there, or only the shared zero page */
	EVENT_ACCESS_ENDED,    /* the process had ended */
	EVENT_ACCESS_REFUSED,  /* the kernel did not report it */
	EVENT_ACCESS_WHYS
};

enum event_wait {
	EVENT_WAIT_TASKWAIT,
	EVENT_WAIT_TASKWAIT_DEPEND,
	EVENT_WAIT_TASKGROUP,
	EVENT_WAIT_BARRIER,
	EVENT_WAIT_BARRIER_IMPLICIT,
	EVENT_WAIT_TASKYIELD,
};

enum event_depend {
	EVENT_DEPEND_IN,
	EVENT_DEPEND_OUT,
	EVENT_DEPEND_INOUT,
	EVENT_DEPEND_MUTEXINOUTSET,
	EVENT_DEPEND_INOUTSET,
	EVENT_DEPEND_ALL,    /* omp_all_memory */
	EVENT_DEPEND_UNREAD, /* value: number of dependences that are not known */
};

enum event_cancel { EVENT_CANCEL_PARALLEL, EVENT_CANCEL_LOOP, EVENT_CANCEL_SECTIONS, EVENT_CANCEL_TASKGROUP };

/* The flags of create-begin, as in the log's flags=. */
enum event_task_flags {
	EVENT_TASK_DEFERRED = 1 << 0,
	EVENT_TASK_UNDEFERRED = 1 << 1,
	EVENT_TASK_FINAL = 1 << 2,
	EVENT_TASK_UNTIED = 1 << 3,
	EVENT_TASK_MERGEABLE = 1 << 4,
	EVENT_TASK_DETACH = 1 << 5,
	EVENT_TASK_TASKLOOP = 1 << 6,
	EVENT_TASK_TARGET = 1 << 7,
	EVENT_TASK_SPLIT = 1 << 8, /* the runtime made it to split a taskloop: its children are the tasks of
				      the taskloop */
	EVENT_TASK_PRIORITY = 1 << 9,
};

/* What is missing: the id of an EVENT_LOST. GRAIN_NONE: events of any kind. */
enum event_lost { EVENT_LOST_SWITCHES };

struct event {
	uint64_t time_ns;
	uint64_t value;
	uint64_t extra;
	uint32_t tid;
	uint32_t id;
	uint32_t src; /* index into event_stream.sources, GRAIN_NONE */
	uint16_t cpu;
	uint8_t kind; /* enum event_kind */
	uint8_t sub;
};

enum event_lock {
	EVENT_LOCK_CRITICAL,
	EVENT_LOCK_ORDERED,
	EVENT_LOCK_OMP,
	EVENT_LOCK_DOACROSS,
	EVENT_LOCK_ATOMIC
};
enum event_reason {
	EVENT_REASON_UNKNOWN,
	EVENT_REASON_PREEMPTED,
	EVENT_REASON_BLOCKED,
	EVENT_REASON_YIELDED
};

enum event_sched {
	EVENT_SCHED_UNKNOWN,
	EVENT_SCHED_STATIC,
	EVENT_SCHED_DYNAMIC,
	EVENT_SCHED_GUIDED,
	EVENT_SCHED_AUTO,
	EVENT_SCHED_RUNTIME_STATIC,
	EVENT_SCHED_RUNTIME_DYNAMIC,
	EVENT_SCHED_RUNTIME_GUIDED,
	EVENT_SCHED_RUNTIME_AUTO,
	EVENT_SCHED_RUNTIME, /* OMP_SCHEDULE decides, and its value was not observed */
};

/* A loop or sections construct, as its first loop-begin describes it. */
struct event_loop {
	int64_t lower, upper, step, chunk, stride;
	bool known, has_lower, has_upper, has_step, has_chunk, has_stride;
	bool is_unsigned;   /* lower and upper are uint64_t */
	bool bounds_hidden; /* its chunks are static shares whose bounds cannot be observed */
	bool ordered, doacross, nonmonotonic, distribute;
	uint8_t sched; /* enum event_sched */
};

struct event_source {
	char *file, *func, *kind, *path; /* path: the full file name, or "" */
	char *module;			 /* "module+0x12" if the line is unknown, else "" */
	uint32_t line;
	uint32_t number; /* number in the log's @source; an export must write the same number again */
};

struct event_cpu {
	uint32_t cpu, core, socket, node;
};

/*
 * The distance from one NUMA node to another. It has no unit, as in the machine's own table; 10 is the
 * distance of a node to itself.
 */
struct event_distance {
	uint32_t from, to, distance;
};

/* A counter that the capture counts for each thread (cycles, cache misses, ...). */
struct event_counter {
	char *name;
	uint32_t number; /* as in the log's @counter */
	uint32_t order;	 /* while reading: the number of its declaration */
	double share; /* part of the time in which it was counted; its values are scaled up for the rest. 0:
			 not given, which means all of the time */
};

/* A counter that was requested but not available. */
struct event_absent_counter {
	char *name, *why;
};

/* The value of a counter at an event of its thread. */
struct event_reading {
	uint64_t value;
	uint32_t event;	  /* the event's index; while a log is read, its line */
	uint32_t counter; /* index into counters */
};

/*
 * A neighbour: a process that ran on a CPU instead of a thread of the program. Its number is its index + 1.
 */
struct event_neighbour {
	char *command, *cgroup; /* NULL when unknown */
	int64_t pid;		/* -1 when unknown */
	bool measuring;		/* it is the profiler itself */
};

/* How a program was sampled. */
struct event_sampling {
	bool asked;
	uint32_t hz;
	uint64_t lost;
	char *clock; /* "cycles" or "cpu-clock"; NULL: there are no samples */
	char *why;   /* why there are no samples, or NULL */
};

/* An address of code in samples. Its strings may be NULL. */
struct event_address {
	uint64_t address;
	char *func, *file, *path;
	char *module; /* "name+0x12" when there is no line */
	uint32_t line;
	bool named;
	bool system; /* it is in a library of the system */
};

/* The call stack of a sample: addresses in event_stream.frames, innermost first. */
struct event_stack {
	uint32_t first, count, room;
};

struct event_node {
	uint64_t memory; /* bytes; 0 unknown */
	uint32_t node;
};

/* A look: one examination of the process' memory. There are two. */
enum event_look { EVENT_LOOK_FIRST, EVENT_LOOK_LAST, EVENT_LOOKS };

/* A part of the process' memory: a variable, a block of malloc, ... */
struct event_area {
	char *name, *module, *kind;   /* never NULL */
	uint64_t bytes, start;	      /* start 0: unknown, or it has several parts */
	uint64_t step[EVENT_LOOKS];   /* one of this many pages was examined; 0: the area did not exist */
	uint64_t absent[EVENT_LOOKS]; /* number of examined pages that were not in memory */
	uint64_t hidden[EVENT_LOOKS]; /* number of pages in memory whose node the kernel did not report */
	uint32_t number;
};

/* The number of an area's examined pages on one node. */
struct event_pages {
	uint64_t pages;
	uint32_t area, node; /* area: index */
	uint8_t look;	     /* enum event_look */
};

/* What the file says about settings that decide how many CPUs the threads get; NULL and 0: not known or none.
 */
struct event_settings {
	char *binds; /* the setting that binds threads: "OMP_PLACES={0}" */
	char *spins; /* the setting that lets waits spin without end, and the one that does not */
	char *spins_cure;
	uint64_t quota; /* the quota of its cgroup, in thousandths of a CPU */
};

/* What the file says about memory. */
struct event_numa {
	struct event_node *nodes;
	size_t node_count;
	struct event_area *areas;
	size_t area_count;
	struct event_pages *pages;
	size_t page_count;
	char *allowed_cpus, *allowed_nodes; /* lists of what the process was allowed to use; NULL: unknown */
	char *why;			    /* why nothing is known of its pages, or NULL */
	uint64_t first_ns, last_ns;	    /* times of the examinations; 0: none */
	char *access_event; /* event whose samples have data addresses; NULL: no such samples */
	char *access_why;   /* why there are none, or NULL */
	uint64_t access_lost;
	uint32_t access_hz;
};

/* Why a window was kept, for a run that was recorded completely: one bit for each reason. */
enum event_kept {
	EVENT_KEPT_FIRST = 1 << 0, /* the first part of the run; all others are parallel regions */
	EVENT_KEPT_SLOWEST = 1 << 1,
	EVENT_KEPT_LAST = 1 << 2,
	EVENT_KEPT_EVERY = 1 << 3, /* one of every so many regions is kept */
};

/*
 * A window: a time in which the program was recorded, or whose events were kept. Between windows there are no
 * events.
 */
struct event_window {
	uint64_t begin_ns, end_ns; /* end UINT64_MAX: not given for the last one */
	uint64_t cost_ns;	   /* time that its probes took on the busiest CPU */
	uint64_t every;		   /* EVENT_KEPT_EVERY: every how many regions */
	uint8_t kept;		   /* enum event_kept; 0: nothing was recorded between the windows */
};

struct event_loss {
	char *cause;
	uint64_t count;
};

/*
 * Whether this loss means that events are missing. Other losses only mean incomplete information: a page of
 * an event could not be read, a body belongs to a construct from before the recording, or a counterpart at
 * the edge of the recording is missing.
 */
bool event_loss__is_of_events(const struct event_loss *loss);

/*
 * Everything that a file says. Events are sorted by time; the sort is stable, and a creation comes before the
 * body it creates, also at equal times. The owner of the stream frees it with event_stream__free().
 */
struct event_stream {
	struct event *events;
	size_t count, capacity;
	struct event_source *sources;
	size_t source_count;
	struct event_cpu *cpus;
	size_t cpu_count;
	struct event_distance *distances; /* the last one of a pair counts */
	size_t distance_count;
	struct event_numa numa;
	struct event_settings settings;
	struct event_counter *counters;
	size_t counter_count;
	struct event_absent_counter *absent_counters;
	size_t absent_counter_count;
	struct event_reading *readings; /* sorted by event, then by counter; most events have none */
	size_t reading_count;
	struct event_neighbour *neighbours;
	size_t neighbour_count;
	struct event_sampling sampling;
	struct event_address *addresses;
	size_t address_count;
	struct number_map address_index;
	struct event_stack *stacks;
	size_t stack_count;
	uint32_t *frames; /* indices of addresses */
	size_t frame_count;
	struct event_window *windows; /* ascending in time; none: the whole run was recorded */
	size_t window_count;
	struct event_loss *losses; /* losses that belong to no thread */
	size_t loss_count;
	char **causes; /* of lost events */
	size_t cause_count;
	struct event_loop *loops;		       /* loop_count of them */
	uint32_t task_count, region_count, loop_count; /* ids are below these */
	struct folded
		*folded; /* statistics of the whole run, if the events are only a part of it; else NULL */
	struct grain_info info;	  /* the stream owns its strings */
	struct grain_truth truth; /* what reading and resolving counted */
	uint8_t *task_trouble;	  /* per task: bits of enum event_trouble */
	uint8_t *region_trouble;  /* per region: NO_END, LOST */
	/* Metadata lines that the library does not interpret, verbatim, for the export. */
	char **verbatim;
	size_t verbatim_count;
};

enum event_trouble {
	EVENT_TROUBLE_NO_CREATE = 1, /* body without creation */
	EVENT_TROUBLE_NO_BEGIN = 2,
	EVENT_TROUBLE_NO_END = 4,
	EVENT_TROUBLE_LOST = 8,	  /* events of its thread were lost while it ran */
	EVENT_TROUBLE_WAIT = 16,  /* the end of a wait or creation was not seen; it ends at the first later
				     event that implies the end */
	EVENT_TROUBLE_FAULT = 32, /* its creation or begin could not be read completely */
};

/* Reads a trace or a log; errors as grain_graph__load. */
int event_stream__read(const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		       struct grain_error *err);
int event_stream__read_fd(int fd, const char *name, const struct grain_load_opts *opts,
			  struct event_stream **out, struct grain_error *err);
void event_stream__free(struct event_stream *stream); /* accepts NULL */

/* Writes the event log of the stream; reading it gives an equal stream. */
int event_stream__write_log(const struct event_stream *stream, FILE *out);

const char *event_kind__name(enum event_kind kind); /* "task-begin" */

#endif
