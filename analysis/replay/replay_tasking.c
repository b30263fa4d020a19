/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile during the replay (ICPPW12 section IV-C): measurements at scheduling points, and the
 * stretches of tasks on threads. Each event takes constant time.
 */
#include "analysis/replay/replay.h"
#include "analysis/graph/tasking.h"

#include <errno.h>
#include <stdlib.h>

/* Combines two numbers into one key. */
static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

int tasking__start(struct replay *r)
{
	struct grain_graph *g = r->graph;
	struct tasking *t = calloc(1, sizeof *t);
	size_t i, n = g->definition_count + 1;
	int error;

	if (!t)
		return -ENOMEM;
	g->tasking = t;
	error = memory__array(&g->memory, n, sizeof *t->constructs, (void **)&t->constructs);
	if (error == 0)
		error = memory__array(&g->memory, g->region_count + 1, sizeof *t->teams, (void **)&t->teams);
	if (error < 0)
		return error;
	t->construct_count = n;
	for (i = 0; i <= g->region_count; i++)
		t->teams[i].since_ns = r->now_ns;
	return 0;
}

void tasking__stop(struct replay *r)
{
	struct memory *m = &r->graph->memory;
	struct tasking *t = r->graph->tasking;

	if (!t)
		return;
	number_map__free(&t->point_of);
	number_map__free(&t->stub_of);
	number_map__free(&t->active_of);
	memory__release(m, (void **)&t->teams, r->graph->region_count + 1, sizeof *t->teams);
	memory__release(m, (void **)&t->active, t->active_capacity, sizeof *t->active);
	memory__release(m, (void **)&t->unmet, t->unmet_capacity, sizeof *t->unmet);
	memory__release(m, (void **)&t->successors, t->successor_capacity, sizeof *t->successors);
	t->active_capacity = t->unmet_capacity = t->successor_capacity = 0;
	t->active_count = t->unmet_count = t->successor_count = 0;
}

static struct construct_row *construct_of(const struct replay *r, const struct context *c)
{
	return &r->graph->tasking->constructs[tasking__row_of(r->graph, c->definition)];
}

/* ---- scheduling points ------------------------------------------------ */

/* A chunk is part of the task that executes it. */
static const struct context *caller_of(const struct grain_graph *g, uint32_t context)
{
	const struct context *c = &g->contexts[context];

	while (c->kind == GRAIN_CHUNK && c->parent != GRAIN_NONE)
		c = &g->contexts[c->parent];
	return c;
}

static int visit_point(struct replay *r, struct frame *f, uint8_t kind, uint32_t definition)
{
	struct grain_graph *g = r->graph;
	struct tasking *t = g->tasking;
	const struct context *caller = caller_of(g, f->context);
	bool in_task = caller->kind == GRAIN_TASK;
	uint64_t rows = g->definition_count + 1, by = in_task ? tasking__row_of(g, caller->definition) : rows,
		 key = (tasking__row_of(g, definition) * (rows + 1) + by) * POINT_KINDS + kind;
	uint32_t point = number_map__get(&t->point_of, key);
	int error;

	if (point == GRAIN_NONE) {
		point = (uint32_t)t->point_count;
		error = memory__grow(&g->memory, (void **)&t->points, &t->point_capacity, t->point_count,
				     sizeof *t->points);
		if (error == 0)
			error = number_map__put(&t->point_of, key, point);
		if (error < 0)
			return error;
		t->points[t->point_count++] = (struct point_row){
			.definition = definition,
			.caller = in_task ? caller->definition : GRAIN_NONE,
			.last_stub = GRAIN_NONE,
			.kind = kind,
			.in_task = in_task,
		};
	}
	t->points[point].visits++;
	f->account.point = point;
	return 0;
}

/* From now on, the frame's wait is on top of its thread; up to now it was. */
static void start_waiting(struct replay *r, struct frame *f)
{
	f->account.alone_since = r->now_ns;
	f->account.idle_since = tasking__idle_clock(r, f);
}

static void stop_waiting(struct replay *r, struct frame *f)
{
	uint64_t idle = tasking__idle_clock(r, f) - f->account.idle_since;

	/* Idle time is larger only in a damaged stream that lacks the tasks that the wait waits for. */
	if (idle <= r->now_ns - f->account.alone_since)
		f->account.idle_ns += idle;
}

int tasking__wait(struct replay *r, uint32_t frame, uint8_t kind, uint32_t definition)
{
	struct frame *f = &r->frames[frame];

	f->account.wait = kind < POINT_CREATE ? kind : EVENT_WAIT_TASKWAIT;
	f->account.idle_ns = 0;
	start_waiting(r, f);
	return visit_point(r, f, f->account.wait, definition);
}

