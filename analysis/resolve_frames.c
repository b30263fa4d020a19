// SPDX-License-Identifier: BSD-2-Clause
/* What is open on a thread, and how it ends when its end was not seen: at the event that proves it over. */
#include "analysis/resolver.h"

#include <stdlib.h>

struct event *resolver__emit(struct resolver *r, const struct thread *t, enum event_kind kind, uint32_t id)
{
	struct event *e = event_stream__push(r->stream, r->budget);

	if (!e)
		return NULL;
	e->time_ns = r->now;
	e->tid = t->tid;
	e->cpu = t->cpu;
	e->kind = (uint8_t)kind;
	e->id = id;
	return e;
}

static int grow(void *array_pointer, size_t *capacity, size_t element_bytes, struct budget *budget)
{
	size_t more = *capacity ? *capacity : 16;
	void **array = array_pointer, *grown;

	if (budget__take(budget, more * element_bytes))
		return -E2BIG;
	grown = realloc(*array, (*capacity + more) * element_bytes);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity += more;
	return 0;
}

int resolver__push(struct resolver *r, struct thread *t, struct frame frame)
{
	if (t->depth == t->capacity) {
		int error = grow(&t->frames, &t->capacity, sizeof(*t->frames), r->budget);

		if (error)
			return error;
	}
	t->frames[t->depth++] = frame;
	return 0;
}

int resolver__new_task(struct resolver *r, unsigned trouble, uint32_t *out)
{
	struct event_stream *s = r->stream;

	if (s->task_count == r->task_capacity) {
		int error = grow(&s->task_trouble, &r->task_capacity, 1, r->budget);

		if (error)
			return error;
	}
	*out = s->task_count++;
	s->task_trouble[*out] = (uint8_t)trouble;
	return 0;
}

int resolver__new_region(struct resolver *r, uint32_t *out)
{
	struct event_stream *s = r->stream;

	if (s->region_count == r->region_capacity) {
		size_t capacity = r->region_capacity;
		int error = grow(&s->region_trouble, &capacity, 1, r->budget);

		if (!error)
			error = grow(&r->region_event, &r->region_capacity, sizeof(*r->region_event),
				     r->budget);
		if (error)
			return error;
	}
	*out = s->region_count++;
	s->region_trouble[*out] = 0;
	r->region_event[*out] = (uint32_t)s->count;
	return 0;
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

/* The explicit task that runs below frame `depth`. */
static uint32_t running_task(const struct thread *t, size_t depth)
{
	while (depth-- > 0) {
		if (t->frames[depth].kind == FRAME_TASK || t->frames[depth].kind == FRAME_UNDEFERRED)
			return t->frames[depth].id;
		if (t->frames[depth].kind == FRAME_MEMBER)
			break;
	}
	return GRAIN_NONE;
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
		return EVENT_WAIT_BARRIER_IMPLICIT;
	default:
		return EVENT_WAIT_TASKWAIT;
	}
}

int frames__end_wait(struct resolver *r, struct thread *t)
{
	struct frame f = t->frames[t->depth - 1];
	struct event *e = resolver__emit(r, t, EVENT_WAIT_END, GRAIN_NONE);

	if (!e)
		return -E2BIG;
	e->sub = frames__wait_name(f.wait);
	t->depth--;
	return 0;
}

int frames__end_task(struct resolver *r, struct thread *t)
{
	struct frame f = t->frames[t->depth - 1];

	if (!resolver__emit(r, t, EVENT_TASK_END, f.id))
		return -E2BIG;
	if (f.kind == FRAME_UNDEFERRED && !resolver__emit(r, t, EVENT_CREATE_END, f.id))
		return -E2BIG;
	t->depth--;
	return 0;
}

int frames__end_region(struct resolver *r, struct thread *t)
{
	struct frame f = t->frames[t->depth - 1];

	if (!resolver__emit(r, t, EVENT_REGION_END, f.id))
		return -E2BIG;
	if (f.team && number_map__get(&r->teams, f.team) == f.id)
		number_map__remove(&r->teams, f.team);
	t->depth--;
	return 0;
}

