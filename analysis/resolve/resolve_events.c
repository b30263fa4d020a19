// SPDX-License-Identifier: BSD-2-Clause
/* Decides what each event of a trace means, given the open frames of its thread. */
#include "analysis/resolve/resolver.h"

#include <errno.h>

static bool site_kind_of(uint32_t wait, enum site_kind *out)
{
	static const enum site_kind kinds[] = {
		[TRACE_WAIT_TASKWAIT] = SITE_TASKWAIT,	      [TRACE_WAIT_TASKGROUP] = SITE_TASKGROUP,
		[TRACE_WAIT_BARRIER] = SITE_BARRIER,	      [TRACE_WAIT_REGION_END] = SITE_BARRIER,
		[TRACE_WAIT_TASKWAIT_DEPEND] = SITE_TASKWAIT, [TRACE_WAIT_BARRIER_IMPLICIT] = SITE_BARRIER,
		[TRACE_WAIT_TASKYIELD] = SITE_TASKYIELD,
	};

	if (wait < TRACE_WAIT_TASKWAIT || wait > TRACE_WAIT_TASKYIELD)
		return false;
	*out = kinds[wait];
	return true;
}

/*
 * Whether the thread is in a barrier that has just begun. The runtime ends a taskgroup inside a barrier
 * before the thread really waits there: the time up to here belonged to the taskgroup.
 */
static bool is_inside(const struct thread *t, const struct trace_record *rec, size_t begun)
{
	const struct frame *top = frames__top(t);

	return top && top->kind == FRAME_WAIT && top->event == begun && top->sp > rec->frame &&
	       rec->arg == TRACE_WAIT_TASKGROUP &&
	       (top->wait == TRACE_WAIT_BARRIER || top->wait == TRACE_WAIT_BARRIER_IMPLICIT);
}

static int wait_inside(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct frame *outer = frames__top(t);

	r->stream->events[outer->event].sub = EVENT_WAIT_TASKGROUP;
	outer->then = outer->wait;
	outer->wait = TRACE_WAIT_TASKGROUP;
	outer->key = outer->sp;
	outer->sp = rec->frame;
	return 0;
}

static int wait_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool of_team = rec->arg == TRACE_WAIT_BARRIER || rec->arg == TRACE_WAIT_REGION_END ||
		       rec->arg == TRACE_WAIT_BARRIER_IMPLICIT;
	struct frame frame = {.kind = FRAME_WAIT, .sp = rec->frame, .wait = (uint8_t)rec->arg};
	size_t base, begun = t->wait_event;
	enum site_kind kind;
	struct event *e;
	int error;
	if (!site_kind_of(rec->arg, &kind))
		return resolver__unmatched_end(r);
	if (is_inside(t, rec, begun))
		return wait_inside(r, t, rec);
	/*
	 * The runtime calls the barrier at the end of a region. Its frames need not be below the member's. It
	 * closes everything in the member.
	 */
	error = rec->arg == TRACE_WAIT_REGION_END ? 0 : frames__close_below(r, t, rec->frame);
	if (!error && of_team) {
		base = frames__base(t);
		error = frames__close_to(r, t, base == GRAIN_NONE ? 0 : base + 1);
	} else if (!error) {
		error = frames__close_calls(r, t);
	}
	if (!error)
		error = resolver__need_member(r, t, of_team);
	if (!error && of_team && t->depth && frames__top(t)->kind == FRAME_MEMBER)
		error = frames__end_single(r, t, frames__top(t));
	if (error)
		return error;
	frame.event = r->stream->count;
	e = resolver__emit(r, t, EVENT_WAIT_BEGIN, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	t->wait_event = frame.event;
	e->sub = frames__wait_name(frame.wait);
	error = site_table__source(&r->sites, rec->site, rec->extra, kind, &e->src);
	return error ? error : resolver__push(r, t, frame);
}

/* Begins the wait inside which the taskgroup ended. */
static int go_on(struct resolver *r, struct thread *t, const struct frame *ended)
{
	uint32_t source = r->stream->events[ended->event].src;
	struct frame frame = {.kind = FRAME_WAIT,
			      .sp = ended->key,
			      .wait = ended->then,
			      .event = r->stream->count};
	struct event *e = resolver__emit(r, t, EVENT_WAIT_BEGIN, GRAIN_NONE);

	if (!e)
		return -E2BIG;
	e->sub = frames__wait_name(frame.wait);
	e->src = source;
	return resolver__push(r, t, frame);
}

