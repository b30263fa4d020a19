// SPDX-License-Identifier: BSD-2-Clause
/*
 * Open frames of a thread. If the end of a frame was not seen, the first event that proves the end closes the
 * frame.
 */
#include "analysis/resolve/resolver.h"

static bool is_task(const struct frame *f)
{
	return f->kind == FRAME_TASK || f->kind == FRAME_UNDEFERRED;
}

/* Whether the frame is no call. Then its stack pointer means nothing. */
static bool is_transparent(const struct frame *f)
{
	return f->kind == FRAME_MEMBER || f->kind == FRAME_LOOP || f->kind == FRAME_CHUNK;
}

static void trouble_of_task(struct resolver *r, uint32_t task, unsigned bit)
{
	if (task != GRAIN_NONE)
		r->stream->task_trouble[task] |= (uint8_t)bit;
}

static void trouble_of_region(struct resolver *r, uint32_t region, unsigned bit)
{
	if (region != GRAIN_NONE)
		r->stream->region_trouble[region] |= (uint8_t)bit;
}

/* Returns the explicit task that runs below frame `depth`. */
static uint32_t running_task(const struct thread *t, size_t depth)
{
	while (depth-- > 0) {
		if (is_task(&t->frames[depth]))
			return t->frames[depth].id;
		if (t->frames[depth].kind == FRAME_MEMBER)
			break;
	}
	return GRAIN_NONE;
}

size_t frames__context(const struct thread *t)
{
	for (size_t i = t->depth; i-- > 0;) {
		if (is_task(&t->frames[i]) || t->frames[i].kind == FRAME_MEMBER)
			return i;
	}
	return GRAIN_NONE;
}

void frames__trouble(struct resolver *r, const struct thread *t)
{
	size_t at = frames__context(t);

	if (at == GRAIN_NONE)
		return;
	if (is_task(&t->frames[at]))
		trouble_of_task(r, t->frames[at].id, EVENT_TROUBLE_WAIT);
	else
		trouble_of_region(r, t->frames[at].id, EVENT_TROUBLE_LOST);
}

