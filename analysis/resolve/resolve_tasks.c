// SPDX-License-Identifier: BSD-2-Clause
/* Creations and bodies of tasks, on any thread and in any order. */
#include "analysis/resolve/resolver.h"

#include <errno.h>

#define MAX_TASKLOOPS (1u << 30)

static uint64_t task_flags(uint32_t arg)
{
	return (arg & TRACE_TASK_UNTIED ? EVENT_TASK_UNTIED : 0) |
	       (arg & TRACE_TASK_FINAL ? EVENT_TASK_FINAL : 0) |
	       (arg & TRACE_TASK_MERGEABLE ? EVENT_TASK_MERGEABLE : 0) |
	       (arg & TRACE_TASK_DETACH ? EVENT_TASK_DETACH : 0) |
	       (arg & TRACE_TASK_PRIORITY ? EVENT_TASK_PRIORITY : 0) |
	       (arg & TRACE_TASK_TARGET ? EVENT_TASK_TARGET : 0) |
	       (arg & TRACE_TASK_OF_TASKLOOP ? EVENT_TASK_TASKLOOP : 0) |
	       (arg & TRACE_TASK_SPLIT ? EVENT_TASK_TASKLOOP | EVENT_TASK_SPLIT : 0);
}

/* Returns the taskloop whose tasks the thread creates at this stack pointer. */
static uint32_t taskloop_at(const struct thread *t, uint64_t sp)
{
	for (size_t i = t->depth; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (f->kind == FRAME_TASKLOOP)
			return sp < f->sp ? f->number : GRAIN_NONE;
		if (f->kind == FRAME_TASK)
			return f->number;
		if (f->kind != FRAME_WAIT && f->kind != FRAME_CREATE)
			break;
	}
	return GRAIN_NONE;
}

/* Emits the create-begin of a task. */
static int emit_creation(struct resolver *r, struct thread *t, const struct trace_record *rec, uint32_t task,
			 uint64_t how)
{
	uint32_t taskloop = taskloop_at(t, rec->frame), site = rec->site;
	uint64_t ident = rec->extra;
	enum site_kind kind = SITE_TASK;
	struct event *e = resolver__emit(r, t, EVENT_CREATE_BEGIN, task);
	int error = 0;

	if (!e)
		return -E2BIG;
	e->value = task_flags(rec->arg) | how;
	if (rec->arg & (TRACE_TASK_OF_TASKLOOP | TRACE_TASK_SPLIT))
		kind = SITE_TASKLOOP;
	if (taskloop != GRAIN_NONE) {
		kind = SITE_TASKLOOP;
		e->value |= EVENT_TASK_TASKLOOP;
		site = site ? site : r->taskloops[taskloop].site;
		ident = ident ? ident : r->taskloops[taskloop].ident;
		error = resolver__map(r, &r->taskloop_tasks, task,
				      2 * taskloop + ((rec->arg & TRACE_TASK_SPLIT) != 0));
	}
	if (!error && rec->arg & TRACE_TASK_ANY_THREAD)
		error = resolver__map(r, &r->free_tasks, task, 0);
	return error ? error : site_table__source(&r->sites, site, ident, kind, &e->src);
}

/*
 * Whether the key is that of the task that the thread runs. Then the task hands its next part to the runtime.
 */
static bool is_requeue(const struct resolver *r, const struct thread *t, uint64_t key)
{
	size_t at = frames__context(t);
	const struct frame *f;

	if (at == GRAIN_NONE)
		return false;
	f = &t->frames[at];
	/* After a loss, the task may have ended, and its object may belong to another task. */
	return f->kind == FRAME_TASK && f->key == key && !f->requeued &&
	       !(r->stream->task_trouble[f->id] & EVENT_TROUBLE_LOST);
}

static int requeue(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	struct frame *f = &t->frames[frames__context(t)];
	int error = resolver__map(r, &r->parts, f->id, (uint32_t)(t - r->threads));

	f->requeued = true;
	if (!error)
		error = resolver__map(r, &r->tasks, rec->key, f->id);
	return error ? error
		     : resolver__push(r, t,
				      (struct frame){.kind = FRAME_CREATE,
						     .sp = rec->frame,
						     .id = GRAIN_NONE});
}

