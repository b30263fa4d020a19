/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The neutral events between the readers and the graph builder: the records
 * of the event log (README.md) in binary. A log line becomes one event; the
 * events of a trace file become these by resolve.c, which matches creations
 * with bodies and closes frames.
 *
 * Numbers (task, region, loop) are dense from 0 within an event_stream, in the
 * order in which they first appear in it.
 *
 * What every stream guarantees, whatever it was read from:
 *  - Events are ordered by time; a creation stands before the body it creates
 *    and a region-begin before its members, also at equal times.
 *  - On each thread everything is properly nested and every begin has its end.
 *    What the file leaves open is closed at the time of the last event, with
 *    EVENT_TROUBLE_NO_END for tasks and regions. Only task-suspend and
 *    task-switch break the nesting: the one takes the task that its thread
 *    executes, with its open waits and creations, off it, the other from where
 *    it is to the top of the thread that resumes it. A task that is suspended
 *    when the stream ends has no end, and NO_END.
 *  - While a wait is the innermost open thing of a thread, only bodies, its
 *    own end and thread events (lost, sample, off-cpu, locks) occur on it.
 *  - An undeferred task is create-begin, task-begin, ..., task-end, create-end
 *    on one thread; the two begins and the two ends may have equal times.
 *  - A worker's member-end may come after the region-end of its region: the
 *    thread leaves the barrier when the scheduler lets it.
 *  - member-begin/-end with id GRAIN_NONE: the thread is inside a region whose
 *    begin was not seen (late attach, lost events), an orphan context without
 *    parent. What it creates has an unknown parent; its barriers belong to no
 *    team; its singles are left out. Outside of any member a thread is in its
 *    initial task.
 *  - Every region id has its region-begin, whose value is the team's size when
 *    that is known. Fewer members than that: the others were not seen.
 *  - task-begin has a src only for a task without creation (its body function).
 *  - group-begin may lack its wait and a taskgroup wait its group-begin only in
 *    orphans and in tasks that have trouble.
 *  - A task that is suspended when the file ends has EVENT_TROUBLE_NO_END and
 *    no task-end.
 *  - single-end from libgomp is not observed: it stands at the member's next
 *    single, loop, sections, barrier or region end. What the winner creates between the end of
 *    a `single nowait` and the next of those counts as made in the single.
 */
#ifndef GRAIND_EVENT_H
#define GRAIND_EVENT_H

#include "analysis/grain.h"
#include "analysis/number_map.h"

enum event_kind {
	EVENT_THREAD_BEGIN,
	EVENT_THREAD_END,
	EVENT_REGION_BEGIN, /* id region, src, value threads (0 not known yet), sub 1: teams on the host */
	EVENT_REGION_END,   /* id region */
	EVENT_MEMBER_BEGIN, /* id region or GRAIN_NONE, value member number */
	EVENT_MEMBER_END,   /* id region or GRAIN_NONE, value member number */
	EVENT_CREATE_BEGIN, /* id task, src, value enum event_task_flags */
	EVENT_CREATE_END,   /* id task */
	EVENT_DEPEND, /* id task (GRAIN_NONE: of the taskwait-depend that has just begun), value address, sub
			 enum event_depend */
	EVENT_TASK_BEGIN,  /* id task; src body function or GRAIN_NONE */
	EVENT_TASK_SWITCH, /* id task */
	EVENT_TASK_END,	   /* id task */
	EVENT_WAIT_BEGIN,  /* sub enum event_wait, src or GRAIN_NONE */
	EVENT_WAIT_END,	   /* sub enum event_wait; extra 1 + the wait's own time where that was measured by
			      itself, value 1: in a sum of which its share is not known */
	EVENT_GROUP_BEGIN, /* src or GRAIN_NONE */
	EVENT_LOOP_BEGIN,  /* id loop, src; the rest is in event_stream.loops */
	EVENT_CHUNK_BEGIN, /* id loop; value lower, extra upper; sub 1: a static share whose bounds are
			      hidden, value and extra then the member; src: chunks of a static schedule that
			      this stands for, the n-th moved by n times the loop's stride (0 and 1: just this
			      one) */
	EVENT_CHUNK_END,   /* id loop */
	EVENT_LOOP_END,	   /* id loop */
	EVENT_SECTIONS_BEGIN,
	EVENT_SECTION_BEGIN, /* id, value number, extra last number (clang hands out ranges) */
	EVENT_SECTION_END,
	EVENT_SECTIONS_END,
	EVENT_SINGLE_BEGIN, /* src, value won: 1 on the thread that executes it */
	EVENT_SINGLE_END,   /* src, value won */
	EVENT_LOCK_BEGIN,   /* sub enum event_lock, value address, src or GRAIN_NONE */
	EVENT_LOCK_GOT,
	EVENT_LOCK_END, /* a lock-begin may be ended by its lock-got when the release is not observed */
	EVENT_OFF_CPU,	/* sub enum event_reason; id number of the neighbour that runs instead, or GRAIN_NONE
			 */
	EVENT_ON_CPU,	/* sub enum event_reason; value since when it could have run, 0: as the reason says */
	EVENT_SAMPLE,	/* id: of its stack */
	EVENT_TASK_SUSPEND, /* id task: leaves its thread, which is back in what it had suspended; task-switch
			       brings it back on any thread (untied tasks) */
	EVENT_TASK_BOUNDS,  /* id task, value lower, extra upper, src number of the taskloop (dense from 0) or
			       GRAIN_NONE:
			       between the  task's create-begin and its task-begin */
	EVENT_TASK_FULFILL, /* id task: omp_fulfill_event; a detached task is complete when ended and
			       fulfilled */
	EVENT_TASK_DISCARD, /* id task: created, cancelled before it began; stands before the end of the wait
			       that joins it */
	EVENT_CANCEL, /* sub enum event_cancel, value 1 at the cancel itself, 0 at a cancellation point; src
		       */
	EVENT_ACCESS, /* value address of the page or 0; id the number of the NUMA node that it was on, or
			 GRAIN_NONE: sub enum event_access says why */
	EVENT_LOST,   /* value count; tid 0: of any thread; sub: 0 or 1 + index into event_stream.causes */
	EVENT_KIND_MAX
};

