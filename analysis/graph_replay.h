/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the one pass over the events that builds a graph: what every
 * thread is doing, as a stack of frames. A frame is a context that has begun
 * and not ended; it is on one thread's stack or parked (suspended, on none).
 * Of a frame one item is open: a fragment while it is on top, or the runtime
 * call inside which the frames above run.
 */
#ifndef GRAIND_GRAPH_REPLAY_H
#define GRAIND_GRAPH_REPLAY_H

#include "analysis/graph.h"
#include "analysis/number_map.h"

/* Numbers given to what is created under one name prefix. */
struct scope {
	uint32_t children, regions, splits;
};

/* Time for which there was no task that could have been begun, of those that it counts. */
struct offers {
	uint64_t idle_ns, since_ns;
	uint32_t count; /* tasks that could be begun now */
};

/* What the task profile measures of a frame, tasking.c. */
struct task_account {
	struct offers children;		  /* of its task */
	uint64_t since_ns;		  /* of a task that is current: its stretch began */
	uint64_t idle_ns;		  /* of the open wait so far */
	uint64_t alone_since, idle_since; /* it is on top since, and its offers' idle time then */
	uint64_t create_ns, wait_idle_ns; /* of all its creations, of all its waits */
	uint32_t point;			  /* the scheduling point that is open */
	uint32_t inner, outer;		  /* where it runs: the innermost, and the implicit task's */
	uint32_t active;		  /* counter of instances that are active */
	uint8_t wait;			  /* of the open wait: enum event_wait */
	bool current;			  /* its thread executes it, or chunks and regions of it */
};

struct frame {
	uint64_t pushed_ns; /* on its thread since */
	uint64_t busy_ns;   /* of a member: fragments run on its thread */
	uint32_t context;
	uint32_t below, above; /* frames of the same thread */
	uint32_t thread;       /* GRAIN_NONE while parked */
	uint32_t item;	       /* the open one; GRAIN_NONE: a fragment that a body interrupted */
	uint32_t member;       /* frame of the team member (or base) that runs it */
	uint32_t parked_ref;
	uint32_t singles, loops_seen, joins, yields;
	uint32_t single; /* the one it executes */
	struct scope own, in_single;
	uint32_t children;   /* list of children not joined */
	uint32_t group;	     /* innermost taskgroup opened by this context */
	uint32_t passed;     /* the last barrier of the team that it reached */
	uint32_t upcoming;   /* of a context without a team: its next barrier */
	uint32_t loop;	     /* loop that it is in */
	uint32_t loop_left;  /* loop that it left just now */
	uint32_t region_end; /* barrier that it left just now */
	uint32_t visit;
	uint32_t active; /* of a member: tasks begun on top of it */
	struct task_account account;
	uint8_t parked_kind;
	uint8_t wait;	 /* enum event_wait of the open join */
	bool lost;	 /* it and all below are spoiled by lost events */
	uint64_t losses; /* of replay, when it was put on its thread */
};

struct group {
	struct offers offers;
	uint32_t join;
	uint32_t outer;
	bool closed;
};

struct level {
	uint64_t time_ns;
	uint32_t running;
};

/* Accesses to one storage location by the children of one task; lists of access_node. */
struct location {
	uint32_t set, before; /* the present set, and the one that it waits for */
	uint32_t next;	      /* of its owner, touched in the same epoch */
	uint32_t epoch;	      /* of its owner when it was last used */
	uint8_t kind;	      /* of the present set, enum event_depend */
};

struct access_node {
	uint32_t task, next;
};

/* A task whose children have dependences. */
struct depend_owner {
	uint32_t all;	/* its last child with omp_all_memory */
	uint32_t first; /* location touched since then */
	uint32_t epoch; /* such children so far */
};

struct replay {
	struct grain_graph *graph;
	struct frame *frames;
	size_t frame_count, frame_capacity;
	uint32_t free_frame;
	struct group *groups;
	size_t group_count, group_capacity;
	uint32_t *context_of_task;
	uint32_t *region_order; /* as they began */
	size_t regions_begun;

	/* Exact instantaneous parallelism: levels rise from bottom to top. */
	struct level *levels;
	size_t level_count, level_capacity;
	uint64_t now_ns;
	uint32_t running; /* fragments open */
	bool changed;	  /* since now_ns */
	uint64_t losses;  /* of events of any thread: spoil all that is on a thread now */

	/* What threads inside of regions could do. */
	uint32_t creating, ready, active_threads, active_region;
	struct grain_lock *locks; /* by kind and definition, none last */

	/* Dependences: by address, by task and by both. */
	struct number_map addresses, owners, location_of;
	struct location *locations;
	size_t location_count, location_capacity;
	struct depend_owner *depend_owners;
	size_t depend_owner_count, depend_owner_capacity;
	struct access_node *accesses;
	size_t access_count, access_capacity;
};

/* graph_sweep.c */
int replay__advance(struct replay *r, uint64_t time_ns);
/* The smallest number of fragments that ran at any time in [start, now). */
uint32_t replay__least(const struct replay *r, uint64_t start_ns);

