/* SPDX-License-Identifier: BSD-2-Clause */
/* The last event of a thread, and frames that are still open after the last event. */
#include "analysis/replay/replay.h"

int replay__thread_close(struct replay *r, uint32_t thread)
{
	struct grain_graph *g = r->graph;
	struct thread *t = &g->threads[thread];

	if (t->top == GRAIN_NONE) {
		t->outside_ns += r->now_ns - t->outside_since;
		t->outside_since = r->now_ns;
	}
	while (t->top != GRAIN_NONE) {
		int error = frame__park(r, t->top);

		if (error < 0)
			return error;
	}
	return 0;
}

static void finish_context(struct replay *r, uint32_t context)
{
	struct grain_graph *g = r->graph;
	struct context *c = &g->contexts[context];
	const struct frame *f = &r->frames[c->frame];
	struct join *j;

	c->frame = GRAIN_NONE;
	if (c->kind == GRAIN_INITIAL) {
		c->flags |= CONTEXT_ENDED;
		if (f->parked_kind == GRAIN_FRAGMENT)
			return;
	} else if (!(c->flags & CONTEXT_UNKNOWN)) {
		replay__count_never_ended(r, context);
	}
	if (f->parked_kind == GRAIN_JOIN) {
		j = &g->joins[f->parked_ref];
		j->flags |= JOIN_UNCLOSED;
		g->truth.unclosed_waits++;
	} else if (f->parked_kind == GRAIN_FORK) {
		context__spoil(g, f->parked_ref);
	}
}

static void finish_task(struct replay *r, uint32_t context)
{
	struct grain_graph *g = r->graph;
	struct context *c = &g->contexts[context];
	const uint8_t *trouble = g->stream->task_trouble;
	uint8_t bits = trouble && c->number != GRAIN_NONE ? trouble[c->number] : 0;

	if (bits)
		context__spoil(g, context);
	if (c->task_flags & EVENT_TASK_DETACH && !(c->flags & (CONTEXT_FULFILLED | CONTEXT_DISCARDED)))
		context__spoil(g, context);
	if (!(c->flags & (CONTEXT_BEGUN | CONTEXT_DISCARDED))) {
		context__spoil(g, context);
		if (!(bits & EVENT_TROUBLE_NO_BEGIN))
			g->truth.never_begun++;
	}
	if (c->join != GRAIN_NONE)
		return;
	if (c->group != GRAIN_NONE && r->groups[c->group].join != GRAIN_NONE)
		c->join = r->groups[c->group].join;
	else if (c->barrier != GRAIN_NONE && (g->joins[c->barrier].flags & JOIN_REACHED))
		c->join = c->barrier;
}

/*
 * Adds the tasks of inner regions to those of outer regions. Goes backwards, because inner regions began
 * later.
 */
static void sum_region_tasks(struct replay *r)
{
	struct grain_graph *g = r->graph;
	size_t i;

	for (i = r->regions_begun; i-- > 0;) {
		const struct region *inner = &g->regions[r->region_order[i]];
		uint32_t outer = g->contexts[inner->parent].region;

		if (outer != GRAIN_NONE && outer != r->region_order[i])
			g->regions[outer].tasks += inner->tasks;
	}
}

int replay__finish(struct replay *r)
{
	struct grain_graph *g = r->graph;
	size_t i;

	for (i = 0; i < g->context_count; i++) {
		struct context *c = &g->contexts[i];

		if (c->frame != GRAIN_NONE)
			finish_context(r, (uint32_t)i);
		if (c->kind == GRAIN_TASK)
			finish_task(r, (uint32_t)i);
		else if (c->kind == GRAIN_CHUNK)
			c->join = g->loops[g->chunks[c->number].loop].join;
		if (c->join != GRAIN_NONE)
			g->joins[c->join].joined++;
	}
	sum_region_tasks(r);
	replay__finish_depends(r);
	return replay__finish_notes(r);
}
