/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the parts of the resolver:
 *   resolve.c         order, threads, counters
 *   resolve_survey.c  what is known of an event only from later ones
 *   resolve_events.c  waits, locks, losses; one handler per kind of event
 *   resolve_tasks.c   creations and bodies
 *   resolve_teams.c   regions, members, singles
 *   resolve_loops.c   loops, sections, chunks
 *   resolve_groups.c  taskgroups, cancellation
 *   resolve_frames.c  what is open on a thread, and how it ends
 */
#ifndef GRAIND_RESOLVER_H
#define GRAIND_RESOLVER_H

#include "analysis/resolve.h"
#include "analysis/trace_format.h"

enum frame_kind {
	FRAME_TASK,
	FRAME_UNDEFERRED,
	FRAME_WAIT,
	FRAME_REGION,
	FRAME_MEMBER,
	FRAME_CREATE, /* id GRAIN_NONE: a task that hands its own next part to the runtime */
	FRAME_LOOP,   /* a loop or sections */
	FRAME_CHUNK,
	FRAME_TASKLOOP, /* has no event of its own */
	FRAME_LEFT,	/* a task was here that goes on elsewhere; only its return is still to come */
};

/*
 * The stack grows down: the innermost frame is the last and has the smallest
 * sp. Members, loops and chunks are no calls: their sp says nothing.
 */
struct frame {
	uint64_t sp;
	uint64_t key;	 /* REGION: the team bound to it, 0 = none yet; TASK: its object */
	size_t event;	 /* CREATE, WAIT: where its begin stands in the stream */
	uint32_t id;	 /* task, region or loop; GRAIN_NONE: member of an unknown region */
	uint32_t number; /* MEMBER; TASKLOOP and TASK: the taskloop whose tasks it creates; REGION: site */
	uint32_t group;	 /* TASK, UNDEFERRED, MEMBER: the innermost taskgroup, GRAIN_NONE */
	uint32_t groups; /* ... and how many this context has opened itself */
	uint32_t constructs; /* MEMBER: loops and sections so far */
	uint8_t kind;	     /* enum frame_kind */
	uint8_t wait;	     /* WAIT: enum trace_wait */
	uint8_t then; /* WAIT: the wait, at the stack pointer `key`, that goes on when this is over; 0 */
	bool in_single, won; /* MEMBER */
	bool requeued;	     /* TASK: its next part is in the runtime's hands */
	bool resumed;	     /* TASK: not its first part */
	bool sections;	     /* LOOP, CHUNK */
	bool share;	     /* LOOP: a static share, whose end is not observable */
	bool cancelled;	     /* LOOP: its end need not be seen */
	bool lost;	     /* it and all below are marked: events are missing */
};

/* DEPEND and TASK_BOUNDS that follow the begin of the task that they belong to. */
struct attached {
	uint64_t key, extra;
	uint32_t arg;
	uint8_t kind;
	bool first; /* of those of one begin */
};

/* What the survey knows of a thread at a record. */
struct survey {
	uint64_t start_key, start_sp;
	uint32_t create, begin; /* records: the creation that is open, the begin that may get attached */
	uint8_t start;
	struct open_region {
		uint64_t sp;
		uint32_t record;
		bool bound;
	} * regions;
	size_t depth, capacity;
	bool league_begun;
};

enum params { PARAMS_NONE, PARAMS_LOOP, PARAMS_COMBINED };

struct thread {
	uint32_t tid;
	uint16_t cpu;
	bool begun, orphan_start, start_known;
	bool outside;	    /* of all regions, while nothing that is known is open on it */
	uint64_t league_sp; /* of the league that it was in when its first event was seen, 0 = none known */
	bool worker;	    /* is a team's member other than 0 at some time: has no initial task */
	bool params_new;    /* the instance that it describes was not described before */
	uint8_t params;	    /* enum params: what a TRACE_LOOP_PARAMS that comes now describes */
	uint32_t params_of;
	size_t loop_event;  /* the loop-begin of PARAMS_LOOP */
	size_t wait_event;  /* the wait-begin that was the last of its events, SIZE_MAX */
	size_t chunk_event; /* the chunk-begin that a TRACE_CHUNK_STRIDE belongs to, SIZE_MAX = none */
	uint32_t last_record;
	bool dirty; /* in the list of threads on which something is not marked yet */
	uint32_t next_dirty;
	/* In the list of the workers of `worker_of`; their places in the table of threads, GRAIN_NONE. */
	uint32_t worker_of, next_worker, previous_worker;
	uint32_t group, groups;
	struct frame *frames;
	size_t depth, capacity;
	struct attached *attached;
	size_t attached_count, attached_capacity, attached_next;
	struct survey survey;
	uint32_t stack; /* of its latest sample, GRAIN_NONE */
	struct reading {
		uint64_t value[TRACE_READING_MAX];
		uint32_t known; /* a bit for each */
		uint32_t kind;	/* of the event that it is of, 0: there is none */
	} reading;
};