/* graph_frames.c; all times are the present event's. */
int frame__open(struct replay *r, uint32_t frame, enum grain_item_kind kind, uint32_t ref);
/* keep: a fragment of length 0 stays. */
void frame__close(struct replay *r, uint32_t frame, bool keep);
/* Closes what is open and opens `kind`; a call that is still open lost its end. */
int frame__change(struct replay *r, uint32_t frame, enum grain_item_kind kind, uint32_t ref);
/* Begins a context on a thread; *frame is its new frame. */
int frame__enter(struct replay *r, uint32_t thread, uint32_t context, uint32_t *frame);
/* Ends the context of a frame, wherever it is. */
int frame__leave(struct replay *r, uint32_t frame);
int frame__park(struct replay *r, uint32_t frame);
int frame__resume(struct replay *r, uint32_t frame, uint32_t thread);
/* Ends all above `frame` (all of the thread when GRAIN_NONE) as never ended. */
int frame__abandon_above(struct replay *r, uint32_t thread, uint32_t frame);
/* Marks a context that did not end; the stream's reader may have counted it already. */
void replay__count_never_ended(struct replay *r, uint32_t context);
void context__spoil(struct grain_graph *graph, uint32_t context);
int context__new(struct replay *r, enum grain_context_kind kind, uint32_t parent, uint32_t definition,
		 uint32_t *out);
bool frame__on_top_in_fragment(const struct replay *r, uint32_t frame);

/* graph_tasks.c */
int replay__create_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__create_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_switch(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_suspend(struct replay *r, const struct event *e);
void replay__lost(struct replay *r, uint32_t thread, const struct event *e);
int replay__base(struct replay *r, uint32_t thread, bool unknown);
/* The thread's top frame; where the thread is in no context, it gets a base. */
static inline int replay__top(struct replay *r, uint32_t thread, uint32_t *frame)
{
	const struct thread *t = &r->graph->threads[thread];
	/* A worker whose member-begin was lost is in no initial task. */
	int error = t->top == GRAIN_NONE ? replay__base(r, thread, t->member) : 0;

	if (error < 0)
		return error;
	*frame = r->graph->threads[thread].top;
	return 0;
}

/* The frame of the task whose children `context` creates, GRAIN_NONE when that is over. */
uint32_t replay__task_frame(const struct replay *r, uint32_t context);
/* The task itself: of a chunk the one that executes it, of a splitting task the taskloop's. */
uint32_t graph__task_region(const struct grain_graph *graph, uint32_t context);

/* tasking.c: the task profile; times and positions are the present event's */
int tasking__start(struct replay *r);
void tasking__stop(struct replay *r);
/* The frame has just opened a wait of enum event_wait, or the creation of `context`. */
int tasking__wait(struct replay *r, uint32_t frame, uint8_t kind, uint32_t definition);
int tasking__creation(struct replay *r, uint32_t frame, uint32_t context);
/* A wait or creation of the frame was closed; its item is final. */
void tasking__closed(struct replay *r, struct frame *frame, const struct raw_item *item);
/* A frame came to the top of a thread, is about to leave it, is on top again, or goes on after a suspension.
 */
int tasking__pushed(struct replay *r, uint32_t frame);
int tasking__leaving(struct replay *r, uint32_t frame);
void tasking__uncovered(struct replay *r, uint32_t frame);
void tasking__resumed(struct replay *r, uint32_t frame);
/* A context's body begins in a new frame; it has ended. */
void tasking__begun(struct replay *r, struct frame *frame, uint32_t context);
int tasking__ended(struct replay *r, const struct frame *frame);
/* tasking_offers.c: a task can be begun from now on, or no more; `to` waits for `from`; a task may be over.
 */
void tasking__offer(struct replay *r, uint32_t context);
void tasking__withdraw(struct replay *r, uint32_t context);
int tasking__depends(struct replay *r, uint32_t from, uint32_t to);
void tasking__over(struct replay *r, uint32_t context);

/* graph_notes.c: what else is said of tasks, locks and cancels */
int replay__task_bounds(struct replay *r, const struct event *e);
int replay__task_fulfill(struct replay *r, const struct event *e);
void replay__task_discard(struct replay *r, const struct event *e);
void replay__cancel(struct replay *r, const struct event *e);
int replay__lock(struct replay *r, uint32_t thread, const struct event *e);
void replay__set_ready(struct replay *r, struct context *c, bool ready);
int replay__finish_notes(struct replay *r);

/* graph_scheduler.c */
int replay__off_cpu(struct replay *r, uint32_t thread, const struct event *e);
int replay__on_cpu(struct replay *r, uint32_t thread, const struct event *e);
void replay__lost_switches(struct replay *r, uint32_t thread, const struct event *e);

/* graph_samples.c */
int replay__sample(struct replay *r, uint32_t thread, const struct event *e);
/* graph_accesses.c */
int replay__access(struct replay *r, uint32_t thread, const struct event *e);

/* graph_depend.c */
int replay__depend(struct replay *r, uint32_t thread, const struct event *e);
void replay__finish_depends(struct replay *r);
void replay__free_depends(struct replay *r);

/* graph_teams.c */
int replay__region_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__region_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__member_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__member_end(struct replay *r, uint32_t thread, const struct event *e);
void replay__single_begin(struct replay *r, uint32_t thread, const struct event *e);
void replay__single_end(struct replay *r, uint32_t thread);

/* graph_joins.c */
int replay__wait_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__wait_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__group_begin(struct replay *r, uint32_t thread);
/* The barrier that ends what the frame creates now; made where there is none yet. */
int frame__upcoming_barrier(struct replay *r, uint32_t frame, uint32_t *join);

/* graph_loops.c */
int replay__loop_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__chunk_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__chunk_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__loop_end(struct replay *r, uint32_t thread, const struct event *e);

/* graph_finish.c: threads that end, and what was still open at the end. */
int replay__thread_close(struct replay *r, uint32_t thread);
int replay__finish(struct replay *r);

static inline struct scope *frame__scope(struct frame *f)
{
	return f->single != GRAIN_NONE ? &f->in_single : &f->own;
}

#endif