int tasks__create(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	unsigned fault = rec->flags & TRACE_F_FAULT ? EVENT_TROUBLE_FAULT : 0;
	bool included = rec->flags & RECORD_INCLUDED;
	int error = resolver__enter_code(r, t, rec->frame, !included);
	size_t at = r->stream->count;
	uint32_t task;

	if (!error && is_requeue(r, t, rec->key))
		return requeue(r, t, rec);
	if (!error)
		error = resolver__new_task(r, EVENT_TROUBLE_NO_BEGIN | fault, &task);
	/* A key that is still known belongs to a task whose begin was not seen. Its block was reused. */
	if (!error)
		error = number_map__put(&r->tasks, rec->key, task);
	if (!error && rec->arg & TRACE_TASK_DETACH)
		error = resolver__map(r, &r->detached, rec->key, task);
	if (!error && r->cancels)
		error = groups__created(r, t, rec->key, task);
	if (!error) {
		at = r->stream->count;
		error = emit_creation(r, t, rec, task,
				      included ? EVENT_TASK_UNDEFERRED : EVENT_TASK_DEFERRED);
	}
	return error ? error
		     : resolver__push(r, t,
				      (struct frame){.kind = FRAME_CREATE,
						     .sp = rec->frame,
						     .id = task,
						     .event = at});
}

bool tasks__in_creation(const struct resolver *r, const struct thread *t, const struct trace_record *rec)
{
	const struct frame *top = frames__top(t);
	uint32_t task;

	switch (rec->kind) {
	case TRACE_TASK_CREATE_END:
	case TRACE_DEPEND:
	case TRACE_TASK_BOUNDS:
	case TRACE_LOST:
	case TRACE_LOCK_WAIT:
		return true;
	case TRACE_TASK_BEGIN:
		task = number_map__get(&r->tasks, rec->key);
		return task != GRAIN_NONE &&
		       (top->id == task || (top->id == GRAIN_NONE && t->depth > 1 && top[-1].id == task &&
					    (top[-1].kind == FRAME_TASK || top[-1].kind == FRAME_LEFT)));
	default:
		return false;
	}
}

int tasks__create_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at = frames__returned_from(t, rec->frame + 1, FRAME_CREATE, 0);
	uint32_t task;
	int error;

	if (at == GRAIN_NONE) {
		if (!t->depth || frames__top(t)->kind != FRAME_CREATE)
			return resolver__unmatched_end(r);
		at = t->depth - 1;
	}
	error = frames__close_to(r, t, at + 1);
	/* Closing a wait at a region's end may also close the member below it. */
	if (error || t->depth != at + 1)
		return error;
	task = t->frames[at].id;
	t->depth--;
	return task == GRAIN_NONE || resolver__emit(r, t, EVENT_CREATE_END, task) ? 0 : -E2BIG;
}

static int emit_depend(struct resolver *r, struct thread *t, uint32_t task, uint64_t address, uint32_t kind)
{
	struct event *e;

	if (kind != TRACE_DEPEND_UNREAD && (kind < TRACE_DEPEND_IN || kind > TRACE_DEPEND_ALL))
		return resolver__unmatched_end(r);
	e = resolver__emit(r, t, EVENT_DEPEND, task);
	if (!e)
		return -E2BIG;
	e->value = address;
	e->sub = kind == TRACE_DEPEND_UNREAD ? EVENT_DEPEND_UNREAD : (uint8_t)(kind - TRACE_DEPEND_IN);
	return 0;
}

static int emit_bounds(struct resolver *r, struct thread *t, uint32_t task, uint64_t lower, uint64_t upper)
{
	uint32_t taskloop = number_map__get(&r->taskloop_tasks, task);
	struct event *e = resolver__emit(r, t, EVENT_TASK_BOUNDS, task);

	if (!e)
		return -E2BIG;
	e->value = lower;
	e->extra = upper;
	if (taskloop == GRAIN_NONE)
		return 0;
	taskloop /= 2;
	if (r->taskloops[taskloop].number == GRAIN_NONE)
		r->taskloops[taskloop].number = r->taskloop_numbers++;
	e->src = r->taskloops[taskloop].number;
	return 0;
}

/*
 * Emits the records that follow the begin but must come before the body. If `task` is GRAIN_NONE, skips them.
 * Dependences belong to a creation that is still open.
 */
static int emit_attached(struct resolver *r, struct thread *t, const struct trace_record *rec, uint32_t task,
			 bool creating)
{
	int error = 0;

	if (!(rec->flags & RECORD_ATTACHED))
		return 0;
	for (bool first = true; t->attached_next < t->attached_count && !error; first = false) {
		const struct attached *a = &t->attached[t->attached_next];

		if (a->first != first)
			break;
		t->attached_next++;
		if (task == GRAIN_NONE || (a->kind == TRACE_DEPEND && !creating))
			error = resolver__unmatched_end(r);
		else if (a->kind == TRACE_DEPEND)
			error = emit_depend(r, t, task, a->key, a->arg);
		else
			error = emit_bounds(r, t, task, a->key, a->extra);
	}
	return error;
}