#define EVENT_NODES_MAX 1024 /* numbers of NUMA nodes are below */

/* Why the node of a page is not known. */
enum event_access {
	EVENT_ACCESS_UNKNOWN,
	EVENT_ACCESS_ABSENT,   /* it was not in memory */
	EVENT_ACCESS_UNMAPPED, /* there was none, or the one of zeros that all processes share */
	EVENT_ACCESS_ENDED,    /* the process had ended */
	EVENT_ACCESS_REFUSED,  /* the kernel did not tell */
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

/* create-begin's flags= */
enum event_task_flags {
	EVENT_TASK_DEFERRED = 1 << 0,
	EVENT_TASK_UNDEFERRED = 1 << 1,
	EVENT_TASK_FINAL = 1 << 2,
	EVENT_TASK_UNTIED = 1 << 3,
	EVENT_TASK_MERGEABLE = 1 << 4,
	EVENT_TASK_DETACH = 1 << 5,
	EVENT_TASK_TASKLOOP = 1 << 6,
	EVENT_TASK_TARGET = 1 << 7,
	EVENT_TASK_SPLIT =
		1 << 8, /* made by the runtime to split a taskloop: its children are the taskloop's tasks */
	EVENT_TASK_PRIORITY = 1 << 9,
};

/* id of an EVENT_LOST: what is missing. GRAIN_NONE: events of any kind. */
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
	EVENT_SCHED_RUNTIME, /* as OMP_SCHEDULE says, which was not observed */
};

/* A loop or sections construct, as its first loop-begin says. */
struct event_loop {
	int64_t lower, upper, step, chunk, stride;
	bool known, has_lower, has_upper, has_step, has_chunk, has_stride;
	bool is_unsigned;   /* lower and upper are uint64_t */
	bool bounds_hidden; /* "static share, bounds not observable" */
	bool ordered, doacross, nonmonotonic, distribute;
	uint8_t sched; /* enum event_sched */
};

struct event_source {
	char *file, *func, *kind, *path; /* path: full file name or "" */
	char *module;			 /* "module+0x12" when there is no line, else "" */
	uint32_t line;
	uint32_t number; /* as in the log's @source; kept so that an export round-trips */
};

struct event_cpu {
	uint32_t cpu, core, socket, node;
};

/* From one NUMA node to another, in the units of the machine's own table (10: local). */
struct event_distance {
	uint32_t from, to, distance;
};

/* What a capture counts for each thread (cycles, cache misses, ...). */
struct event_counter {
	char *name;
	uint32_t number; /* as in the log's @counter */
	uint32_t order;	 /* of its declaration; while reading */
	double share; /* of the time in which it was counted, the rest is estimated; 0: nothing is said, all
			 of it */
};

/* A counter that was asked for and could not be had. */
struct event_absent_counter {
	char *name, *why;
};

/* The running value of a counter for the thread of an event, at that event. */
struct event_reading {
	uint64_t value;
	uint32_t event;	  /* index; while a log is read, its line */
	uint32_t counter; /* index into counters */
};

/* A process that ran instead of a thread of this one; its number is 1 more than its index. */
struct event_neighbour {
	char *command, *cgroup; /* NULL when unknown */
	int64_t pid;		/* -1 when unknown */
};

