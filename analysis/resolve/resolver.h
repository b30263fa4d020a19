/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the resolver and what they share:
 *   resolve.c         order, threads, counters
 *   resolver.c        what all of them need
 *   resolve_survey.c  properties of an event that only later events show
 *   resolve_events.c  waits, locks, losses; one handler for each kind of event
 *   resolve_tasks.c   creations and bodies
 *   resolve_teams.c   regions, members, singles
 *   resolve_loops.c   loops, sections, chunks
 *   resolve_groups.c  taskgroups, cancellation
 *   resolve_frames.c  what is open on a thread, and how it ends
 */
#ifndef GRAIND_RESOLVER_H
#define GRAIND_RESOLVER_H

#include "analysis/resolve/resolve.h"
#include "analysis/trace/trace_format.h"

enum frame_kind {
	FRAME_TASK,
	FRAME_UNDEFERRED,
	FRAME_WAIT,
	FRAME_REGION,
	FRAME_MEMBER,
	FRAME_CREATE, /* id GRAIN_NONE: a task creates its own next part for the runtime (untied tasks of
			 libomp) */
	FRAME_LOOP,   /* a loop or sections */
	FRAME_CHUNK,
	FRAME_TASKLOOP, /* has no event of its own */
	FRAME_LEFT,	/* in place of a task that continues on another thread; here it can only return */
};

/*
 * Stacks grow down: the innermost frame is the last one and has the smallest sp. Members, loops and chunks
 * are no calls, so their sp means nothing.
 */
struct frame {
	uint64_t sp;
	uint64_t key;	 /* REGION: its team, 0: not known yet. TASK: its object */
	size_t event;	 /* CREATE, WAIT: index of its begin in the stream */
	uint32_t id;	 /* task, region or loop; GRAIN_NONE: member of an unknown region */
	uint32_t number; /* MEMBER; TASKLOOP and TASK: the taskloop whose tasks it creates; REGION: site */
	uint32_t group;	 /* TASK, UNDEFERRED, MEMBER: the innermost taskgroup, GRAIN_NONE */
	uint32_t groups; /* TASK, UNDEFERRED, MEMBER: number of taskgroups that this context has opened */
	uint32_t constructs; /* MEMBER: number of loops and sections so far */
	uint8_t kind;	     /* enum frame_kind */
	uint8_t wait;	     /* WAIT: enum trace_wait */
	uint8_t then; /* WAIT: the wait around it, at the stack pointer `key`, which continues when this one
			 ends; 0: none */
	bool in_single, won; /* MEMBER */
	bool requeued;	     /* TASK: the runtime has its next part */
	bool resumed;	     /* TASK: this is not its first part */
	bool sections;	     /* LOOP, CHUNK */
	bool share;	     /* LOOP: a static loop in the program's own code; its end cannot be observed */
	bool in_program; /* LOOP: as `share`, but its end may be observed; what follows the loop ends it, too
			  */
	bool cancelled;	 /* LOOP: its end may stay unseen */
	bool lost;	 /* this frame and all frames below are already marked as missing events */
};

/* A DEPEND or TASK_BOUNDS record that follows the begin of its task. */
struct attached {
	uint64_t key, extra;
	uint32_t arg;
	uint8_t kind;
	bool first; /* the first such record of a begin */
};

/* The survey's state of a thread. */
struct survey {
	uint64_t start_key, start_sp;
	uint32_t foreign; /* record: the latest begin of a member whose body was in no region so far;
			     GRAIN_NONE: none */
	uint32_t latest;  /* record: what the thread itself did last */
	uint32_t create,
		begin; /* records: the open creation, and the begin that records may be attached to */
	uint8_t start;
	struct open_region {
		uint64_t sp;
		uint32_t record;
		bool bound;
	} * regions;
	size_t depth, capacity;
	bool league_begun;
	bool has_words; /* words report all regions that it is in */
	bool worked;	/* it was a member other than 0 before that record */
};

enum params { PARAMS_NONE, PARAMS_LOOP, PARAMS_COMBINED };