/* The task's next part runs. The former part can only return now. */
static int leave_part(struct resolver *r, uint32_t task, uint32_t thread)
{
	struct thread *t = &r->threads[thread];
	size_t at = t->depth;
	struct frame left;
	bool creating;
	int error;

	while (at > 0 && !(t->frames[at - 1].kind == FRAME_TASK && t->frames[at - 1].id == task))
		at--;
	if (at == 0)
		return 0;
	creating = t->depth == at + 1 && t->frames[at].kind == FRAME_CREATE && t->frames[at].id == GRAIN_NONE;
	error = frames__close_to(r, t, creating ? at + 1 : at);
	if (error)
		return error;
	left = t->frames[at - 1];
	if (!creating) {
		error = frames__suspend_task(r, t);
		left.kind = FRAME_LEFT;
		return error ? error : resolver__push(r, t, left);
	}
	/* The task is still returning from handing the part over. */
	t->depth = at;
	error = frames__suspend_task(r, t);
	t->depth = at + 1;
	t->frames[at - 1].kind = FRAME_LEFT;
	return error;
}

static int resume(struct resolver *r, struct thread *t, const struct trace_record *rec, uint32_t task,
		  uint32_t from)
{
	struct frame frame = {.kind = FRAME_TASK,
			      .sp = rec->frame,
			      .id = task,
			      .key = rec->key,
			      .number = GRAIN_NONE,
			      .group = GRAIN_NONE,
			      .resumed = true};
	int error = from == SUSPENDED ? 0 : leave_part(r, task, from);

	number_map__remove(&r->parts, task);
	if (r->cancels)
		frame.group = number_map__get(&r->task_groups, task);
	r->stream->task_trouble[task] &= (uint8_t)~EVENT_TROUBLE_NO_END;
	if (!error && !resolver__emit(r, t, EVENT_TASK_SWITCH, task))
		error = -E2BIG;
	return error ? error : resolver__push(r, t, frame);
}

/* Finds the task that begins: the created one, or a new one without creation. */
static int find_task(struct resolver *r, const struct trace_record *rec, uint32_t *task)
{
	if (*task == GRAIN_NONE)
		return resolver__new_task(r, EVENT_TROUBLE_NO_CREATE, task);
	r->stream->task_trouble[*task] &= (uint8_t)~EVENT_TROUBLE_NO_BEGIN;
	/*
	 * The begin of the old task may have been lost, and also the creation of this task in the same block.
	 */
	if (*task < r->tasks_before_loss)
		r->stream->task_trouble[*task] |= EVENT_TROUBLE_LOST;
	(void)rec;
	return 0;
}

int tasks__begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	bool nested = t->depth && frames__top(t)->kind == FRAME_CREATE;
	uint32_t task = number_map__get(&r->tasks, rec->key),
		 from = task == GRAIN_NONE ? GRAIN_NONE : number_map__get(&r->parts, task);
	struct frame frame = {.kind = FRAME_TASK,
			      .sp = rec->frame,
			      .key = rec->key,
			      .number = GRAIN_NONE,
			      .group = GRAIN_NONE};
	bool created = task != GRAIN_NONE;
	bool in_team = !created || number_map__get(&r->free_tasks, task) == GRAIN_NONE;
	struct event *e;
	int error = nested ? 0 : frames__close_below(r, t, rec->frame);

	/* A creation that is on top now has returned as well. */
	if (!error && !nested)
		error = frames__close_returns(r, t);
	if (!error)
		error = resolver__need_member(r, t, !nested && in_team);
	if (error)
		return error;
	number_map__remove(&r->tasks, rec->key);
	if (!in_team)
		number_map__remove(&r->free_tasks, task);
	if (from != GRAIN_NONE) {
		error = emit_attached(r, t, rec, GRAIN_NONE, false);
		return error ? error : resume(r, t, rec, task, from);
	}
	error = find_task(r, rec, &task);
	if (!error)
		error = emit_attached(r, t, rec, created ? task : GRAIN_NONE, nested);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_TASK_BEGIN, task);
	if (!e)
		return -E2BIG;
	if (!created)
		error = site_table__source(&r->sites, rec->site, 0, SITE_TASK, &e->src);
	if (rec->flags & TRACE_F_FAULT)
		r->stream->task_trouble[task] |= EVENT_TROUBLE_FAULT;
	frame.id = task;
	if (r->taskloop_count) {
		uint32_t taskloop = number_map__get(&r->taskloop_tasks, task);

		frame.number = taskloop != GRAIN_NONE && taskloop & 1 ? taskloop / 2 : GRAIN_NONE;
		number_map__remove(&r->taskloop_tasks, task);
	}
	if (r->cancels) {
		frame.group = number_map__get(&r->task_groups, task);
		number_map__remove(&r->task_groups, task);
	}
	return error ? error : resolver__push(r, t, frame);
}

