/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The replay builds a graph in one pass over the events. Its state is what each thread does, as a stack of
 * frames. A frame is a context that has begun and not ended. It is on the stack of one thread, or it is
 * parked: suspended, and on no thread. One item of each frame is open. For the top frame, this is a fragment.
 * For other frames, it is the call of the runtime in which the frames above run.
 */
#ifndef GRAIND_GRAPH_REPLAY_H
#define GRAIND_GRAPH_REPLAY_H

#include "analysis/graph/graph.h"
#include "analysis/base/number_map.h"

/* The next numbers for what is created below one identifier. */
struct scope {
	uint32_t children, regions, splits;
};

/* Tasks that can be begun now. */
struct offers {
	uint64_t idle_ns;  /* the time in which there was no such task */
	uint64_t since_ns; /* idle_ns is known up to this time */
	uint32_t count;	   /* number of such tasks */
};

/* What is measured of a frame for the task profile (replay_tasking.c). */
struct task_account {
	struct offers children; /* the children of its task */
	uint64_t since_ns;	/* time when the task's current stretch began */
	uint64_t idle_ns;	/* idle time of the open wait so far */
	uint64_t alone_since;	/* time since when it is on top */
	uint64_t idle_since;	/* idle_ns of its offers at alone_since */
	uint64_t create_ns;	/* time of all its creations */
	uint64_t wait_idle_ns;	/* idle time of all its waits */
	uint32_t point;		/* the scheduling point that is open */
	uint32_t inner;		/* the innermost scheduling point in which it runs */
	uint32_t outer;		/* the implicit task's scheduling point in which it runs */
	uint32_t active;	/* index of its counter in tasking.active */
	uint8_t wait;		/* enum event_wait of the open wait */
	bool current;		/* its thread executes it, or executes a chunk or region inside it */
};

struct frame {
	uint64_t pushed_ns; /* time since when it is on its thread */
	uint64_t busy_ns;   /* of a member: time of fragments on its thread */
	uint32_t context;
	uint32_t below, above; /* frames of the same thread */
	uint32_t thread;       /* GRAIN_NONE: it is parked */
	uint32_t item;	 /* the open item; GRAIN_NONE: a fragment that another context has interrupted */
	uint32_t member; /* the frame of the team member, or initial task, that runs it */
	uint32_t parked_ref;
	uint32_t singles, loops_seen, joins, yields;
	uint32_t single; /* the single that it executes */
	struct scope own, in_single;
	uint32_t children;   /* the list of its children that are not joined */
	uint32_t group;	     /* the innermost taskgroup that it has opened */
	uint32_t passed;     /* the last barrier of its team that it has reached */
	uint32_t upcoming;   /* of a context without a team: its next barrier */
	uint32_t loop;	     /* the loop that it is in */
	uint32_t loop_left;  /* the loop that it has just left */
	uint32_t region_end; /* the barrier that it has just left */
	uint32_t visit;
	uint32_t active; /* of a member: number of tasks that were begun on top of it */
	struct task_account account;
	uint8_t parked_kind;
	uint8_t wait;	 /* enum event_wait of the open join */
	bool lost;	 /* lost events were already applied to this frame and all frames below it */
	uint64_t losses; /* replay.losses when it was put on its thread */
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

/*
 * A place in memory that is named in dependences of one task's children. The children that access it are in
 * sets. A set is a list of access_node.
 */
struct location {
	uint32_t set, before; /* the current set, and the set that it waits for */
	uint32_t next;	      /* the owner's next location that was used in the same epoch */
	uint32_t epoch;	      /* the owner's epoch when this was last used */
	uint8_t kind;	      /* enum event_depend of the current set */
};

struct access_node {
	uint32_t task, next;
};

/* A task whose children have dependences. */
struct depend_owner {
	uint32_t all;	/* the last child with omp_all_memory */
	uint32_t first; /* the first location that was used after this child */
	uint32_t epoch; /* number of children with omp_all_memory so far */
};

struct replay {
	struct grain_graph *graph;
	struct frame *frames;
	size_t frame_count, frame_capacity;
	uint32_t free_frame;
	struct group *groups;
	size_t group_count, group_capacity;
	uint32_t *context_of_task;
	uint32_t *region_order; /* in the order of their begins */
	size_t regions_begun;