struct region {
	uint32_t turn; /* so many regions had its team before it (libomp) */
	size_t event;  /* its region-begin in the stream */
	uint32_t first_worker;
	uint32_t combined;   /* 1 + index of the loop that its members begin, 0 = none */
	uint32_t constructs; /* loops and sections of its members so far */
	uint32_t members;
	uint32_t first_waiting, last_waiting;
	bool ended;
	bool declared; /* its team's size was told (libgomp) */
	bool led;      /* bound by its member 0 (libomp): workers do not show that they leave it */
	bool cancelled;
};

/* A loop-begin or sections-begin as it was observed. */
struct loop_call {
	uint64_t lower, upper, step, chunk, ident;
	uint32_t site, arg;
	bool sections;
	bool counted; /* upper is the number of sections, lower and step mean nothing */
	bool share;
};

struct loop_state {
	struct loop_call call;
	uint32_t source;
};

struct taskloop {
	uint32_t number; /* in the stream, GRAIN_NONE before the first task with bounds */
	uint32_t site;
	uint64_t ident;
};

struct group {
	uint32_t parent, first_waiting, last_waiting;
	bool cancelled;
};

/* A task that was created and, as long as it has EVENT_TROUBLE_NO_BEGIN, has not begun. */
struct waiting {
	uint64_t key;
	uint32_t task, next_in_group, next_in_region;
};

struct resolver {
	struct event_stream *stream;
	const struct thread *reader; /* its events have its reading at present; NULL: none have */
	struct trace_content *content;
	struct budget *budget;
	struct site_table sites;
	struct thread *threads;
	struct number_map tasks; /* key -> task that is created and not begun, or has a next part */
	struct number_map parts; /* task with a next part -> thread it is still on, or SUSPENDED */
	struct number_map teams; /* team -> region */
	/*
	 * libomp gives the team of a region that is ending to one that has begun already. In the order in
	 * which their members 0 begin:
	 */
	struct number_map team_turns; /* team -> regions that have it, all in all */
	struct number_map turn_at;    /* record of a region's begin -> its turn, when that is not 0 */
	struct number_map turn_now;   /* team -> turn of the region that it serves */
	struct number_map in_turn;    /* turn_key() -> region */
	struct number_map members;
	struct number_map detached;	  /* key -> task */
	struct number_map taskloop_tasks; /* task -> 2 * taskloop, 1 more when it splits it further */
	struct number_map task_groups;	  /* task -> group it was created in */
	struct number_map instances;	  /* (region, n) -> loop */
	struct region *regions;
	struct loop_state *loops;
	struct loop_call *combined;
	struct taskloop *taskloops;
	struct group *groups;
	struct waiting *waiting;
	size_t task_capacity, region_capacity, region_trouble_capacity, loop_capacity, loop_state_capacity,
		combined_capacity, taskloop_capacity, group_capacity, waiting_capacity;
	uint32_t combined_count, taskloop_count, taskloop_numbers, group_count, waiting_count;
	uint32_t tasks_before_loss; /* tasks below were created before the last LOST */
	uint32_t first_dirty;	    /* thread, GRAIN_NONE */
	bool whole;		    /* every event since the start of the process is here */
	bool cancels;		    /* something is cancelled somewhere: groups are followed */
	size_t at;		    /* the record that is being resolved */
	size_t window;		    /* of the stream, that it is in */
	uint32_t closed_threads;    /* so many are those of windows before it */
	uint64_t now;
	uint64_t unclosed_creations, unmatched_teams, unclosed_loops, unmatched_loops, mismatched_loops;
};

#define SUSPENDED (UINT32_MAX - 1)

/* What the survey says of a record, in its flags. */
enum record_flags {
	RECORD_ATTACHED = 0x10,	  /* a begin with attached ones */
	RECORD_INCLUDED = 0x20,	  /* a creation inside of which the body begins */
	RECORD_LOCK_BEGIN = 0x40, /* set by the reader: when the wait for the lock began */
	RECORD_FIRST_PART = 0x80, /* set by the folder: of a long job's part that is a graph */
};
#define RECORD_NONE 0 /* kind of a record that was attached to an earlier one */

int survey__run(struct resolver *r);

int resolver__record(struct resolver *r, struct thread *t, const struct trace_record *rec);
int resolver__thread_ends(struct resolver *r, struct thread *t);

