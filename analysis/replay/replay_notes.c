/* SPDX-License-Identifier: BSD-2-Clause */
/* Further events of tasks, waits for locks, and cancellation. */
#include "analysis/event/event_build.h"
#include "analysis/replay/replay.h"

#include <stdlib.h>

#define LOCK_KINDS (EVENT_LOCK_ATOMIC + 1)

static uint32_t context_of(const struct replay *r, const struct event *e)
{
	return e->id < r->graph->stream->task_count ? r->context_of_task[e->id] : GRAIN_NONE;
}

void replay__set_ready(struct replay *r, struct context *c, bool ready)
{
	if (c->ready == ready)
		return;
	c->ready = ready;
	r->ready += ready ? 1 : -1;
}

int replay__task_bounds(struct replay *r, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t context = context_of(r, e);
	int error;

	if (context == GRAIN_NONE)
		return 0;
	error = GROW(g, bounds, bounds_count, bounds_capacity);
	if (error < 0)
		return error;
	g->bounds[g->bounds_count++] = (struct task_bounds){
		.lower = (int64_t)e->value,
		.upper = (int64_t)e->extra,
		.context = context,
		.taskloop = e->src,
	};
	return 0;
}

int replay__task_fulfill(struct replay *r, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t context = context_of(r, e);
	int error;

	if (context == GRAIN_NONE || g->contexts[context].flags & CONTEXT_FULFILLED)
		return 0;
	error = GROW(g, fulfilments, fulfilment_count, fulfilment_capacity);
	if (error < 0)
		return error;
	g->contexts[context].flags |= CONTEXT_FULFILLED;
	tasking__over(r, context);
	g->fulfilments[g->fulfilment_count++] = (struct fulfilment){.time_ns = r->now_ns, .context = context};
	return 0;
}

void replay__task_discard(struct replay *r, const struct event *e)
{
	uint32_t context = context_of(r, e);
	struct context *c = context == GRAIN_NONE ? NULL : &r->graph->contexts[context];

	if (!c || c->flags & CONTEXT_BEGUN) {
		r->graph->truth.unmatched_ends++;
		return;
	}
	replay__set_ready(r, c, false);
	c->flags |= CONTEXT_DISCARDED;
	c->start_ns = c->end_ns = r->now_ns;
	tasking__withdraw(r, context);
	tasking__over(r, context);
}

void replay__cancel(struct replay *r, const struct event *e)
{
	struct grain_totals *t = &r->graph->totals;

	if (e->sub > EVENT_CANCEL_TASKGROUP)
		return;
	if (e->value)
		t->cancels[e->sub]++;
	else
		t->cancellation_points[e->sub]++;
}

static int lock_table(struct replay *r)
{
	struct grain_graph *g = r->graph;
	size_t i, n = LOCK_KINDS * (g->definition_count + 1);
	int error;

	if (r->locks)
		return 0;
	error = memory__array(&g->memory, n, sizeof *r->locks, (void **)&r->locks);
	for (i = 0; error == 0 && i < n; i++) {
		uint32_t definition = (uint32_t)(i / LOCK_KINDS);

		r->locks[i].kind = event_lock_names[i % LOCK_KINDS];
		r->locks[i].definition = definition == g->definition_count ? GRAIN_NONE : definition;
	}
	return error;
}

int replay__lock(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct thread *t = &g->threads[thread];
	struct grain_lock *lock;
	uint64_t waited;
	struct rare *rare = NULL;
	size_t definition;
	int error;

	if (e->kind == EVENT_LOCK_BEGIN) {
		if (t->top != GRAIN_NONE)
			r->frames[t->top].loop_left = GRAIN_NONE;
		t->locking = true;
		t->lock_since = r->now_ns;
		t->lock_definition =
			e->src < g->stream->source_count ? g->definition_of_source[e->src] : GRAIN_NONE;
		return 0;
	}
	if (!t->locking || e->sub >= LOCK_KINDS)
		return 0;
	t->locking = false;
	error = lock_table(r);
	if (error < 0)
		return error;
	definition = t->lock_definition == GRAIN_NONE ? g->definition_count : t->lock_definition;
	waited = r->now_ns - t->lock_since;
	lock = &r->locks[definition * LOCK_KINDS + e->sub];
	lock->waits++;
	lock->wait_ns += waited;
	g->totals.lock_wait_ns += waited;
	if (t->top != GRAIN_NONE)
		error = graph__rare(g, r->frames[t->top].context, &rare);
	if (error == 0 && rare)
		rare->lock_ns += waited;
	return error;
}

static int by_wait(const void *a, const void *b)
{
	const struct grain_lock *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	if (x->definition != y->definition)
		return x->definition < y->definition ? -1 : 1;
	return 0;
}

static int fulfilled_by_context(const void *a, const void *b)
{
	const struct fulfilment *x = a, *y = b;

	return (x->context > y->context) - (x->context < y->context);
}

static int bounds_by_context(const void *a, const void *b)
{
	const struct task_bounds *x = a, *y = b;

	return (x->context > y->context) - (x->context < y->context);
}

int replay__finish_notes(struct replay *r)
{
	struct grain_graph *g = r->graph;
	size_t i, kept = 0, n = r->locks ? LOCK_KINDS * (g->definition_count + 1) : 0;
	int error;

	if (g->bounds_count)
		qsort(g->bounds, g->bounds_count, sizeof *g->bounds, bounds_by_context);
	for (i = 0; i < g->bounds_count; i++)
		if (!kept || g->bounds[kept - 1].context != g->bounds[i].context)
			g->bounds[kept++] = g->bounds[i];
	g->bounds_count = kept;
	if (g->fulfilment_count)
		qsort(g->fulfilments, g->fulfilment_count, sizeof *g->fulfilments, fulfilled_by_context);
	for (i = 0; i < n; i++) {
		if (!r->locks[i].waits)
			continue;
		error = GROW(g, locks, lock_count, lock_capacity);
		if (error < 0)
			return error;
		g->locks[g->lock_count++] = r->locks[i];
	}
	if (g->lock_count)
		qsort(g->locks, g->lock_count, sizeof *g->locks, by_wait);
	return 0;
}