/* How a program was sampled. */
struct event_sampling {
	bool asked;
	uint32_t hz;
	uint64_t lost;
	char *clock; /* "cycles" or "cpu-clock"; NULL: there are no samples */
	char *why;   /* for that reason, or NULL */
};

/* A code address in samples; the strings may be NULL. */
struct event_address {
	uint64_t address;
	char *func, *file, *path;
	char *module; /* "name+0x12" when there is no line */
	uint32_t line;
	bool named;
	bool system; /* of a library of the system */
};

/* Of a sample, innermost first: addresses of event_stream.frames. */
struct event_stack {
	uint32_t first, count, room;
};

struct event_node {
	uint64_t memory; /* bytes; 0 unknown */
	uint32_t node;
};

/* Where a process' memory was looked at: at first and at last. */
enum event_look { EVENT_LOOK_FIRST, EVENT_LOOK_LAST, EVENT_LOOKS };

/* A part of its memory: a variable, a block of malloc's, ... */
struct event_area {
	char *name, *module, *kind;   /* never NULL */
	uint64_t bytes, start;	      /* start 0: not known, or several parts */
	uint64_t step[EVENT_LOOKS];   /* every so many'th page was looked at; 0: it was not there */
	uint64_t absent[EVENT_LOOKS]; /* of those: not in memory */
	uint64_t hidden[EVENT_LOOKS]; /* of those: in memory, the kernel did not tell on which node */
	uint32_t number;
};

/* Pages of an area that were looked at and lay on a node. */
struct event_pages {
	uint64_t pages;
	uint32_t area, node; /* area: index */
	uint8_t look;	     /* enum event_look */
};

/* What is said of memory. */
struct event_numa {
	struct event_node *nodes;
	size_t node_count;
	struct event_area *areas;
	size_t area_count;
	struct event_pages *pages;
	size_t page_count;
	char *allowed_cpus, *allowed_nodes; /* what the process could use; NULL unknown */
	char *why;			    /* nothing is known of its pages; NULL */
	uint64_t first_ns, last_ns;	    /* of the looks; 0: there were none */
	char *access_event;		    /* whose samples have addresses; NULL: there are none */
	char *access_why;		    /* for that reason, or NULL */
	uint64_t access_lost;
	uint32_t access_hz;
};

/* Why a window is kept of a run that was recorded all the time: a bit for each. */
enum event_kept {
	EVENT_KEPT_FIRST = 1 << 0, /* its first part; all others are parallel regions */
	EVENT_KEPT_SLOWEST = 1 << 1,
	EVENT_KEPT_LAST = 1 << 2,
	EVENT_KEPT_EVERY = 1 << 3, /* every so many'th is */
};

/* A part of the time in which the program was recorded; between them nothing was, or is kept. */
struct event_window {
	uint64_t begin_ns, end_ns; /* end UINT64_MAX: of the last one, not said */
	uint64_t cost_ns;	   /* that its probes took from the busiest CPU */
	uint64_t every;		   /* EVENT_KEPT_EVERY: so many'th */
	uint8_t kept;		   /* enum event_kept; 0: nothing was recorded between the windows */
};

struct event_loss {
	char *cause;
	uint64_t count;
};

/*
 * Whether events are missing, and not something else was counted under a name: what was recorded but for a
 * page of it that could not be read, bodies of constructs from before the recording, and what the events that
 * are there lack at the edges of the recording.
 */
bool event_loss__is_of_events(const struct event_loss *loss);

/*
 * All that a file says, sorted by time (stable; a creation before the body it
 * creates, also at equal times). Owned by whoever called event_stream__free.
 */
struct event_stream {
	struct event *events;
	size_t count, capacity;
	struct event_source *sources;
	size_t source_count;
	struct event_cpu *cpus;
	size_t cpu_count;
	struct event_distance *distances; /* of one pair the last counts */
	size_t distance_count;
	struct event_numa numa;
	struct event_counter *counters;
	size_t counter_count;
	struct event_absent_counter *absent_counters;
	size_t absent_counter_count;
	struct event_reading *readings; /* by event, then by counter; few events need have any */
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
	struct event_window *windows; /* ascending; none: it was recorded all the time */
	size_t window_count;
	struct event_loss *losses; /* belonging to no thread */
	size_t loss_count;
	char **causes; /* of lost events */
	size_t cause_count;
	struct event_loop *loops;		       /* loop_count of them */
	uint32_t task_count, region_count, loop_count; /* ids are below these */
	struct folded *folded;	  /* statistics of the whole run where this is a part of it; NULL */
	struct grain_info info;	  /* strings owned by the stream */
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
	EVENT_TROUBLE_LOST = 8,	  /* events of its thread are missing while it ran */
	EVENT_TROUBLE_WAIT = 16,  /* the end of one of its waits or creations was not seen; it stands at the
				     next event that proves it over */
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
