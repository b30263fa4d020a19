/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of explicit tasks, and the base contexts of threads. */
#include "analysis/replay/replay.h"

int replay__base(struct replay *r, uint32_t thread, bool unknown)
{
	struct grain_graph *g = r->graph;
	uint32_t context, frame;
	int error;

	error = context__new(r, unknown ? GRAIN_IMPLICIT : GRAIN_INITIAL, GRAIN_NONE, GRAIN_NONE, &context);
	if (error < 0)
		return error;
	if (unknown)
		g->contexts[context].flags |= CONTEXT_UNKNOWN | CONTEXT_INCOMPLETE;
	else
		g->contexts[context].flags |= CONTEXT_CREATED;
	return frame__enter(r, thread, context, &frame);
}

static uint32_t context_of(const struct replay *r, const struct event *e)
{
	return e->id < r->graph->stream->task_count ? r->context_of_task[e->id] : GRAIN_NONE;
}

static uint8_t trouble_of(const struct replay *r, const struct event *e)
{
	const struct event_stream *s = r->graph->stream;

	return s->task_trouble && e->id < s->task_count ? s->task_trouble[e->id] : 0;
}

static uint32_t definition_of(const struct replay *r, const struct event *e)
{
	return e->src < r->graph->stream->source_count ? r->graph->definition_of_source[e->src] : GRAIN_NONE;
}

uint32_t graph__task_region(const struct grain_graph *g, uint32_t context)
{
	while (context != GRAIN_NONE &&
	       (g->contexts[context].kind == GRAIN_CHUNK || g->contexts[context].flags & CONTEXT_SPLIT))
		context = g->contexts[context].parent;
	return context;
}

uint32_t replay__task_frame(const struct replay *r, uint32_t context)
{
	context = graph__task_region(r->graph, context);
	return context == GRAIN_NONE ? GRAIN_NONE : r->graph->contexts[context].frame;
}

static int new_task(struct replay *r, const struct event *e, uint32_t parent_frame, uint32_t *out)
{
	struct grain_graph *g = r->graph;
	uint32_t parent = r->frames[parent_frame].context, barrier = GRAIN_NONE, task_frame;
	bool split = e->value & EVENT_TASK_SPLIT;
	struct frame *f;
	struct context *c, *p;
	int error;

	if (g->contexts[parent].kind == GRAIN_IMPLICIT || g->contexts[parent].kind == GRAIN_INITIAL) {
		error = frame__upcoming_barrier(r, parent_frame, &barrier);
		if (error < 0)
			return error;
	}
	error = context__new(r, GRAIN_TASK, parent, definition_of(r, e), out);
	if (error < 0)
		return error;
	f = &r->frames[parent_frame];
	c = &g->contexts[*out];
	p = &g->contexts[parent];
	p->flags &= (uint16_t)~CONTEXT_LEAF;
	c->number = e->id;
	c->flags |= CONTEXT_CREATED;
	c->task_flags = (uint16_t)e->value;
	if (e->value & EVENT_TASK_UNDEFERRED)
		c->flags |= CONTEXT_UNDEFERRED;
	c->single = p->flags & CONTEXT_SPLIT ? p->single : f->single;
	c->ordinal = split ? frame__scope(f)->splits++ : frame__scope(f)->children++;
	if (split) {
		c->flags |= CONTEXT_SPLIT;
		c->depth = p->depth;
	}
	c->group = f->group;
	c->barrier = barrier;
	if (p->kind == GRAIN_TASK || p->kind == GRAIN_CHUNK) {
		if (c->group == GRAIN_NONE)
			c->group = p->group;
		c->barrier = p->barrier;
	}
	task_frame = p->kind == GRAIN_CHUNK || p->flags & CONTEXT_SPLIT ? replay__task_frame(r, parent)
									: parent_frame;
	if (task_frame != GRAIN_NONE) {
		c->link = r->frames[task_frame].children;
		r->frames[task_frame].children = *out;
	}
	if (c->region != GRAIN_NONE && !split)
		g->regions[c->region].tasks++;
	r->context_of_task[e->id] = *out;
	return 0;
}

int replay__create_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t frame, context;
	int error;

	if (e->id >= g->stream->task_count || context_of(r, e) != GRAIN_NONE) {
		g->truth.unmatched_begins++;
		return 0;
	}
	error = replay__top(r, thread, &frame);
	if (error == 0)
		error = new_task(r, e, frame, &context);
	if (error == 0)
		error = frame__change(r, frame, GRAIN_FORK, context);
	return error < 0 ? error : tasking__creation(r, frame, context);
}

