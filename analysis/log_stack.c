// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/log_stack.h"

#include <stdlib.h>
#include <string.h>

int log_stacks__push(struct log_stacks *s, struct log_thread *t, struct log_frame frame)
{
	if (t->depth == t->capacity) {
		size_t more = t->capacity ? t->capacity : 16;
		struct log_frame *frames;

		if (budget__take(s->budget, more * sizeof(*frames)))
			return -E2BIG;
		frames = realloc(t->frames, (t->capacity + more) * sizeof(*frames));
		if (!frames)
			return -ENOMEM;
		t->frames = frames;
		t->capacity += more;
	}
	t->frames[t->depth++] = frame;
	return 0;
}

uint32_t log_thread__task(const struct log_thread *t, size_t depth)
{
	while (depth-- > 0) {
		if (t->frames[depth].kind == EVENT_TASK_BEGIN)
			return t->frames[depth].id;
		if (t->frames[depth].kind == EVENT_MEMBER_BEGIN)
			break;
	}
	return GRAIN_NONE;
}

int log_stacks__resume(struct log_stacks *s, uint32_t task, struct log_thread *to)
{
	uint32_t at = s->task_thread[task];
	struct log_thread *from = at & LOG_PARKED ? &s->parking[at & ~LOG_PARKED].stack : &s->threads[at];
	size_t first = from->depth, last;
	int error = 0;

	while (first > 0 &&
	       !(from->frames[first - 1].kind == EVENT_TASK_BEGIN && from->frames[first - 1].id == task))
		first--;
	first--;
	last = first + 1;
	while (last < from->depth && from->frames[last].kind != EVENT_TASK_BEGIN &&
	       from->frames[last].kind != EVENT_MEMBER_BEGIN)
		last++;
	for (size_t i = first; i < last && !error; i++)
		error = log_stacks__push(s, to, from->frames[i]);
	if (error)
		return error;
	memmove(&from->frames[first], &from->frames[last], (from->depth - last) * sizeof(*from->frames));
	from->depth -= last - first;
	s->task_thread[task] = (uint32_t)(to - s->threads);
	if (at & LOG_PARKED) {
		s->parking[at & ~LOG_PARKED].next_free = s->parking_free;
		s->parking_free = at & ~LOG_PARKED;
	}
	return 0;
}

static int new_parking(struct log_stacks *s, uint32_t *out)
{
	int error;

	if (s->parking_free != GRAIN_NONE) {
		*out = s->parking_free;
		s->parking_free = s->parking[*out].next_free;
		return 0;
	}
	error = array__grow(&s->parking, s->parking_count, sizeof(*s->parking), s->budget);
	if (error)
		return error;
	*out = s->parking_count++;
	s->parking[*out] = (struct log_parking){0};
	return 0;
}

const char *log_stacks__suspend(struct log_stacks *s, struct log_thread *t, uint32_t task, int *error)
{
	size_t first = t->depth;
	uint32_t place = 0;

	while (first > 0 && t->frames[first - 1].kind != EVENT_TASK_BEGIN &&
	       t->frames[first - 1].kind != EVENT_MEMBER_BEGIN)
		first--;
	if (first == 0 || t->frames[first - 1].kind != EVENT_TASK_BEGIN || t->frames[first - 1].id != task)
		return "suspends a task that its thread does not execute";
	first--;
	*error = new_parking(s, &place);
	for (size_t i = first; i < t->depth && !*error; i++)
		*error = log_stacks__push(s, &s->parking[place].stack, t->frames[i]);
	t->depth = first;
	s->task_thread[task] = place | LOG_PARKED;
	return NULL;
}

void log_stacks__free(struct log_stacks *s)
{
	for (uint32_t i = 0; i < s->thread_count; i++)
		free(s->threads[i].frames);
	free(s->threads);
	for (uint32_t i = 0; i < s->parking_count; i++)
		free(s->parking[i].stack.frames);
	free(s->parking);
	free(s->task_thread);
}