struct thread {
	uint32_t tid;
	uint16_t cpu;
	bool begun, orphan_start, start_known;
	bool outside;	    /* it is outside of all regions, unless a known frame is open on it */
	uint64_t league_sp; /* stack pointer of the league that it was in at its first event; 0: none known */
	bool worker;	 /* at some time it is a member other than 0 of a team, so it has no initial task */
	bool params_new; /* the parameters describe a loop instance that was not described before */
	uint8_t params;	 /* enum params: what the next TRACE_LOOP_PARAMS describes */
	uint32_t params_of;
	size_t loop_event;  /* the loop-begin of PARAMS_LOOP */
	size_t wait_event;  /* its last event, if that was a wait-begin; else SIZE_MAX */
	size_t chunk_event; /* the chunk-begin that a TRACE_CHUNK_STRIDE belongs to, SIZE_MAX = none */
	uint32_t last_record;
	bool dirty; /* it is in the list of threads with frames that are not marked yet */
	uint32_t next_dirty;
	/*
	 * Links in the list of the workers of region `worker_of`. They are indices of threads; GRAIN_NONE:
	 * none.
	 */
	uint32_t worker_of, next_worker, previous_worker;
	uint32_t group, groups;
	struct frame *frames;
	size_t depth, capacity;
	struct attached *attached;
	size_t attached_count, attached_capacity, attached_next;
	struct survey survey;
	uint32_t stack; /* stack of its latest sample, GRAIN_NONE */
	struct reading {
		uint64_t value[TRACE_READING_MAX];
		uint32_t known; /* one bit for each counter whose value is known */
		uint32_t kind;	/* kind of the event that it belongs to, 0: there is no reading */
	} reading;
};

struct region {
	uint32_t turn; /* number of regions that had its team before it (libomp) */
	size_t event;  /* index of its region-begin in the stream */
	uint32_t first_worker;
	uint32_t combined;   /* 1 + index of the combined construct's loop that its members begin, 0: none */
	uint32_t constructs; /* number of its loops and sections so far */
	uint32_t members;
	uint32_t first_waiting, last_waiting;
	bool ended;
	bool declared; /* its team's size was recorded (libgomp) */
	bool led; /* its team is known from member 0 (libomp): workers do not record that they leave it */
	bool cancelled;
};

/* A loop-begin or sections-begin as observed. */
struct loop_call {
	uint64_t lower, upper, step, chunk, ident;
	uint32_t site, arg;
	bool sections;
	bool counted; /* upper is the number of sections; lower and step mean nothing */
	bool share;
	bool in_program;
};

struct loop_state {
	struct loop_call call;
	uint32_t source;
};

struct taskloop {
	uint32_t number; /* number in the stream, GRAIN_NONE before the first task with bounds */
	uint32_t site;
	uint64_t ident;
};

struct group {
	uint32_t parent, first_waiting, last_waiting;
	bool cancelled;
};

/* A created task. While it has EVENT_TROUBLE_NO_BEGIN, it has not begun. */
struct waiting {
	uint64_t key;
	uint32_t task, next_in_group, next_in_region;
};

struct resolver {
	struct event_stream *stream;
	const struct thread *reader; /* thread whose current event has a counter reading; NULL: none */
	struct trace_content *content;
	struct budget *budget;
	struct site_table sites;
	struct thread *threads;
	struct number_map tasks; /* key -> task that was created and has not begun, or that has a next part */
	struct number_map parts; /* task with a next part -> the thread that it is still on, or SUSPENDED */
	struct number_map teams; /* team -> region */
	/*
	 * libomp may give the team of a region that is ending to a region that has already begun. A turn is
	 * the number of a region among the regions of its team, in the order in which their members 0 begin:
	 */
	struct number_map team_turns; /* team -> total number of regions that have it */
	struct number_map turn_at;    /* record of a region's begin -> its turn, unless that is 0 */
	struct number_map turn_now;   /* team -> turn of the region that it serves now */
	struct number_map in_turn;    /* turn_key() -> region */
	struct number_map members;
	struct number_map bodies;     /* functions that were handed to regions */
	struct number_map detached;   /* key -> task */
	struct number_map free_tasks; /* tasks that any thread may begin, in its team or not; -> 0 */
	struct number_map free_keys;  /* the keys of such tasks, in the survey */
	struct number_map
		taskloop_tasks; /* task -> 2 * taskloop, plus 1 if the task splits the taskloop further */
	struct number_map task_groups; /* task -> taskgroup in which it was created */
	struct number_map instances;   /* (region, n) -> loop */
	struct number_map
		bounded_calls; /* call sites of omp_get_num_threads after which a loop's bounds are known */
	struct region *regions;
	struct loop_state *loops;
	struct loop_call *combined;
	struct taskloop *taskloops;
	struct group *groups;
	struct waiting *waiting;
	size_t task_capacity, region_capacity, region_trouble_capacity, loop_capacity, loop_state_capacity,
		combined_capacity, taskloop_capacity, group_capacity, waiting_capacity;
	uint32_t combined_count, taskloop_count, taskloop_numbers, group_count, waiting_count;
	uint32_t tasks_before_loss; /* tasks with smaller numbers were created before the last LOST */
	uint32_t first_dirty;	    /* thread, GRAIN_NONE */
	bool whole;		    /* the trace has every event since the start of the process */
	bool cancels;		    /* the trace has cancellations, so taskgroups are tracked */
	size_t at;		    /* the record that is being resolved */
	size_t window;		    /* window of the stream that the record is in */
	uint32_t closed_threads;    /* number of threads of earlier windows */
	uint64_t now;
	uint64_t unclosed_creations, unmatched_teams, unclosed_loops, unmatched_loops, mismatched_loops;
};