int frames__close_top(struct resolver *r, struct thread *t)
{
	const struct frame *f = &t->frames[t->depth - 1];
	bool region_end = f->kind == FRAME_WAIT && f->wait == TRACE_WAIT_REGION_END;
	int error;

	switch ((enum frame_kind)f->kind) {
	case FRAME_TASK:
	case FRAME_UNDEFERRED:
		trouble_of_task(r, f->id, EVENT_TROUBLE_NO_END);
		return frames__end_task(r, t);
	case FRAME_REGION:
		trouble_of_region(r, f->id, EVENT_TROUBLE_NO_END);
		return frames__end_region(r, t);
	case FRAME_MEMBER:
		return frames__end_member(r, t, false);
	case FRAME_WAIT:
		break;
	}
	r->stream->truth.unclosed_waits++;
	trouble_of_task(r, running_task(t, t->depth), EVENT_TROUBLE_WAIT);
	error = frames__end_wait(r, t);
	if (!error && region_end && t->depth && t->frames[t->depth - 1].kind == FRAME_MEMBER)
		error = frames__end_member(r, t, false);
	return error;
}

int frames__close_to(struct resolver *r, struct thread *t, size_t depth)
{
	int error = 0;

	while (t->depth > depth && !error)
		error = frames__close_top(r, t);
	return error;
}

int frames__close_below(struct resolver *r, struct thread *t, uint64_t sp)
{
	size_t keep = t->depth;

	for (size_t i = t->depth; i-- > 0;) {
		if (t->frames[i].kind == FRAME_MEMBER)
			continue;
		if (t->frames[i].sp > sp)
			break;
		keep = i;
	}
	return frames__close_to(r, t, keep);
}

int frames__close_waits(struct resolver *r, struct thread *t)
{
	int error = 0;

	while (!error && t->depth && t->frames[t->depth - 1].kind == FRAME_WAIT)
		error = frames__close_top(r, t);
	return error;
}

int frames__close_create(struct resolver *r, struct thread *t)
{
	uint32_t task = t->open_create;

	t->open_create = GRAIN_NONE;
	r->unclosed_creations++;
	trouble_of_task(r, task, EVENT_TROUBLE_WAIT);
	trouble_of_task(r, running_task(t, t->depth), EVENT_TROUBLE_WAIT);
	return resolver__emit(r, t, EVENT_CREATE_END, task) ? 0 : -E2BIG;
}

size_t frames__base(const struct thread *t)
{
	for (size_t i = t->depth; i-- > 0;) {
		if (t->frames[i].kind == FRAME_MEMBER || t->frames[i].kind == FRAME_REGION)
			return i;
	}
	return GRAIN_NONE;
}

int frames__leave_barrier(struct resolver *r, struct thread *t)
{
	const struct frame *wait, *member;
	int error;

	if (t->depth < 2)
		return 0;
	wait = &t->frames[t->depth - 1];
	member = wait - 1;
	if (wait->kind != FRAME_WAIT || wait->wait != TRACE_WAIT_REGION_END || member->kind != FRAME_MEMBER ||
	    member->id == GRAIN_NONE || r->region_event[member->id] != REGION_ENDED)
		return 0;
	error = frames__end_wait(r, t);
	return error ? error : frames__end_member(r, t, true);
}

void frames__mark_lost(struct resolver *r, const struct thread *t)
{
	for (size_t i = 0; i < t->depth; i++) {
		const struct frame *f = &t->frames[i];

		if (f->kind == FRAME_TASK || f->kind == FRAME_UNDEFERRED)
			trouble_of_task(r, f->id, EVENT_TROUBLE_LOST);
		else if (f->kind != FRAME_WAIT)
			trouble_of_region(r, f->id, EVENT_TROUBLE_LOST);
	}
	trouble_of_task(r, t->open_create, EVENT_TROUBLE_LOST);
}