	/* For exact instantaneous parallelism. In `levels`, each level is higher than the one before it. */
	struct level *levels;
	size_t level_count, level_capacity;
	uint64_t now_ns;
	uint32_t running; /* number of open fragments */
	bool changed;	  /* `running` has changed since now_ns */
	uint64_t losses;  /* number of losses of unknown threads; such a loss spoils everything that is on a
			     thread at that time */

	/* What the threads inside regions could do. */
	uint32_t creating, ready, active_threads, active_region;
	struct grain_lock *locks; /* for each kind and definition; the last definition stands for none */

	/* For dependences: numbers of addresses, of owners, and of locations (address and owner). */
	struct number_map addresses, owners, location_of;
	struct location *locations;
	size_t location_count, location_capacity;
	struct depend_owner *depend_owners;
	size_t depend_owner_count, depend_owner_capacity;
	struct access_node *accesses;
	size_t access_count, access_capacity;
};

/* replay_sweep.c */
int replay__advance(struct replay *r, uint64_t time_ns);
/* Returns the smallest number of fragments that ran at any time in [start, now). */
uint32_t replay__least(const struct replay *r, uint64_t start_ns);

/* replay_frames.c. All times are that of the current event. */
int frame__open(struct replay *r, uint32_t frame, enum grain_item_kind kind, uint32_t ref);
/* keep: keeps a fragment of length 0, too. */
void frame__close(struct replay *r, uint32_t frame, bool keep);
/* Closes the open item and opens one of `kind`. If the open item is a call, its end was lost. */
int frame__change(struct replay *r, uint32_t frame, enum grain_item_kind kind, uint32_t ref);
/* Begins a context on a thread; *frame is its new frame. */
int frame__enter(struct replay *r, uint32_t thread, uint32_t context, uint32_t *frame);
/* Ends the context of a frame, on a thread or parked. */
int frame__leave(struct replay *r, uint32_t frame);
int frame__park(struct replay *r, uint32_t frame);
int frame__resume(struct replay *r, uint32_t frame, uint32_t thread);
/* Ends all frames above `frame` and marks them as never ended. GRAIN_NONE: all frames of the thread. */
int frame__abandon_above(struct replay *r, uint32_t thread, uint32_t frame);
/* Marks and counts a context that did not end, unless the stream's reader has already counted it. */
void replay__count_never_ended(struct replay *r, uint32_t context);
void context__spoil(struct grain_graph *graph, uint32_t context);
int context__new(struct replay *r, enum grain_context_kind kind, uint32_t parent, uint32_t definition,
		 uint32_t *out);
bool frame__on_top_in_fragment(const struct replay *r, uint32_t frame);

/* replay_tasks.c */
int replay__create_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__create_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_switch(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__task_suspend(struct replay *r, const struct event *e);
void replay__lost(struct replay *r, uint32_t thread, const struct event *e);
int replay__base(struct replay *r, uint32_t thread, bool unknown);
/* Returns the thread's top frame. A thread outside of all contexts gets a base frame. */
static inline int replay__top(struct replay *r, uint32_t thread, uint32_t *frame)
{
	const struct thread *t = &r->graph->threads[thread];
	/* A worker whose member-begin was lost has no initial task. */
	int error = t->top == GRAIN_NONE ? replay__base(r, thread, t->member) : 0;

	if (error < 0)
		return error;
	*frame = r->graph->threads[thread].top;
	return 0;
}

/* Returns the frame of the task whose children `context` creates. GRAIN_NONE: that task has ended. */
uint32_t replay__task_frame(const struct replay *r, uint32_t context);
/*
 * The task that creates for `context`: for a chunk the task that executes it, for a splitting task that of
 * the taskloop.
 */
uint32_t graph__task_region(const struct grain_graph *graph, uint32_t context);

/* replay_tasking.c: the task profile. Times and positions are those of the current event. */
int tasking__start(struct replay *r);
void tasking__stop(struct replay *r);
/* The frame has just opened a wait of enum event_wait, or the creation of `context`. */
int tasking__wait(struct replay *r, uint32_t frame, uint8_t kind, uint32_t definition);
int tasking__creation(struct replay *r, uint32_t frame, uint32_t context);
/* A wait or creation of the frame was closed. Its item is final. */
void tasking__closed(struct replay *r, struct frame *frame, const struct raw_item *item);
/* A frame was pushed on a thread; is about to leave it; is on top again; continues after a suspension. */
int tasking__pushed(struct replay *r, uint32_t frame);
int tasking__leaving(struct replay *r, uint32_t frame);
void tasking__uncovered(struct replay *r, uint32_t frame);
void tasking__resumed(struct replay *r, uint32_t frame);
/* The body of a context begins in a new frame; the body has ended. */
void tasking__begun(struct replay *r, struct frame *frame, uint32_t context);
int tasking__ended(struct replay *r, const struct frame *frame);
/*
 * replay_offers.c: a task can be begun from now on; it can no longer be begun; `to` depends on `from`; a task
 * may have ended.
 */
void tasking__offer(struct replay *r, uint32_t context);
void tasking__withdraw(struct replay *r, uint32_t context);
int tasking__depends(struct replay *r, uint32_t from, uint32_t to);
void tasking__over(struct replay *r, uint32_t context);

/* A clock of the time without a task to begin, for the frame's open wait. Only differences have a meaning. */
uint64_t tasking__idle_clock(const struct replay *r, const struct frame *f);

/* replay_notes.c: further events of tasks, locks and cancellation */
int replay__task_bounds(struct replay *r, const struct event *e);
int replay__task_fulfill(struct replay *r, const struct event *e);
void replay__task_discard(struct replay *r, const struct event *e);
void replay__cancel(struct replay *r, const struct event *e);
int replay__lock(struct replay *r, uint32_t thread, const struct event *e);
void replay__set_ready(struct replay *r, struct context *c, bool ready);
int replay__finish_notes(struct replay *r);

/* replay_scheduler.c */
int replay__off_cpu(struct replay *r, uint32_t thread, const struct event *e);
int replay__on_cpu(struct replay *r, uint32_t thread, const struct event *e);
void replay__lost_switches(struct replay *r, uint32_t thread, const struct event *e);

/* replay_samples.c */
int replay__sample(struct replay *r, uint32_t thread, const struct event *e);
/* replay_accesses.c */
int replay__access(struct replay *r, uint32_t thread, const struct event *e);

/* replay_depend.c */
int replay__depend(struct replay *r, uint32_t thread, const struct event *e);
void replay__finish_depends(struct replay *r);
void replay__free_depends(struct replay *r);

/* replay_teams.c */
int replay__region_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__region_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__member_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__member_end(struct replay *r, uint32_t thread, const struct event *e);
void replay__single_begin(struct replay *r, uint32_t thread, const struct event *e);
void replay__single_end(struct replay *r, uint32_t thread);

/* replay_joins.c */
int replay__wait_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__wait_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__group_begin(struct replay *r, uint32_t thread);
/* Returns the barrier that joins the tasks that the frame creates now. Makes it if there is none yet. */
int frame__upcoming_barrier(struct replay *r, uint32_t frame, uint32_t *join);

/* replay_loops.c */
int replay__loop_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__chunk_begin(struct replay *r, uint32_t thread, const struct event *e);
int replay__chunk_end(struct replay *r, uint32_t thread, const struct event *e);
int replay__loop_end(struct replay *r, uint32_t thread, const struct event *e);

/* replay_finish.c: ends of threads, and everything that is still open at the end. */
int replay__thread_close(struct replay *r, uint32_t thread);
int replay__finish(struct replay *r);

static inline struct scope *frame__scope(struct frame *f)
{
	return f->single != GRAIN_NONE ? &f->in_single : &f->own;
}

/* The first steps of grain_graph__build, in this order. */
int graph__number_definitions(struct grain_graph *graph);
int graph__replay(struct grain_graph *graph, const struct grain_load_opts *opts, struct grain_error *err);
/* Sorts items by context and members by region, and numbers joins. */
int graph__arrange(struct grain_graph *graph);
/* Makes identifiers of chunks unique, and names the tasks of taskloops. */
int graph__name_loops(struct grain_graph *graph);
int graph__name_neighbours(struct grain_graph *graph);

#endif