#define SUSPENDED (UINT32_MAX - 1)

int survey__run(struct resolver *r);

int resolver__record(struct resolver *r, struct thread *t, const struct trace_record *rec);
int resolver__thread_ends(struct resolver *r, struct thread *t);

/* Attaches the thread's counter reading to the stream's last event. */
int resolver__attach_reading(struct resolver *r, const struct thread *t);

/* Appends an event at the current time. NULL: out of memory. */
static inline struct event *resolver__emit(struct resolver *r, const struct thread *t, enum event_kind kind,
					   uint32_t id)
{
	struct event *e = event_stream__push(r->stream, r->budget);

	if (!e)
		return NULL;
	e->time_ns = r->now;
	e->tid = t->tid;
	e->cpu = t->cpu;
	e->kind = (uint8_t)kind;
	e->id = id;
	if (r->reader == t && resolver__attach_reading(r, t))
		return NULL;
	return e;
}

int resolver__more_frames(struct resolver *r, struct thread *t);
static inline int resolver__push(struct resolver *r, struct thread *t, struct frame frame)
{
	int error = t->depth == t->capacity ? resolver__more_frames(r, t) : 0;

	if (error)
		return error;
	t->frames[t->depth++] = frame;
	if (!t->dirty) {
		t->dirty = true;
		t->next_dirty = r->first_dirty;
		r->first_dirty = (uint32_t)(t - r->threads);
	}
	return 0;
}

int resolver__new_task(struct resolver *r, unsigned trouble, uint32_t *out);
int resolver__map(struct resolver *r, struct number_map *map, uint64_t key, uint32_t value);
/* The region has ended, so its loops cannot occur again. */
void resolver__forget_loops(struct resolver *r, uint32_t region);
static inline int resolver__unmatched_end(struct resolver *r)
{
	r->stream->truth.unmatched_ends++;
	return 0;
}