int tasking__creation(struct replay *r, uint32_t frame, uint32_t context)
{
	const struct context *c = &r->graph->contexts[context];

	if (!(c->flags & CONTEXT_UNDEFERRED))
		tasking__offer(r, context);
	return visit_point(r, &r->frames[frame], POINT_CREATE, c->definition);
}

/* Returns the kind of the frame's open item if it is a wait or a creation, else -1. */
static int open_call(const struct replay *r, const struct frame *f)
{
	int kind = f->item == GRAIN_NONE ? GRAIN_FRAGMENT : r->graph->raw[f->item].kind;

	return kind == GRAIN_JOIN || kind == GRAIN_FORK ? kind : -1;
}

/* The thread of a frame turns to a frame that was pushed on top. */
static void cover(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];
	int call = open_call(r, f);

	if (call == GRAIN_JOIN)
		stop_waiting(r, f);
	else if (call == GRAIN_FORK)
		r->creating--;
}

static void uncover(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];
	int call = open_call(r, f);

	if (call == GRAIN_JOIN)
		start_waiting(r, f);
	else if (call == GRAIN_FORK)
		r->creating++;
}

void tasking__closed(struct replay *r, struct frame *f, const struct raw_item *item)
{
	struct grain_graph *g = r->graph;
	struct task_account *a = &f->account;
	struct point_row *p;
	uint64_t length = item->end_ns - item->start_ns;

	if (a->point == GRAIN_NONE)
		return;
	p = &g->tasking->points[a->point];
	a->point = GRAIN_NONE;
	p->time_ns += length;
	p->own_ns += item->own_ns;
	if (item->kind == GRAIN_FORK) {
		a->create_ns += item->own_ns;
		return;
	}
	if (f->above == GRAIN_NONE)
		stop_waiting(r, f);
	p->idle_ns += a->idle_ns;
	a->wait_idle_ns += a->idle_ns;
	if (g->joins[item->ref].region != GRAIN_NONE) {
		struct region *region = &g->regions[g->joins[item->ref].region];

		region->barrier_ns += length;
		region->barrier_own_ns += item->own_ns;
		region->barrier_idle_ns += a->idle_ns;
	}
}

void tasking__resumed(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];

	f->account.idle_ns = 0;
	if (open_call(r, f) == GRAIN_JOIN)
		start_waiting(r, f);
	else
		f->account.point = GRAIN_NONE;
}

/* ---- stretches -------------------------------------------------------- */

static int add_stub(struct replay *r, uint32_t point, uint32_t definition, uint64_t ns)
{
	struct grain_graph *g = r->graph;
	struct tasking *t = g->tasking;
	struct point_row *p = &t->points[point];
	uint32_t stub = p->last_stub;
	uint64_t key = pair(point, tasking__row_of(g, definition));
	int error;

	if (stub == GRAIN_NONE || t->stubs[stub].definition != definition)
		stub = number_map__get(&t->stub_of, key);
	if (stub == GRAIN_NONE) {
		stub = (uint32_t)t->stub_count;
		error = memory__grow(&g->memory, (void **)&t->stubs, &t->stub_capacity, t->stub_count,
				     sizeof *t->stubs);
		if (error == 0)
			error = number_map__put(&t->stub_of, key, stub);
		if (error < 0)
			return error;
		t->stubs[t->stub_count++] = (struct stub_row){.point = point, .definition = definition};
	}
	p->last_stub = stub;
	running_stat__add(&t->stubs[stub].exec, ns);
	return 0;
}

static void begin_stretch(struct replay *r, struct frame *f)
{
	f->account.current = true;
	f->account.since_ns = r->now_ns;
}

static int end_stretch(struct replay *r, struct frame *f)
{
	struct task_account *a = &f->account;
	const struct context *c = &r->graph->contexts[f->context];
	uint64_t ns = r->now_ns - a->since_ns;
	int error = 0;

	if (!a->current)
		return 0;
	a->current = false;
	if (!(c->flags & CONTEXT_SPLIT))
		construct_of(r, c)->fragments++;
	if (a->inner != GRAIN_NONE)
		error = add_stub(r, a->inner, c->definition, ns);
	if (error == 0 && a->outer != GRAIN_NONE && a->outer != a->inner)
		error = add_stub(r, a->outer, c->definition, ns);
	return error;
}

/* Returns the task that a frame executes or is part of. GRAIN_NONE: an implicit or initial task. */
static uint32_t task_of(const struct replay *r, uint32_t frame)
{
	const struct context *contexts = r->graph->contexts;

	while (frame != GRAIN_NONE && contexts[r->frames[frame].context].kind == GRAIN_CHUNK)
		frame = r->frames[frame].below;
	if (frame != GRAIN_NONE && contexts[r->frames[frame].context].kind != GRAIN_TASK)
		frame = GRAIN_NONE;
	return frame;
}