int replay__create_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t child = context_of(r, e), frame;
	const struct raw_item *item;
	int error;

	if (child == GRAIN_NONE || g->contexts[child].parent == GRAIN_NONE)
		goto unmatched;
	frame = g->contexts[g->contexts[child].parent].frame;
	if (frame == GRAIN_NONE || r->frames[frame].thread != thread || r->frames[frame].item == GRAIN_NONE)
		goto unmatched;
	item = &g->raw[r->frames[frame].item];
	if (item->kind != GRAIN_FORK || item->ref != child)
		goto unmatched;
	error = frame__abandon_above(r, thread, frame);
	if (error < 0)
		return error;
	if (!(g->contexts[child].flags & (CONTEXT_BEGUN | CONTEXT_DISCARDED)) &&
	    !(trouble_of(r, e) & EVENT_TROUBLE_NO_BEGIN))
		replay__set_ready(r, &g->contexts[child], true);
	else
		tasking__withdraw(r, child);
	return frame__change(r, frame, GRAIN_FRAGMENT, GRAIN_NONE);
unmatched:
	g->truth.unmatched_ends++;
	return 0;
}

int replay__task_begin(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t context = context_of(r, e), top = g->threads[thread].top, frame;
	uint8_t trouble = trouble_of(r, e);
	int error;

	if (e->id >= g->stream->task_count) {
		g->truth.unmatched_begins++;
		return 0;
	}
	if (context == GRAIN_NONE) {
		error = context__new(r, GRAIN_TASK, GRAIN_NONE, definition_of(r, e), &context);
		if (error < 0)
			return error;
		g->contexts[context].number = e->id;
		if (top != GRAIN_NONE && r->frames[top].member != GRAIN_NONE)
			g->contexts[context].region =
				g->contexts[r->frames[r->frames[top].member].context].region;
		r->context_of_task[e->id] = context;
		context__spoil(g, context);
		if (!(trouble & EVENT_TROUBLE_NO_CREATE))
			g->truth.unmatched_begins++;
	} else if (g->contexts[context].flags & CONTEXT_BEGUN) {
		context__spoil(g, context);
		g->truth.unmatched_begins++;
		return 0;
	}
	if (trouble)
		context__spoil(g, context);
	replay__set_ready(r, &g->contexts[context], false);
	return frame__enter(r, thread, context, &frame);
}

int replay__task_switch(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t context = context_of(r, e), frame;
	int error;

	frame = context == GRAIN_NONE ? GRAIN_NONE : g->contexts[context].frame;
	if (frame == GRAIN_NONE) {
		g->truth.unmatched_begins++;
		return 0;
	}
	if (r->frames[frame].thread == thread) {
		while (g->threads[thread].top != frame) {
			error = frame__park(r, g->threads[thread].top);
			if (error < 0)
				return error;
		}
		return 0;
	}
	error = r->frames[frame].thread == GRAIN_NONE ? 0 : frame__park(r, frame);
	return error < 0 ? error : frame__resume(r, frame, thread);
}

int replay__task_suspend(struct replay *r, const struct event *e)
{
	uint32_t context = context_of(r, e);
	uint32_t frame = context == GRAIN_NONE ? GRAIN_NONE : r->graph->contexts[context].frame;

	if (frame == GRAIN_NONE || r->frames[frame].thread == GRAIN_NONE) {
		r->graph->truth.unmatched_ends++;
		return 0;
	}
	return frame__park(r, frame);
}

int replay__task_end(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t context = context_of(r, e), frame;
	int error;

	frame = context == GRAIN_NONE ? GRAIN_NONE : g->contexts[context].frame;
	if (frame == GRAIN_NONE) {
		g->truth.unmatched_ends++;
		return 0;
	}
	/* The end is on a thread that did not run the task, so it is not certain where the task ended. */
	if (r->frames[frame].thread != thread) {
		context__spoil(g, context);
		g->truth.unmatched_ends++;
		error = frame__park(r, frame);
		return error < 0 ? error : frame__leave(r, frame);
	}
	error = frame__abandon_above(r, thread, frame);
	return error < 0 ? error : frame__leave(r, frame);
}

static void spoil_stack(struct replay *r, uint32_t thread)
{
	uint32_t f;

	for (f = r->graph->threads[thread].top; f != GRAIN_NONE && !r->frames[f].lost;
	     f = r->frames[f].below) {
		context__spoil(r->graph, r->frames[f].context);
		r->frames[f].lost = true;
	}
}

void replay__lost(struct replay *r, uint32_t thread, const struct event *e)
{
	if (e->tid != 0)
		spoil_stack(r, thread);
	else
		r->losses++;
}