/* resolve_tasks.c */
int tasks__create(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__create_end(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__begin(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__undeferred(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__end(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__depend(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__bounds(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__taskloop_begin(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__taskloop_end(struct resolver *r, struct thread *t, const struct trace_record *rec);
int tasks__fulfill(struct resolver *r, struct thread *t, const struct trace_record *rec);
/* Whether the record may come while the creation on top of the thread is open. */
bool tasks__in_creation(const struct resolver *r, const struct thread *t, const struct trace_record *rec);

/* resolve_teams.c */
/*
 * Call it before an event that the program's own code causes, not the runtime. Closes frames that the event
 * proves to have ended. Adds the missing begin of a member if this is its first event. `in_region`: the event
 * can happen only in a region.
 */
int resolver__enter_code(struct resolver *r, struct thread *t, uint64_t sp, bool in_region);
int resolver__need_member(struct resolver *r, struct thread *t, bool in_region);
/* region GRAIN_NONE: the member is an orphan. */
int teams__begin_member(struct resolver *r, struct thread *t, uint64_t sp, uint32_t region, uint32_t number);
/* The region in which the recording began has ended. Ends the thread's member of it, if there is one. */
int teams__end_orphan(struct resolver *r, struct thread *t);
int teams__region_begin(struct resolver *r, struct thread *t, const struct trace_record *rec);
int teams__region_end(struct resolver *r, struct thread *t, const struct trace_record *rec);
int teams__start(struct resolver *r, struct thread *t, const struct trace_record *rec);
int teams__started(struct resolver *r, struct thread *t, const struct trace_record *rec);
int teams__member_begin(struct resolver *r, struct thread *t, const struct trace_record *rec);
int teams__single(struct resolver *r, struct thread *t, const struct trace_record *rec);
int teams__single_end(struct resolver *r, struct thread *t, const struct trace_record *rec);

/* resolve_loops.c */
int loops__begin(struct resolver *r, struct thread *t, const struct trace_record *rec);
int loops__params(struct resolver *r, struct thread *t, const struct trace_record *rec);
int loops__next(struct resolver *r, struct thread *t, const struct trace_record *rec);
int loops__chunk(struct resolver *r, struct thread *t, const struct trace_record *rec);
int loops__stride(struct resolver *r, struct thread *t, const struct trace_record *rec);
int loops__end(struct resolver *r, struct thread *t, const struct trace_record *rec);
int loops__share(struct resolver *r, struct thread *t, const struct trace_record *rec);
/* The loop or sections construct that is open on the thread is cancelled. */
void loops__cancel(struct thread *t);
/*
 * Returns a frame for an event of a static loop in the program. The event's own frame cannot be compared with
 * what is open on the thread (TRACE_F_AMONG_WORDS). Returns that of its loop, or one just below what is open.
 */
uint64_t loops__frame_among_words(const struct thread *t);

/* resolve_groups.c. Taskgroups are tracked only if resolver.cancels. */
int groups__begin(struct resolver *r, struct thread *t);
/*
 * The taskgroup's wait has ended. `seen`: the end was observed, so its tasks that have not begun never will.
 */
int groups__end(struct resolver *r, struct thread *t, bool seen);
/* The wait at the end of the member's region has ended. */
int groups__region_joined(struct resolver *r, struct thread *t, uint32_t region);
int groups__created(struct resolver *r, struct thread *t, uint64_t key, uint32_t task);
uint32_t groups__of_context(const struct thread *t);
void groups__cancel(struct resolver *r, struct thread *t, uint32_t what);

/* resolve_frames.c */
/* Ends the innermost frame. Its end was not seen. */
int frames__close_top(struct resolver *r, struct thread *t);
int frames__close_to(struct resolver *r, struct thread *t, size_t depth);
/*
 * Whether a call inside the frame may have the frame's own stack pointer. The last call may be a jump, in
 * three cases: a taskloop, a task whose body runs in the call that creates it, and a region whose body the
 * program calls itself. Such a body may also be inlined. The ends of these three are observed directly.
 */
bool frames__may_end_in_jump(const struct frame *f);
/*
 * Closes what the stack pointer proves to be over: frames below sp, and frames at sp that have no end of
 * their own.
 */
int frames__close_below(struct resolver *r, struct thread *t, uint64_t sp);
/* As frames__close_below(), when a call that was made at `called_at` has returned with this stack pointer. */
int frames__close_returned(struct resolver *r, struct thread *t, uint64_t sp, uint64_t called_at);
/* Closes the waits and creations on top, because the current event cannot happen inside them. */
int frames__close_calls(struct resolver *r, struct thread *t);
/* As frames__close_calls(), except for waits: the current event may happen inside them. */
int frames__close_returns(struct resolver *r, struct thread *t);
/* Ends the member frame on top; `seen`: its end was observed. */
int frames__end_member(struct resolver *r, struct thread *t, bool seen);
/* End the top frame, which is of that kind. Its end was observed. */
int frames__end_wait(struct resolver *r, struct thread *t, bool seen);
int frames__end_task(struct resolver *r, struct thread *t);
int frames__suspend_task(struct resolver *r, struct thread *t);
int frames__end_region(struct resolver *r, struct thread *t);
int frames__end_chunk(struct resolver *r, struct thread *t);
int frames__end_loop(struct resolver *r, struct thread *t, bool seen);
uint8_t frames__wait_name(uint8_t wait); /* enum event_wait of an enum trace_wait */
int frames__end_single(struct resolver *r, struct thread *t, struct frame *member);
/*
 * Returns the index of the innermost member or region frame. GRAIN_NONE: the thread is in its initial task.
 */
size_t frames__base(const struct thread *t);
/* Returns the index of the innermost task, undeferred task or member. GRAIN_NONE: as frames__base(). */
size_t frames__context(const struct thread *t);
/* Whether the thread has nothing open except its wait at the end of this region. */
bool frames__in_last_wait(const struct thread *t, uint32_t region);
int frames__leave_last_wait(struct resolver *r, struct thread *t);
/*
 * For the end of the trace: a worker that is still in the last barrier of a region that has ended was leaving
 * it. No event is missing.
 */
int frames__leave_barrier(struct resolver *r, struct thread *t);
/*
 * Returns the outermost frame of this kind below the stack pointer of a return. Everything below it has
 * ended. GRAIN_NONE: there is none.
 */
size_t frames__returned_from(const struct thread *t, uint64_t sp, enum frame_kind kind, uint32_t wait);
/*
 * Whether the end of this kind of wait ends the frame. The end of a barrier does not always say which kind of
 * barrier it was.
 */
bool frames__same_wait(const struct frame *f, uint32_t wait);
void frames__mark_lost(struct resolver *r, struct thread *t);
/* Marks trouble in the thread's innermost context: an end in it was not seen, or an event does not fit. */
void frames__trouble(struct resolver *r, const struct thread *t);

static inline struct frame *frames__top(const struct thread *t)
{
	return t->depth ? &t->frames[t->depth - 1] : NULL;
}

#endif