static int wait_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at = frames__returned_from(t, rec->frame, FRAME_WAIT, rec->arg);
	struct frame *top = frames__top(t);
	uint64_t called_at;
	int error;

	/*
	 * An end may be recorded in the middle of the runtime's function, at a lower stack pointer than the
	 * begin.
	 */
	if (at == GRAIN_NONE && top && frames__same_wait(top, rec->arg))
		at = t->depth - 1;
	if (at == GRAIN_NONE) {
		resolver__unmatched_end(r);
		return rec->arg == TRACE_WAIT_REGION_END ? teams__end_orphan(r, t) : 0;
	}
	called_at = t->frames[at].sp;
	error = frames__close_to(r, t, at + 1);
	/* A wait at a region's end above this frame was closed. This may have closed more frames. */
	if (!error && t->depth == at + 1) {
		/* The popped frame stays valid until the next push. */
		const struct frame *ended = &t->frames[at];

		error = frames__end_wait(r, t, true);
		if (!error && ended->then)
			return go_on(r, t, ended);
	}
	if (!error && rec->arg == TRACE_WAIT_REGION_END && t->depth == at && t->depth &&
	    frames__top(t)->kind == FRAME_MEMBER)
		error = frames__end_member(r, t, true);
	/* The end of a taskloop or region comes next, possibly at the same stack pointer. */
	if (error ||
	    (t->depth && (frames__top(t)->kind == FRAME_TASKLOOP ||
			  (frames__top(t)->kind == FRAME_REGION && rec->arg == TRACE_WAIT_REGION_END))))
		return error;
	return frames__close_returned(r, t, rec->frame, called_at);
}

static int group_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = resolver__enter_code(r, t, rec->frame, false);
	struct event *e;

	if (!error && r->cancels)
		error = groups__begin(r, t);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_GROUP_BEGIN, GRAIN_NONE);
	return e ? site_table__source(&r->sites, rec->site, rec->extra, SITE_TASKGROUP, &e->src) : -E2BIG;
}

static int cancel(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	static const struct {
		uint32_t bit;
		uint8_t sub;
	} kinds[] = {{TRACE_CANCEL_PARALLEL, EVENT_CANCEL_PARALLEL},
		     {TRACE_CANCEL_LOOP, EVENT_CANCEL_LOOP},
		     {TRACE_CANCEL_SECTIONS, EVENT_CANCEL_SECTIONS},
		     {TRACE_CANCEL_TASKGROUP, EVENT_CANCEL_TASKGROUP}};
	int error = resolver__enter_code(r, t, rec->frame, false);
	struct event *e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !error; i++) {
		if (!(rec->arg & kinds[i].bit))
			continue;
		groups__cancel(r, t, rec->arg);
		if (kinds[i].sub != EVENT_CANCEL_TASKGROUP)
			loops__cancel(t);
		e = resolver__emit(r, t, EVENT_CANCEL, GRAIN_NONE);
		if (!e)
			return -E2BIG;
		e->sub = kinds[i].sub;
		e->value = !(rec->arg & TRACE_CANCEL_POINT);
		return site_table__source(&r->sites, rec->site, rec->extra, SITE_CANCEL, &e->src);
	}
	return error;
}