int tasks__undeferred(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	unsigned fault = rec->flags & TRACE_F_FAULT ? EVENT_TROUBLE_FAULT : 0;
	int error = resolver__enter_code(r, t, rec->frame, false);
	struct frame frame = {.kind = FRAME_UNDEFERRED, .sp = rec->frame, .group = groups__of_context(t)};
	uint32_t task;

	if (!error)
		error = resolver__new_task(r, fault, &task);
	if (!error)
		error = emit_creation(r, t, rec, task, EVENT_TASK_UNDEFERRED);
	if (!error)
		error = emit_attached(r, t, rec, task, true);
	if (error)
		return error;
	number_map__remove(&r->taskloop_tasks, task);
	if (!resolver__emit(r, t, EVENT_TASK_BEGIN, task))
		return -E2BIG;
	frame.id = task;
	return resolver__push(r, t, frame);
}

/*
 * Whether the end at this stack pointer is the frame's. The end of an undeferred task may be a jump at the
 * end of a function. Then it has the stack pointer of the frame around it, and the innermost task ends there.
 */
static bool is_ended_at(const struct frame *f, uint8_t kind, uint64_t sp)
{
	if (f->kind == FRAME_LEFT && kind == FRAME_TASK)
		return f->sp == sp;
	return f->kind == kind && (f->sp == sp || (f->sp < sp && frames__may_end_in_jump(f)));
}

int tasks__end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint8_t kind = rec->kind == TRACE_TASK_END ? FRAME_TASK : FRAME_UNDEFERRED;
	int error;

	for (size_t i = t->depth; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (f->kind == FRAME_MEMBER || f->kind == FRAME_LOOP || f->kind == FRAME_CHUNK)
			continue;
		if (f->sp > rec->frame)
			break;
		if (!is_ended_at(f, kind, rec->frame))
			continue;
		error = frames__close_to(r, t, i + 1);
		if (error || t->depth != i + 1)
			return error;
		f = &t->frames[i];
		if (f->kind == FRAME_LEFT) {
			t->depth--;
			return 0;
		}
		return f->requeued ? frames__suspend_task(r, t) : frames__end_task(r, t);
	}
	resolver__unmatched_end(r);
	return frames__close_below(r, t, rec->frame);
}

/* Returns the task that the thread is creating and that has not begun. GRAIN_NONE: none. */
static uint32_t being_created(const struct resolver *r, const struct thread *t)
{
	const struct frame *top = frames__top(t);

	return top && top->kind == FRAME_CREATE && top->id != GRAIN_NONE &&
			       r->stream->task_trouble[top->id] & EVENT_TROUBLE_NO_BEGIN
		       ? top->id
		       : GRAIN_NONE;
}

int tasks__depend(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	const struct frame *top = frames__top(t);
	uint32_t task = being_created(r, t);

	if (task != GRAIN_NONE)
		return emit_depend(r, t, task, rec->key, rec->arg);
	if (top && top->kind == FRAME_WAIT && top->wait == TRACE_WAIT_TASKWAIT_DEPEND)
		return emit_depend(r, t, GRAIN_NONE, rec->key, rec->arg);
	return resolver__unmatched_end(r);
}

int tasks__bounds(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint32_t task = being_created(r, t);

	if (task != GRAIN_NONE)
		return emit_bounds(r, t, task, rec->key, rec->extra);
	return resolver__unmatched_end(r);
}

int tasks__taskloop_begin(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	int error = resolver__enter_code(r, t, rec->frame, false);

	if (r->taskloop_count >= MAX_TASKLOOPS)
		error = -E2BIG;
	if (!error)
		error = array__make_room(&r->taskloops, r->taskloop_count, &r->taskloop_capacity,
					 sizeof(*r->taskloops), r->budget);
	if (error)
		return error;
	r->taskloops[r->taskloop_count] =
		(struct taskloop){.number = GRAIN_NONE, .site = rec->site, .ident = rec->extra};
	return resolver__push(r, t,
			      (struct frame){.kind = FRAME_TASKLOOP,
					     .sp = rec->frame,
					     .id = GRAIN_NONE,
					     .number = r->taskloop_count++});
}

/* No event depends on the end of a taskloop. */
int tasks__taskloop_end(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	size_t at = frames__returned_from(t, rec->frame + 1, FRAME_TASKLOOP, 0);

	return at == GRAIN_NONE ? 0 : frames__close_to(r, t, at);
}

int tasks__fulfill(struct resolver *r, struct thread *t, const struct trace_record *rec)
{
	uint32_t task = number_map__get(&r->detached, rec->key);
	int error;

	if (task == GRAIN_NONE)
		return resolver__unmatched_end(r);
	number_map__remove(&r->detached, rec->key);
	error = resolver__enter_code(r, t, rec->frame, false);
	return error || resolver__emit(r, t, EVENT_TASK_FULFILL, task) ? error : -E2BIG;
}