int frames__end_single(struct resolver *r, struct thread *t, struct frame *member)
{
	struct event *e;

	if (!member->in_single)
		return 0;
	member->in_single = false;
	e = resolver__emit(r, t, EVENT_SINGLE_END, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->value = member->won;
	return 0;
}

int frames__end_member(struct resolver *r, struct thread *t, bool seen)
{
	struct frame *f = &t->frames[t->depth - 1];
	struct event *e;

	if (frames__end_single(r, t, f))
		return -E2BIG;
	if (!seen)
		trouble_of_region(r, f->id, EVENT_TROUBLE_NO_END);
	e = resolver__emit(r, t, EVENT_MEMBER_END, f->id);
	if (!e)
		return -E2BIG;
	e->value = f->number;
	t->depth--;
	return 0;
}

uint8_t frames__wait_name(uint8_t wait)
{
	switch (wait) {
	case TRACE_WAIT_TASKGROUP:
		return EVENT_WAIT_TASKGROUP;
	case TRACE_WAIT_BARRIER:
		return EVENT_WAIT_BARRIER;
	case TRACE_WAIT_REGION_END:
	case TRACE_WAIT_BARRIER_IMPLICIT:
		return EVENT_WAIT_BARRIER_IMPLICIT;
	case TRACE_WAIT_TASKWAIT_DEPEND:
		return EVENT_WAIT_TASKWAIT_DEPEND;
	case TRACE_WAIT_TASKYIELD:
		return EVENT_WAIT_TASKYIELD;
	default:
		return EVENT_WAIT_TASKWAIT;
	}
}

int frames__end_wait(struct resolver *r, struct thread *t, bool seen)
{
	uint8_t wait = t->frames[t->depth - 1].wait;
	struct event *e;
	int error = 0;

	if (r->cancels && wait == TRACE_WAIT_TASKGROUP)
		error = groups__end(r, t, seen);
	else if (r->cancels && wait == TRACE_WAIT_REGION_END && seen && t->depth > 1 &&
		 t->frames[t->depth - 2].kind == FRAME_MEMBER)
		error = groups__region_joined(r, t, t->frames[t->depth - 2].id);
	if (error)
		return error;
	e = resolver__emit(r, t, EVENT_WAIT_END, GRAIN_NONE);
	if (!e)
		return -E2BIG;
	e->sub = frames__wait_name(wait);
	t->depth--;
	return 0;
}

static void set_undeferred(struct resolver *r, const struct frame *creation, bool undeferred)
{
	uint64_t *flags = &r->stream->events[creation->event].value;

	*flags &= ~(uint64_t)(EVENT_TASK_UNDEFERRED | EVENT_TASK_DEFERRED);
	*flags |= undeferred ? EVENT_TASK_UNDEFERRED : EVENT_TASK_DEFERRED;
}

/*
 * Returns the creation inside which the task's last part runs. NULL: each part was handed to the runtime
 * where the former part ran, and began there.
 */
static const struct frame *creation_around(const struct thread *t, uint32_t task)
{
	for (size_t i = t->depth - 1; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (f->kind == FRAME_CREATE && f->id == task)
			return f;
		if (!(f->kind == FRAME_CREATE && f->id == GRAIN_NONE) &&
		    !(f->kind == FRAME_LEFT && f->id == task))
			break;
	}
	return NULL;
}

int frames__end_task(struct resolver *r, struct thread *t)
{
	const struct frame *f = &t->frames[t->depth - 1],
			   *creation = f->resumed ? creation_around(t, f->id) : NULL;

	if (creation && !(r->stream->task_trouble[f->id] & EVENT_TROUBLE_NO_END))
		set_undeferred(r, creation, true);
	if (!resolver__emit(r, t, EVENT_TASK_END, f->id))
		return -E2BIG;
	if (f->kind == FRAME_UNDEFERRED && !resolver__emit(r, t, EVENT_CREATE_END, f->id))
		return -E2BIG;
	t->depth--;
	return 0;
}

int frames__suspend_task(struct resolver *r, struct thread *t)
{
	struct frame f = t->frames[t->depth - 1];
	struct frame *below = t->depth > 1 ? &t->frames[t->depth - 2] : NULL;
	int error = resolver__emit(r, t, EVENT_TASK_SUSPEND, f.id) ? 0 : -E2BIG;

	t->depth--;
	/* The task's end is not known before its next part begins. */
	trouble_of_task(r, f.id, EVENT_TROUBLE_NO_END);
	if (!error)
		error = resolver__map(r, &r->parts, f.id, SUSPENDED);
	if (!error && r->cancels && f.group != GRAIN_NONE)
		error = resolver__map(r, &r->task_groups, f.id, f.group);
	/* The task began inside its creation, but only a part of it has run there so far. */
	if (below && below->kind == FRAME_CREATE && below->id == f.id)
		set_undeferred(r, below, false);
	return error;
}

int frames__end_region(struct resolver *r, struct thread *t)
{
	struct frame f = t->frames[t->depth - 1];

	if (!resolver__emit(r, t, EVENT_REGION_END, f.id))
		return -E2BIG;
	if (f.key && number_map__get(&r->teams, f.key) == f.id)
		number_map__remove(&r->teams, f.key);
	resolver__forget_loops(r, f.id);
	t->depth--;
	return 0;
}

int frames__end_chunk(struct resolver *r, struct thread *t)
{
	struct frame f = t->frames[t->depth - 1];

	t->depth--;
	return resolver__emit(r, t, f.sections ? EVENT_SECTION_END : EVENT_CHUNK_END, f.id) ? 0 : -E2BIG;
}

int frames__end_loop(struct resolver *r, struct thread *t, bool seen)
{
	struct frame f = t->frames[t->depth - 1];

	t->depth--;
	if (!seen && !f.share && !f.in_program && !f.cancelled) {
		r->unclosed_loops++;
		frames__trouble(r, t);
	}
	return resolver__emit(r, t, f.sections ? EVENT_SECTIONS_END : EVENT_LOOP_END, f.id) ? 0 : -E2BIG;
}

static int close_create(struct resolver *r, struct thread *t)
{
	uint32_t task = t->frames[t->depth - 1].id;

	t->depth--;
	if (task == GRAIN_NONE)
		return 0;
	r->unclosed_creations++;
	trouble_of_task(r, task, EVENT_TROUBLE_WAIT);
	trouble_of_task(r, running_task(t, t->depth), EVENT_TROUBLE_WAIT);
	return resolver__emit(r, t, EVENT_CREATE_END, task) ? 0 : -E2BIG;
}

static int close_wait(struct resolver *r, struct thread *t)
{
	bool region_end = t->frames[t->depth - 1].wait == TRACE_WAIT_REGION_END;
	int error;

	r->stream->truth.unclosed_waits++;
	trouble_of_task(r, running_task(t, t->depth), EVENT_TROUBLE_WAIT);
	error = frames__end_wait(r, t, false);
	if (!error && region_end && t->depth && t->frames[t->depth - 1].kind == FRAME_MEMBER)
		error = frames__end_member(r, t, false);
	return error;
}

int frames__close_top(struct resolver *r, struct thread *t)
{
	const struct frame *f = &t->frames[t->depth - 1];

	switch ((enum frame_kind)f->kind) {
	case FRAME_TASK:
		if (f->requeued) {
			trouble_of_task(r, f->id, EVENT_TROUBLE_WAIT);
			return frames__suspend_task(r, t);
		}
		/* fall through */
	case FRAME_UNDEFERRED:
		trouble_of_task(r, f->id, EVENT_TROUBLE_NO_END);
		return frames__end_task(r, t);
	case FRAME_REGION:
		trouble_of_region(r, f->id, EVENT_TROUBLE_NO_END);
		return frames__end_region(r, t);
	case FRAME_MEMBER:
		return frames__end_member(r, t, false);
	case FRAME_CREATE:
		return close_create(r, t);
	case FRAME_LOOP:
		return frames__end_loop(r, t, false);
	case FRAME_CHUNK:
		return frames__end_chunk(r, t);
	case FRAME_TASKLOOP:
	case FRAME_LEFT:
		t->depth--;
		return 0;
	case FRAME_WAIT:
		break;
	}
	return close_wait(r, t);
}

int frames__close_to(struct resolver *r, struct thread *t, size_t depth)
{
	int error = 0;

	while (t->depth > depth && !error)
		error = frames__close_top(r, t);
	return error;
}

bool frames__may_end_in_jump(const struct frame *f)
{
	return f->kind == FRAME_TASKLOOP ||
	       ((f->kind == FRAME_UNDEFERRED || f->kind == FRAME_REGION) && !f->lost);
}

int frames__close_returned(struct resolver *r, struct thread *t, uint64_t sp, uint64_t called_at)
{
	size_t at = t->depth;

	while (at > 0 && is_transparent(&t->frames[at - 1]))
		at--;
	return at > 0 && t->frames[at - 1].sp == called_at && frames__may_end_in_jump(&t->frames[at - 1])
		       ? 0
		       : frames__close_below(r, t, sp - 1);
}

int frames__close_below(struct resolver *r, struct thread *t, uint64_t sp)
{
	size_t keep = t->depth;

	for (size_t i = t->depth; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (is_transparent(f))
			continue;
		if (f->sp > sp || (f->sp == sp && frames__may_end_in_jump(f)))
			break;
		keep = i;
	}
	return frames__close_to(r, t, keep);
}

int frames__close_calls(struct resolver *r, struct thread *t)
{
	int error = 0;

	while (!error && t->depth &&
	       (frames__top(t)->kind == FRAME_WAIT || frames__top(t)->kind == FRAME_CREATE ||
		frames__top(t)->kind == FRAME_LEFT))
		error = frames__close_top(r, t);
	return error;
}

int frames__close_returns(struct resolver *r, struct thread *t)
{
	int error = 0;

	while (!error && t->depth &&
	       (frames__top(t)->kind == FRAME_CREATE || frames__top(t)->kind == FRAME_LEFT))
		error = frames__close_top(r, t);
	return error;
}

size_t frames__base(const struct thread *t)
{
	for (size_t i = t->depth; i-- > 0;) {
		if (t->frames[i].kind == FRAME_MEMBER || t->frames[i].kind == FRAME_REGION)
			return i;
	}
	return GRAIN_NONE;
}

size_t frames__returned_from(const struct thread *t, uint64_t sp, enum frame_kind kind, uint32_t wait)
{
	size_t found = GRAIN_NONE;

	for (size_t i = t->depth; i-- > 0;) {
		const struct frame *f = &t->frames[i];

		if (is_transparent(f))
			continue;
		if (f->sp >= sp)
			break;
		if (f->kind == kind && (kind != FRAME_WAIT || frames__same_wait(f, wait)))
			found = i;
	}
	return found;
}

bool frames__same_wait(const struct frame *f, uint32_t wait)
{
	return f->kind == FRAME_WAIT &&
	       (f->wait == wait || (f->wait == TRACE_WAIT_BARRIER_IMPLICIT && wait == TRACE_WAIT_BARRIER) ||
		(f->wait == TRACE_WAIT_BARRIER && wait == TRACE_WAIT_BARRIER_IMPLICIT));
}

bool frames__in_last_wait(const struct thread *t, uint32_t region)
{
	const struct frame *wait, *member;

	if (t->depth < 2)
		return false;
	wait = &t->frames[t->depth - 1];
	member = wait - 1;
	return wait->kind == FRAME_WAIT && wait->wait == TRACE_WAIT_REGION_END &&
	       member->kind == FRAME_MEMBER && member->id == region;
}

int frames__leave_last_wait(struct resolver *r, struct thread *t)
{
	int error = frames__end_wait(r, t, true);

	return error ? error : frames__end_member(r, t, true);
}

int frames__leave_barrier(struct resolver *r, struct thread *t)
{
	uint32_t region = t->depth < 2 ? GRAIN_NONE : t->frames[t->depth - 2].id;

	if (region == GRAIN_NONE || !frames__in_last_wait(t, region) || !r->regions[region].ended)
		return 0;
	return frames__leave_last_wait(r, t);
}

void frames__mark_lost(struct resolver *r, struct thread *t)
{
	for (size_t i = t->depth; i-- > 0 && !t->frames[i].lost;) {
		struct frame *f = &t->frames[i];

		f->lost = true;
		if (is_task(f) || f->kind == FRAME_CREATE)
			trouble_of_task(r, f->id, EVENT_TROUBLE_LOST);
		else if (f->kind == FRAME_REGION || f->kind == FRAME_MEMBER)
			trouble_of_region(r, f->id, EVENT_TROUBLE_LOST);
	}
}