/* Makes room for one more element in an array that holds `count`. */
int resolver__grow(void *array_pointer, size_t count, size_t *capacity, size_t element_bytes,
		   struct budget *budget);
/* Gives the stream's last event the thread's reading. */
int resolver__attach_reading(struct resolver *r, const struct thread *t);

/* The event at the present time; NULL: no memory. */
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
static inline int resolver__unmatched_end(struct resolver *r)
{
	r->stream->truth.unmatched_ends++;
	return 0;
}
/*
 * Before an event that the program's own code, not the runtime, brings about:
 * closes what it proves to be over, and makes up for the begin of a member of
 * which only this was seen; `in_region`: it can only happen in one.
 */
int resolver__enter_code(struct resolver *r, struct thread *t, uint64_t sp, bool in_region);
int resolver__need_member(struct resolver *r, struct thread *t, bool in_region);

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
/* region GRAIN_NONE: an orphan. */
int teams__begin_member(struct resolver *r, struct thread *t, uint64_t sp, uint32_t region, uint32_t number);
/* The region is over inside which the recording began: ends the thread's member of it, if it is in one. */
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
/* A cancel concerns the loop or sections that is open on the thread. */
void loops__cancel(struct thread *t);
void loops__forget_region(struct resolver *r, uint32_t region);

/* resolve_groups.c; nothing is followed unless resolver.cancels */
int groups__begin(struct resolver *r, struct thread *t);
/* The taskgroup's wait is over; `seen`: what was not begun never will be. */
int groups__end(struct resolver *r, struct thread *t, bool seen);
/* The wait at the end of the member's region is over. */
int groups__region_joined(struct resolver *r, struct thread *t, uint32_t region);
int groups__created(struct resolver *r, struct thread *t, uint64_t key, uint32_t task);
uint32_t groups__of_context(const struct thread *t);
void groups__cancel(struct resolver *r, struct thread *t, uint32_t what);

/* resolve_frames.c */
/* Ends the innermost frame although its end was not seen. */
int frames__close_top(struct resolver *r, struct thread *t);
int frames__close_to(struct resolver *r, struct thread *t, size_t depth);
/* Closes what the stack pointer proves to be over: frames at or below sp. */
int frames__close_below(struct resolver *r, struct thread *t, uint64_t sp);
/* Closes the waits and creations on top: what comes now cannot happen inside one. */
int frames__close_calls(struct resolver *r, struct thread *t);
/* The same, but for the waits: what comes now may happen inside one. */
int frames__close_returns(struct resolver *r, struct thread *t);
/* Ends the member frame on top; `seen`: at its observed end. */
int frames__end_member(struct resolver *r, struct thread *t, bool seen);
/* End the frame of that kind on top where it was seen to end. */
int frames__end_wait(struct resolver *r, struct thread *t, bool seen);
int frames__end_task(struct resolver *r, struct thread *t);
int frames__suspend_task(struct resolver *r, struct thread *t);
int frames__end_region(struct resolver *r, struct thread *t);
int frames__end_chunk(struct resolver *r, struct thread *t);
int frames__end_loop(struct resolver *r, struct thread *t, bool seen);
uint8_t frames__wait_name(uint8_t wait); /* enum event_wait of an enum trace_wait */
int frames__end_single(struct resolver *r, struct thread *t, struct frame *member);
/* Index of the innermost member or region frame, GRAIN_NONE when the thread is in its initial task. */
size_t frames__base(const struct thread *t);
/* Index of the innermost task, undeferred task or member, GRAIN_NONE as above. */
size_t frames__context(const struct thread *t);
/* Whether the thread is in nothing but its wait at the end of this region. */
bool frames__in_last_wait(const struct thread *t, uint32_t region);
int frames__leave_last_wait(struct resolver *r, struct thread *t);
/*
 * At the end of the trace: a worker that has not left the barrier of a region
 * that is over was still on its way out; nothing is missing.
 */
int frames__leave_barrier(struct resolver *r, struct thread *t);
/*
 * The outermost frame of this kind that lies below the stack pointer at a
 * return; everything below it is over. GRAIN_NONE when there is none.
 */
size_t frames__returned_from(const struct thread *t, uint64_t sp, enum frame_kind kind, uint32_t wait);
/* Whether it is a wait that this kind of wait ends: the end of a barrier need not know which barrier it was.
 */
bool frames__same_wait(const struct frame *f, uint32_t wait);
void frames__mark_lost(struct resolver *r, struct thread *t);
/* Of what the innermost context of the thread is: an end in it was not seen, or something in it does not fit.
 */
void frames__trouble(struct resolver *r, const struct thread *t);

static inline struct frame *frames__top(const struct thread *t)
{
	return t->depth ? &t->frames[t->depth - 1] : NULL;
}

#endif