/* Counts one more active instance on the thread. */
static int activate(struct replay *r, struct frame *f)
{
	struct grain_graph *g = r->graph;
	struct tasking *t = g->tasking;
	const struct context *c = &g->contexts[f->context];
	struct construct_row *row = construct_of(r, c);
	uint64_t key = pair(f->thread, tasking__row_of(g, c->definition));
	uint32_t slot;
	int error;

	if (c->flags & CONTEXT_SPLIT)
		return 0;
	slot = number_map__get(&t->active_of, key);
	if (slot == GRAIN_NONE) {
		slot = (uint32_t)t->active_count;
		error = memory__grow(&g->memory, (void **)&t->active, &t->active_capacity, t->active_count,
				     sizeof *t->active);
		if (error == 0)
			error = number_map__put(&t->active_of, key, slot);
		if (error < 0)
			return error;
		t->active[t->active_count++] = 0;
	}
	f->account.active = slot;
	if (++t->active[slot] > row->max_concurrent)
		row->max_concurrent = t->active[slot];
	return 0;
}

int tasking__pushed(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];
	struct task_account *a = &f->account;
	uint32_t below = f->below, suspended;
	int error = 0;

	if (below != GRAIN_NONE)
		cover(r, below);
	if (r->graph->contexts[f->context].kind != GRAIN_TASK)
		return 0;
	suspended = task_of(r, below);
	a->inner = GRAIN_NONE;
	if (below != GRAIN_NONE && open_call(r, &r->frames[below]) >= 0)
		a->inner = r->frames[below].account.point;
	a->outer = suspended == GRAIN_NONE ? a->inner : r->frames[suspended].account.outer;
	if (suspended != GRAIN_NONE)
		error = end_stretch(r, &r->frames[suspended]);
	if (error == 0)
		error = activate(r, f);
	begin_stretch(r, f);
	return error;
}

int tasking__leaving(struct replay *r, uint32_t frame)
{
	struct frame *f = &r->frames[frame];

	if (f->account.active != GRAIN_NONE) {
		r->graph->tasking->active[f->account.active]--;
		f->account.active = GRAIN_NONE;
	}
	return end_stretch(r, f);
}

void tasking__uncovered(struct replay *r, uint32_t frame)
{
	uint32_t task = task_of(r, frame);

	uncover(r, frame);
	if (task != GRAIN_NONE && !r->frames[task].account.current)
		begin_stretch(r, &r->frames[task]);
}

/* ---- instances -------------------------------------------------------- */

void tasking__begun(struct replay *r, struct frame *f, uint32_t context)
{
	const struct context *c = &r->graph->contexts[context];

	f->account = (struct task_account){
		.children.since_ns = r->now_ns,
		.point = GRAIN_NONE,
		.inner = GRAIN_NONE,
		.outer = GRAIN_NONE,
		.active = GRAIN_NONE,
	};
	if (c->kind != GRAIN_TASK)
		return;
	tasking__withdraw(r, context);
	if (!(c->flags & CONTEXT_SPLIT))
		construct_of(r, c)->begun++;
}

int tasking__ended(struct replay *r, const struct frame *f)
{
	struct grain_graph *g = r->graph;
	const struct context *c = &g->contexts[f->context];
	const struct task_account *a = &f->account;
	const uint8_t *trouble = g->stream->task_trouble;
	uint64_t task = c->exec_ns + a->create_ns + c->wait_ns,
		 idle = a->wait_idle_ns < c->wait_ns ? a->wait_idle_ns : c->wait_ns;
	struct construct_row *row;
	struct depth_row *depth;
	int error;

	if (c->kind != GRAIN_TASK)
		return 0;
	tasking__over(r, f->context);
	if (c->flags & (CONTEXT_INCOMPLETE | CONTEXT_SPLIT) ||
	    (trouble && c->number != GRAIN_NONE && trouble[c->number]))
		return 0;
	error = tasking__depth_row(g, c->depth, c->definition, &depth);
	if (error < 0)
		return error;
	row = construct_of(r, c);
	running_stat__add(&row->exclusive, c->exec_ns);
	running_stat__add(&row->create, a->create_ns);
	running_stat__add(&row->taskwait, c->wait_ns);
	running_stat__add(&row->management, a->create_ns + c->wait_ns - idle);
	running_stat__add(&row->task, task);
	running_stat__add(&depth->exclusive, c->exec_ns);
	running_stat__add(&depth->create, a->create_ns);
	running_stat__add(&depth->taskwait, c->wait_ns);
	running_stat__add(&depth->task, task);
	return 0;
}
