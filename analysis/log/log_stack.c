// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/log/log_stack.h"

#include <stdlib.h>

static uint64_t losses_of(const struct log_stacks *s, const struct log_thread *t)
{
	return s->losses + t->losses;
}

/* Marks a frame if events were lost while it was on the thread. */
static void settle(struct log_stacks *s, const struct log_thread *t, const struct log_frame *f)
{
	if (f->id == GRAIN_NONE || f->losses == losses_of(s, t))
		return;
	if (f->kind == EVENT_TASK_BEGIN)
		s->stream->task_trouble[f->id] |= EVENT_TROUBLE_LOST;
	else if (f->kind == EVENT_MEMBER_BEGIN || f->kind == EVENT_REGION_BEGIN)
		s->stream->region_trouble[f->id] |= EVENT_TROUBLE_LOST;
}

static int new_segment(struct log_stacks *s, uint32_t task, uint32_t *out)
{
	int error;

	*out = s->free_segment;
	if (*out != GRAIN_NONE) {
		s->free_segment = s->segments[*out].below;
	} else {
		error = array__grow(&s->segments, s->segment_count, sizeof(*s->segments), s->budget);
		if (error)
			return error;
		*out = s->segment_count++;
	}
	s->segments[*out] = (struct log_segment){.top = GRAIN_NONE,
						 .task = task,
						 .thread = GRAIN_NONE,
						 .below = GRAIN_NONE,
						 .above = GRAIN_NONE};
	return 0;
}

static void attach(struct log_stacks *s, struct log_thread *t, uint32_t segment)
{
	struct log_segment *g = &s->segments[segment];

	g->thread = (uint32_t)(t - s->threads);
	g->below = t->top;
	g->above = GRAIN_NONE;
	if (t->top != GRAIN_NONE)
		s->segments[t->top].above = segment;
	t->top = segment;
	for (uint32_t f = g->top; f != GRAIN_NONE; f = s->frames[f].below)
		s->frames[f].losses = losses_of(s, t);
}

static void detach(struct log_stacks *s, uint32_t segment)
{
	struct log_segment *g = &s->segments[segment];
	struct log_thread *t = &s->threads[g->thread];

	for (uint32_t f = g->top; f != GRAIN_NONE; f = s->frames[f].below)
		settle(s, t, &s->frames[f]);
	if (g->below != GRAIN_NONE)
		s->segments[g->below].above = g->above;
	if (g->above != GRAIN_NONE)
		s->segments[g->above].below = g->below;
	else
		t->top = g->below;
	g->thread = g->below = g->above = GRAIN_NONE;
}

int log_stacks__add_thread(struct log_stacks *s, uint32_t tid, uint32_t *index)
{
	uint32_t segment;
	int error = array__grow(&s->threads, s->thread_count, sizeof(*s->threads), s->budget);

	if (!error)
		error = new_segment(s, GRAIN_NONE, &segment);
	if (error)
		return error;
	*index = s->thread_count++;
	s->threads[*index] = (struct log_thread){.tid = tid, .top = GRAIN_NONE};
	attach(s, &s->threads[*index], segment);
	return 0;
}

struct log_frame *log_stacks__top(const struct log_stacks *s, const struct log_thread *t)
{
	uint32_t top = s->segments[t->top].top;

	return top == GRAIN_NONE ? NULL : &s->frames[top];
}

int log_stacks__push(struct log_stacks *s, struct log_thread *t, struct log_frame frame)
{
	uint32_t at = s->free_frame, segment;
	struct log_segment *g;
	int error = 0;

	if (at == GRAIN_NONE) {
		error = array__grow(&s->frames, s->frame_count, sizeof(*s->frames), s->budget);
		at = s->frame_count;
	}
	if (!error && (frame.kind == EVENT_TASK_BEGIN || frame.kind == EVENT_MEMBER_BEGIN)) {
		error = new_segment(s, frame.kind == EVENT_TASK_BEGIN ? frame.id : GRAIN_NONE, &segment);
		if (!error)
			attach(s, t, segment);
	}
	if (error)
		return error;
	if (at == s->frame_count)
		s->frame_count++;
	else
		s->free_frame = s->frames[at].below;
	g = &s->segments[t->top];
	frame.below = g->top;
	frame.losses = losses_of(s, t);
	s->frames[at] = frame;
	g->top = at;
	g->frames++;
	if (frame.kind == EVENT_TASK_BEGIN)
		s->task_segment[frame.id] = t->top;
	return 0;
}

void log_stacks__pop(struct log_stacks *s, struct log_thread *t)
{
	uint32_t segment = t->top, at = s->segments[segment].top;
	struct log_frame *f = &s->frames[at];
	bool last = f->kind == EVENT_TASK_BEGIN || f->kind == EVENT_MEMBER_BEGIN;

	settle(s, t, f);
	s->segments[segment].top = f->below;
	s->segments[segment].frames--;
	f->below = s->free_frame;
	s->free_frame = at;
	if (!last)
		return;
	detach(s, segment);
	s->segments[segment].below = s->free_segment;
	s->free_segment = segment;
}

uint32_t log_stacks__task(const struct log_stacks *s, const struct log_thread *t)
{
	return s->segments[t->top].task;
}

const char *log_stacks__resume(struct log_stacks *s, uint32_t task, struct log_thread *to)
{
	uint32_t segment = s->task_segment[task];

	if (s->segments[segment].frames > LOG_MOVED_FRAMES)
		return "moves a task with more open in it than a program can have";
	if (s->segments[segment].thread != GRAIN_NONE)
		detach(s, segment);
	attach(s, to, segment);
	return NULL;
}

const char *log_stacks__suspend(struct log_stacks *s, struct log_thread *t, uint32_t task)
{
	if (s->segments[t->top].task != task)
		return "suspends a task that its thread does not execute";
	if (s->segments[t->top].frames > LOG_MOVED_FRAMES)
		return "suspends a task with more open in it than a program can have";
	detach(s, t->top);
	return NULL;
}

bool log_stacks__is_suspended(const struct log_stacks *s, uint32_t task)
{
	return s->segments[s->task_segment[task]].thread == GRAIN_NONE;
}

void log_stacks__free(struct log_stacks *s)
{
	free(s->threads);
	free(s->frames);
	free(s->segments);
	free(s->task_segment);
}
