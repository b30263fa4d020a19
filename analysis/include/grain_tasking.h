/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile of Lorenz, Philippen, Schmidl and Wolf, "Profiling of OpenMP tasks with Score-P", ICPP
 * Workshops 2012. It says what the tasks of each construct cost, and what happened at each scheduling point.
 * It is computed with the graph, and belongs to it; analysis/METRICS.md has the definitions. Times are in
 * nanoseconds.
 *
 * A *stretch* of a task (their task fragment) begins where a thread begins or resumes the task. It ends where
 * the thread turns to another task or the task ends. The task's creations and waits are in it. The *own time*
 * of a scheduling point is the time that threads spent there without executing a task.
 */
#ifndef GRAIND_GRAIN_TASKING_H
#define GRAIND_GRAIN_TASKING_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The numbers of one task construct, over all its instances (figure 11; rows of Table III). Tasks that the
 * runtime makes to split a taskloop are no instances.
 */
struct grain_task_construct {
	uint32_t definition; /* GRAIN_NONE: unknown */
	uint64_t instances;
	uint64_t complete;  /* instances whose body was seen from begin to end; all times are of these */
	uint64_t fragments; /* number of stretches */
	uint64_t switches;  /* number of stretches that resumed a suspended instance */
	/* Times of an instance: */
	struct grain_stat exclusive;  /* in its code, without calls of the runtime: exec */
	struct grain_stat inclusive;  /* exclusive, its own and that of all descendants; only if all of them
					 are complete */
	struct grain_stat create;     /* in creations of children: the own time of its forks */
	struct grain_stat taskwait;   /* the own time of its waits */
	struct grain_stat management; /* create and taskwait, without idle time */
	struct grain_stat task; /* exclusive + create + taskwait: the inclusive time of their Table IV */
	/* False: times were derived, so fragments, switches, management and max_concurrent are absent. */
	bool scheduled;
	/*
	 * The largest number of its instances that were begun and not ended on one thread at a time (section
	 * V-B).
	 */
	uint32_t max_concurrent;
};
size_t grain_graph__task_construct_count(const struct grain_graph *graph); /* largest exclusive sum first */
void grain_graph__task_construct(const struct grain_graph *graph, size_t index,
				 struct grain_task_construct *out);
/*
 * Returns the index of a definition's construct. The definition may be GRAIN_NONE. Returns GRAIN_NONE if it
 * has no tasks.
 */
uint32_t grain_graph__construct_of(const struct grain_graph *graph, uint32_t definition);

/*
 * A scheduling point in the source, for one kind of caller, and what threads did there (sections IV-B and
 * IV-C). A creation is a scheduling point, too: an undeferred body runs inside it, the rest is management.
 */
struct grain_scheduling_point {
	/*
	 * For a creation: the task's definition. For a wait: its own definition; if that of a barrier is
	 * unknown, the definition of its loop or region. GRAIN_NONE: unknown.
	 */
	uint32_t definition;
	bool in_task;	  /* the caller is an explicit task; else an implicit or initial one */
	uint32_t caller;  /* the definition of the explicit task; GRAIN_NONE: unknown, or not in_task */
	const char *kind; /* "taskwait", "taskwait-depend", "taskgroup", "barrier", "barrier-implicit",
			     "taskyield", "create" */
	uint64_t visits;
	uint64_t time_ns;	/* time of threads inside it: executing + management + idle */
	uint64_t executing_ns;	/* time in which other tasks ran: the time of the stubs, and nested_ns */
	uint64_t management_ns; /* own time in a creation, or while a task could have been begun */
	uint64_t idle_ns;	/* own time while no task could have been begun */
	/*
	 * The part of executing_ns that is not in the stubs. The stubs of an implicit task's point have all
	 * stretches at any depth, so this is 0. The stubs of an explicit task's point have only the stretches
	 * directly inside it; what ran in the waits of those stretches belongs to their own points.
	 */
	uint64_t nested_ns;
	uint32_t first_stub, stubs; /* the stubs with the largest time come first */
};
/*
 * The largest time comes first. If info.times_derived there are none, because it is unknown when tasks could
 * be begun.
 */
size_t grain_graph__scheduling_point_count(const struct grain_graph *graph);
void grain_graph__scheduling_point(const struct grain_graph *graph, size_t index,
				   struct grain_scheduling_point *out);

/* A stub (figure 8): the stretches of one construct's tasks inside one scheduling point. */
struct grain_stub {
	uint32_t definition; /* GRAIN_NONE: unknown */
	uint64_t fragments;
	struct grain_stat exec; /* time of a stretch */
};
void grain_graph__stub(const struct grain_graph *graph, uint32_t stub, struct grain_stub *out);

/* For each definition, all tasks of this depth and deeper are in one row. */
enum { GRAIN_DEPTH_LIMIT = 1000 };

/* The complete explicit tasks of one depth and one definition (their Table IV). */
struct grain_depth_row {
	uint32_t depth, definition; /* definition GRAIN_NONE: unknown */
	uint64_t instances;
	struct grain_stat exclusive, inclusive, create, taskwait, task; /* as of a construct */
};
size_t grain_graph__depth_row_count(const struct grain_graph *graph); /* by depth, then definition */
void grain_graph__depth_row(const struct grain_graph *graph, size_t index, struct grain_depth_row *out);

/* The time that a region's members spent in its barriers and at its end. */
struct grain_barriers {
	uint64_t time_ns; /* = executing + management + idle, as of a scheduling point */
	uint64_t executing_ns, management_ns, idle_ns;
};
/* Returns false if the region is incomplete or times were derived. Then *out is all zero. */
bool grain_graph__region_barriers(const struct grain_graph *graph, uint32_t region,
				  struct grain_barriers *out);

#ifdef __cplusplus
}
#endif

#endif