/* A wait for a lock has two records: its begin and the acquisition. */
static int lock(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	static const struct {
		uint8_t sub;
		enum site_kind site;
	} kinds[] = {[TRACE_LOCK_CRITICAL] = {EVENT_LOCK_CRITICAL, SITE_CRITICAL},
		     [TRACE_LOCK_ORDERED] = {EVENT_LOCK_ORDERED, SITE_ORDERED},
		     [TRACE_LOCK_OMP] = {EVENT_LOCK_OMP, SITE_LOCK},
		     [TRACE_LOCK_DOACROSS] = {EVENT_LOCK_DOACROSS, SITE_DOACROSS},
		     [TRACE_LOCK_ATOMIC] = {EVENT_LOCK_ATOMIC, SITE_ATOMIC}};
	bool begins = rec->flags & RECORD_LOCK_BEGIN;
	struct event *e;
	int error = 0;

	if (rec->arg < TRACE_LOCK_CRITICAL || rec->arg > TRACE_LOCK_ATOMIC)
		return begins ? 0 : resolver__unmatched_end(r);
	/* A creation runs copy constructors of the program, and they may use locks. */
	if (begins && !(t->depth && frames__top(t)->kind == FRAME_CREATE))
		error = resolver__enter_code(r, t, rec->frame, false);
	if (error)
		return error;
	e = resolver__emit(r, t, begins ? EVENT_LOCK_BEGIN : EVENT_LOCK_GOT, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->sub = kinds[rec->arg].sub;
	e->value = rec->key;
	return begins ? site_table__source(&r->sites, rec->site, 0, kinds[rec->arg].site, &e->src) : 0;
}

static int tell_lost(struct resolver *r, struct thread *t, const struct trace_record *rec, uint32_t what)
{
	struct event *e = resolver__emit(r, t, EVENT_LOST, what);

	if (!e)
		return -E2BIG;
	e->value = rec->arg;
	r->stream->truth.lost += rec->arg;
	return 0;
}

static int lost(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = tell_lost(r, t, rec, GRAIN_NONE);

	if (error)
		return error;
	r->tasks_before_loss = r->stream->task_count;
	if (t->tid) {
		t->outside = false;
		frames__mark_lost(r, t);
		return 0;
	}
	for (uint32_t i = 0; i < r->content->thread_count; i++)
		r->threads[i].outside = false;
	for (uint32_t i = r->first_dirty; i != GRAIN_NONE; i = r->threads[i].next_dirty) {
		frames__mark_lost(r, &r->threads[i]);
		r->threads[i].dirty = false;
	}
	r->first_dirty = GRAIN_NONE;
	return 0;
}

/* Only switches of the thread are missing. None of its own events is. */
static int lost_switches(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	r->stream->truth.lost_switches += rec->arg;
	return tell_lost(r, t, rec, EVENT_LOST_SWITCHES);
}

static int thread_begins(struct resolver *r, struct thread *t)
{
	t->begun = true;
	if (!resolver__emit(r, t, EVENT_THREAD_BEGIN, GRAIN_NONE))
		return -E2BIG;
	return t->orphan_start ? teams__begin_member(r, t, UINT64_MAX, GRAIN_NONE, 0) : 0;
}

/*
 * Whether the record may come inside a taskloop's call. Any other record proves that the call has returned.
 */
static bool in_taskloop(const struct trace_record *rec)
{
	switch (rec->kind) {
	case TRACE_TASK_CREATE:
	case TRACE_TASK_CREATE_END:
	case TRACE_TASK_BEGIN:
	case TRACE_TASK_END:
	case TRACE_UNDEFERRED_BEGIN:
	case TRACE_UNDEFERRED_END:
	case TRACE_WAIT_BEGIN:
	case TRACE_WAIT_END:
	case TRACE_GROUP_BEGIN:
	case TRACE_DEPEND:
	case TRACE_TASK_BOUNDS:
	case TRACE_TASKLOOP_END:
	case TRACE_LOCK_WAIT:
	case TRACE_LOST:
		return true;
	default:
		return false;
	}
}

/* Ends a creation or a taskloop's call on top of the thread, if the record cannot happen inside it. */
static int leave_call(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	const struct frame *top = frames__top(t);
	int error = 0;

	if (top && top->kind == FRAME_CREATE && !tasks__in_creation(r, t, rec))
		error = frames__close_top(r, t);
	top = frames__top(t);
	if (!error && top && top->kind == FRAME_TASKLOOP && !in_taskloop(rec))
		error = frames__close_top(r, t);
	return error;
}

static int dispatch(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	switch ((enum trace_kind)rec->kind) {
	case TRACE_TASK_CREATE:
		return tasks__create(r, t, rec);
	case TRACE_TASK_CREATE_END:
		return tasks__create_end(r, t, rec);
	case TRACE_TASK_BEGIN:
		return tasks__begin(r, t, rec);
	case TRACE_TASK_END:
	case TRACE_UNDEFERRED_END:
		return tasks__end(r, t, rec);
	case TRACE_UNDEFERRED_BEGIN:
		return tasks__undeferred(r, t, rec);
	case TRACE_REGION_BEGIN:
		return teams__region_begin(r, t, rec);
	case TRACE_REGION_END:
		return teams__region_end(r, t, rec);
	case TRACE_TEAM_START:
		return teams__start(r, t, rec);
	case TRACE_TEAM_STARTED:
		return teams__started(r, t, rec);
	case TRACE_MEMBER_BEGIN:
		return teams__member_begin(r, t, rec);
	case TRACE_WAIT_BEGIN:
		return wait_begin(r, t, rec);
	case TRACE_WAIT_END:
		return wait_end(r, t, rec);
	case TRACE_GROUP_BEGIN:
		return group_begin(r, t, rec);
	case TRACE_SINGLE:
		return teams__single(r, t, rec);
	case TRACE_SINGLE_END:
		return teams__single_end(r, t, rec);
	case TRACE_DEPEND:
		return tasks__depend(r, t, rec);
	case TRACE_TASK_BOUNDS:
		return tasks__bounds(r, t, rec);
	case TRACE_TASKLOOP_BEGIN:
		return tasks__taskloop_begin(r, t, rec);
	case TRACE_TASKLOOP_END:
		return tasks__taskloop_end(r, t, rec);
	case TRACE_TASK_FULFILL:
		return tasks__fulfill(r, t, rec);
	case TRACE_CANCEL:
		return cancel(r, t, rec);
	case TRACE_LOOP_BEGIN:
	case TRACE_SECTIONS_BEGIN:
		return loops__begin(r, t, rec);
	case TRACE_LOOP_PARAMS:
		return loops__params(r, t, rec);
	case TRACE_CHUNK_NEXT:
	case TRACE_SECTION_NEXT:
		return loops__next(r, t, rec);
	case TRACE_CHUNK_BEGIN:
	case TRACE_SECTION_BEGIN:
		return loops__chunk(r, t, rec);
	case TRACE_CHUNK_STRIDE:
		return loops__stride(r, t, rec);
	case TRACE_LOOP_END:
	case TRACE_SECTIONS_END:
		return loops__end(r, t, rec);
	case TRACE_STATIC_SHARE:
		return loops__share(r, t, rec);
	case TRACE_LOCK_WAIT:
		return lock(r, t, rec);
	case TRACE_LOST:
		return lost(r, t, rec);
	case TRACE_OFF_CPU:
	case TRACE_ON_CPU:
	case TRACE_COUNTERS:
	case TRACE_SAMPLE:
	case TRACE_SAMPLE_STACK:
	case TRACE_ACCESS:
	case TRACE_LOST_SWITCHES:
	case TRACE_KIND_MAX:
		break;
	}
	return 0;
}

/*
 * A switch of a thread can come at any point. Switches before its first own event and after its last one are
 * ignored.
 */
static int scheduled(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	static const uint8_t reasons[] = {[TRACE_OFF_PREEMPTED] = EVENT_REASON_PREEMPTED,
					  [TRACE_OFF_BLOCKED] = EVENT_REASON_BLOCKED,
					  [TRACE_OFF_YIELDED] = EVENT_REASON_YIELDED};
	bool off = rec->kind == TRACE_OFF_CPU;
	uint32_t reason = rec->arg & TRACE_OFF_REASON;
	struct event *e;

	if (!t->begun)
		return 0;
	e = resolver__emit(r, t, off ? EVENT_OFF_CPU : EVENT_ON_CPU, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	if (off) {
		e->sub = reason <= TRACE_OFF_YIELDED ? reasons[reason] : EVENT_REASON_UNKNOWN;
		if (rec->arg >> TRACE_OFF_NEIGHBOUR_SHIFT)
			e->id = rec->arg >> TRACE_OFF_NEIGHBOUR_SHIFT;
	} else if (rec->key <= INT64_MAX) {
		e->value = rec->key;
	}
	return 0;
}

/*
 * Adds addresses to the stack of the thread's latest sample. Does nothing if earlier addresses are missing.
 */
static int extend_stack(struct resolver *r, struct thread *t, const struct trace_record *rec, uint32_t from)
{
	const uint64_t addresses[TRACE_STACK_EACH] = {rec->key, rec->frame, rec->extra};
	const struct event_stack *stack;
	int error = 0;

	if (t->stack == GRAIN_NONE)
		return 0;
	stack = &r->stream->stacks[t->stack];
	for (uint32_t i = 0; i < TRACE_STACK_EACH && !error; i++) {
		if (stack->count != from + i || stack->count == stack->room)
			break;
		error = event_stream__push_address(r->stream, t->stack, addresses[i], r->budget);
		stack = &r->stream->stacks[t->stack];
	}
	return error;
}

/* A sample: where the thread was. */
static int sampled(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct event *e;
	int error = 0;

	if (rec->kind == TRACE_SAMPLE_STACK)
		return extend_stack(r, t, rec, rec->arg);
	if (!t->begun && t->tid)
		error = thread_begins(r, t);
	if (!error)
		error = event_stream__new_stack(r->stream,
						rec->arg < TRACE_STACK_MAX ? rec->arg : TRACE_STACK_MAX,
						r->budget, &t->stack);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_SAMPLE, t->stack);
	return e ? extend_stack(r, t, rec, 0) : -E2BIG;
}

/* A sampled memory access of the thread. */
static int accessed(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool known = rec->arg < TRACE_ACCESS_UNKNOWN;
	uint32_t why = known ? EVENT_ACCESS_UNKNOWN : rec->arg - TRACE_ACCESS_UNKNOWN;
	struct event *e;
	int error = 0;

	if (!t->begun && t->tid)
		error = thread_begins(r, t);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_ACCESS, known && rec->arg < EVENT_NODES_MAX ? rec->arg : GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->value = rec->key;
	e->sub = why < EVENT_ACCESS_WHYS ? (uint8_t)why : EVENT_ACCESS_UNKNOWN;
	return 0;
}

/*
 * Takes a counter reading for the next event, if that event is of the given kind. The event itself may have
 * been lost.
 */
static void take_reading(struct thread *t, const struct trace_record *rec)
{
	const uint64_t values[TRACE_COUNTERS_EACH] = {rec->frame, rec->key, rec->extra};
	uint32_t first = TRACE_COUNTERS_FIRST(rec->arg), blind = TRACE_COUNTERS_BLIND(rec->arg);
	struct reading *reading = &t->reading;

	if (first == 0 || reading->kind != TRACE_COUNTERS_KIND(rec->arg))
		reading->known = 0;
	reading->kind = TRACE_COUNTERS_KIND(rec->arg);
	for (uint32_t i = 0; i < TRACE_COUNTERS_EACH && first + i < TRACE_READING_MAX; i++) {
		reading->value[first + i] = values[i];
		reading->known |= (uint32_t) !(blind >> i & 1) << (first + i);
	}
}

int resolver__record(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool counts = rec->flags & TRACE_F_FAULT && !(rec->flags & RECORD_LOCK_BEGIN);
	struct trace_record inside;
	int error = 0;

	if (counts)
		r->stream->truth.read_faults++;
	if (rec->kind == RECORD_NONE)
		return 0;
	if (rec->cpu != TRACE_CPU_UNKNOWN)
		t->cpu = rec->cpu;
	r->now = rec->time_ns;
	if (rec->kind == TRACE_OFF_CPU || rec->kind == TRACE_ON_CPU)
		return scheduled(r, t, rec);
	if (rec->kind == TRACE_SAMPLE || rec->kind == TRACE_SAMPLE_STACK)
		return sampled(r, t, rec);
	if (rec->kind == TRACE_ACCESS)
		return accessed(r, t, rec);
	if (rec->kind == TRACE_LOST_SWITCHES)
		return lost_switches(r, t, rec);
	if (rec->kind == TRACE_COUNTERS) {
		take_reading(t, rec);
		return 0;
	}
	r->reader = t->reading.kind && t->reading.kind == rec->kind ? t : NULL;
	t->reading.kind = 0;
	if (!t->begun && t->tid)
		error = thread_begins(r, t);
	t->outside |= (rec->flags & TRACE_F_OUTSIDE) != 0;
	if (rec->kind != TRACE_LOOP_PARAMS)
		t->params = PARAMS_NONE;
	if (rec->kind != TRACE_CHUNK_STRIDE)
		t->chunk_event = SIZE_MAX;
	if (rec->kind != TRACE_WAIT_BEGIN)
		t->wait_event = SIZE_MAX;
	if (rec->flags & TRACE_F_AMONG_WORDS) {
		inside = *rec;
		inside.frame = loops__frame_among_words(t);
		rec = &inside;
	}
	if (!error)
		error = leave_call(r, t, rec);
	return error ? error : dispatch(r, t, rec);
}
