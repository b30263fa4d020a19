/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile of Lorenz, Philippen, Schmidl and Wolf, "Profiling of
 * OpenMP tasks with Score-P", ICPP Workshops 2012: what tasks of each
 * construct cost, and what happened at each scheduling point. Computed with
 * the graph; README.md in this folder has the definitions. Times are
 * nanoseconds. Everything belongs to the graph.
 *
 * A task's *stretch* (their task fragment) is the time from where a thread
 * begins or resumes it to where the thread turns to another task or the task
 * ends; its own creations and waits are in it. A scheduling point's *own time*
 * is that which its thread spent there without executing a task.
 */
#ifndef GRAIND_GRAIN_TASKING_H
#define GRAIND_GRAIN_TASKING_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The tree of one task construct, merged over its instances (figure 11; rows
 * of Table III). Tasks that the runtime makes to split a taskloop are no
 * instances.
 */
struct grain_task_construct {
	uint32_t definition; /* GRAIN_NONE: unknown */
	uint64_t instances;
	uint64_t complete;  /* of them: body seen from begin to end; the sums are over these */
	uint64_t fragments; /* stretches */
	uint64_t switches;  /* stretches that resumed a suspended instance */
	/* Of one instance each: */
	struct grain_stat exclusive;  /* executing, without runtime calls: exec */
	struct grain_stat inclusive;  /* exclusive and that of all descendants; only where all of them are
					 complete */
	struct grain_stat create;     /* creating children: own time of its forks */
	struct grain_stat taskwait;   /* own time of its waits */
	struct grain_stat management; /* create, and the waits without what was idle */
	struct grain_stat task; /* exclusive + create + taskwait: the inclusive time of their Table IV */
	/* false: fragments, switches, management and max_concurrent are absent, times were derived. */
	bool scheduled;
	/* The most of its instances that were begun and not ended on one thread at a time (section V-B). */
	uint32_t max_concurrent;
};
size_t grain_graph__task_construct_count(const struct grain_graph *graph); /* largest exclusive sum first */
void grain_graph__task_construct(const struct grain_graph *graph, size_t index,
				 struct grain_task_construct *out);
/* The index of the construct of a definition or of GRAIN_NONE; GRAIN_NONE: it has no tasks. */
uint32_t grain_graph__construct_of(const struct grain_graph *graph, uint32_t definition);

/*
 * A scheduling point in the source, in one kind of caller, and what its
 * threads did there (sections IV-B and IV-C). A creation counts as one: an
 * undeferred body runs inside, the rest is management.
 */
struct grain_scheduling_point {
	/* The wait's; where that is not known, of a barrier that of its loop or region. Of a creation the
	 * task's. GRAIN_NONE: unknown. */
	uint32_t definition;
	bool in_task;	  /* an explicit task's point; else an implicit or initial task's */
	uint32_t caller;  /* definition of that explicit task; GRAIN_NONE: unknown, or not in_task */
	const char *kind; /* "taskwait", "taskwait-depend", "taskgroup", "barrier", "barrier-implicit",
			     "taskyield", "create" */
	uint64_t visits;
	uint64_t time_ns;	/* thread time inside; = executing + management + idle */
	uint64_t executing_ns;	/* other tasks ran: the stubs', and nested_ns */
	uint64_t management_ns; /* own time while a task could have been begun, or of a creation */
	uint64_t idle_ns;	/* own time while there was none */
	/*
	 * Of executing: not in the stubs. 0 of implicit tasks' points: their stubs
	 * hold all stretches, however deep. An explicit task's stubs hold those
	 * directly inside; what ran in the waits of these is their points'.
	 */
	uint64_t nested_ns;
	uint32_t first_stub, stubs; /* stubs: largest time first */
};
/* Largest time first. 0 where info.times_derived: when what could be begun is not known. */
size_t grain_graph__scheduling_point_count(const struct grain_graph *graph);
void grain_graph__scheduling_point(const struct grain_graph *graph, size_t index,
				   struct grain_scheduling_point *out);

/* A stub (figure 8): stretches of tasks of one construct inside one scheduling point. */
struct grain_stub {
	uint32_t definition; /* GRAIN_NONE: unknown */
	uint64_t fragments;
	struct grain_stat exec; /* of one stretch each */
};
void grain_graph__stub(const struct grain_graph *graph, uint32_t stub, struct grain_stub *out);

/* All tasks of this depth and deeper are in one row a definition. */
enum { GRAIN_DEPTH_LIMIT = 1000 };

/* Per depth of explicit tasks and definition (their Table IV); complete tasks only. */
struct grain_depth_row {
	uint32_t depth, definition; /* definition GRAIN_NONE: unknown */
	uint64_t instances;
	struct grain_stat exclusive, inclusive, create, taskwait, task; /* as of a construct */
};
size_t grain_graph__depth_row_count(const struct grain_graph *graph); /* by depth, then definition */
void grain_graph__depth_row(const struct grain_graph *graph, size_t index, struct grain_depth_row *out);

/* What a region's members did in its barriers, the region's end among them; thread time. */
struct grain_barriers {
	uint64_t time_ns; /* = executing + management + idle, as of a scheduling point */
	uint64_t executing_ns, management_ns, idle_ns;
};
/* false: absent, because the region is incomplete or times were derived; *out is all zero. */
bool grain_graph__region_barriers(const struct grain_graph *graph, uint32_t region,
				  struct grain_barriers *out);

#ifdef __cplusplus
}
#endif

#endif
