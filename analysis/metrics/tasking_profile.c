/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the task profile that is computed after the replay: inclusive times, the order of rows, and
 * access to them.
 */
#include "analysis/event/event_build.h"
#include "analysis/graph/tasking.h"

#include <math.h>
#include <stdlib.h>

/*
 * Computes the time of each context with all its descendants. Children have larger indices than their
 * parents, so one pass from the end is enough. Marks the ancestors of incomplete contexts as partial.
 */
int graph__sum_inclusive(struct grain_graph *g)
{
	size_t i;
	int error = memory__array(&g->memory, g->context_count, sizeof *g->inclusive_ns,
				  (void **)&g->inclusive_ns);

	for (i = g->context_count; error == 0 && i-- > 0;) {
		const struct context *c = &g->contexts[i];

		g->inclusive_ns[i] += c->exec_ns;
		if (c->parent == GRAIN_NONE)
			continue;
		g->inclusive_ns[c->parent] += g->inclusive_ns[i];
		if (c->flags & (CONTEXT_INCOMPLETE | CONTEXT_PARTIAL))
			g->contexts[c->parent].flags |= CONTEXT_PARTIAL;
	}
	return error;
}

int tasking__count(struct grain_graph *g, uint32_t context)
{
	const struct context *c = &g->contexts[context];
	struct construct_row *row;
	struct depth_row *depth;
	int error;

	if (c->kind != GRAIN_TASK || c->flags & CONTEXT_SPLIT)
		return 0;
	row = &g->tasking->constructs[tasking__row_of(g, c->definition)];
	row->instances++;
	if (c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED | CONTEXT_PARTIAL))
		return 0;
	error = tasking__depth_row(g, c->depth, c->definition, &depth);
	if (error < 0)
		return error;
	running_stat__add(&row->inclusive, g->inclusive_ns[context]);
	running_stat__add(&depth->inclusive, g->inclusive_ns[context]);
	return 0;
}

static int by_exclusive(const void *a, const void *b, void *constructs)
{
	const struct construct_row *rows = constructs;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t of_x = rows[x].exclusive.sum, of_y = rows[y].exclusive.sum;

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return (x > y) - (x < y);
}

static int order_constructs(struct grain_graph *g)
{
	struct tasking *t = g->tasking;
	size_t i;
	int error;

	for (i = 0; i < t->construct_count; i++)
		t->order_count += t->constructs[i].instances > 0;
	error = memory__array(&g->memory, t->order_count, sizeof *t->order, (void **)&t->order);
	if (error < 0) {
		t->order_count = 0;
		return error;
	}
	t->order_count = 0;
	for (i = 0; i < t->construct_count; i++)
		if (t->constructs[i].instances)
			t->order[t->order_count++] = (uint32_t)i;
	qsort_r(t->order, t->order_count, sizeof *t->order, by_exclusive, t->constructs);
	for (i = 0; i < t->construct_count; i++)
		t->constructs[i].place = GRAIN_NONE;
	for (i = 0; i < t->order_count; i++)
		t->constructs[t->order[i]].place = (uint32_t)i;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct point_row *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->definition != y->definition)
		return x->definition < y->definition ? -1 : 1;
	if (x->in_task != y->in_task)
		return x->in_task ? 1 : -1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

static int by_point(const void *a, const void *b)
{
	const struct stub_row *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	if (x->exec.sum != y->exec.sum)
		return x->exec.sum > y->exec.sum ? -1 : 1;
	return (x->definition > y->definition) - (x->definition < y->definition);
}

static int order_points(struct grain_graph *g)
{
	struct tasking *t = g->tasking;
	uint32_t *place = NULL;
	size_t i;
	int error;

	if (!t->point_count)
		return 0;
	error = memory__array(&g->memory, t->point_count, sizeof *place, (void **)&place);
	if (error < 0)
		return error;
	for (i = 0; i < t->point_count; i++)
		t->points[i].first_stub = (uint32_t)i;
	qsort(t->points, t->point_count, sizeof *t->points, by_time);
	for (i = 0; i < t->point_count; i++)
		place[t->points[i].first_stub] = (uint32_t)i;
	for (i = 0; i < t->stub_count; i++)
		t->stubs[i].point = place[t->stubs[i].point];
	if (t->stub_count)
		qsort(t->stubs, t->stub_count, sizeof *t->stubs, by_point);
	for (i = 0; i < t->point_count; i++)
		t->points[i].first_stub = 0;
	for (i = 0; i < t->stub_count; i++) {
		struct point_row *p = &t->points[t->stubs[i].point];

		if (p->stubs++ == 0)
			p->first_stub = (uint32_t)i;
	}
	memory__release(&g->memory, (void **)&place, t->point_count, sizeof *place);
	return 0;
}

static int by_depth(const void *a, const void *b)
{
	const struct depth_row *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->definition > y->definition) - (x->definition < y->definition);
}

int tasking__finish(struct grain_graph *g)
{
	struct tasking *t = g->tasking;
	int error = order_constructs(g);

	if (error == 0)
		error = order_points(g);
	if (t->depth_count)
		qsort(t->depths, t->depth_count, sizeof *t->depths, by_depth);
	number_map__free(&t->depth_of);
	return error;
}

/* ---- access ----------------------------------------------------------- */

static uint32_t definition_of(const struct grain_graph *g, uint32_t row)
{
	return row == g->definition_count ? GRAIN_NONE : row;
}

size_t grain_graph__task_construct_count(const struct grain_graph *g)
{
	return g->tasking->order_count;
}

void grain_graph__task_construct(const struct grain_graph *g, size_t index, struct grain_task_construct *out)
{
	uint32_t definition = g->tasking->order[index];
	const struct construct_row *c = &g->tasking->constructs[definition];

	*out = (struct grain_task_construct){
		.definition = definition_of(g, definition),
		.instances = c->instances,
		.complete = c->exclusive.count,
		.fragments = c->fragments,
		.switches = c->fragments - c->begun,
		.exclusive = running_stat__result(&c->exclusive),
		.inclusive = running_stat__result(&c->inclusive),
		.create = running_stat__result(&c->create),
		.taskwait = running_stat__result(&c->taskwait),
		.management = running_stat__result(&c->management),
		.task = running_stat__result(&c->task),
		.max_concurrent = c->max_concurrent,
		.scheduled = !g->info.times_derived,
	};
	if (g->info.times_derived) {
		out->fragments = out->switches = out->max_concurrent = 0;
		out->management = (struct grain_stat){.mean = NAN, .stddev = NAN};
	}
}

uint32_t grain_graph__construct_of(const struct grain_graph *g, uint32_t definition)
{
	uint32_t row = tasking__row_of(g, definition);

	return row < g->tasking->construct_count ? g->tasking->constructs[row].place : GRAIN_NONE;
}

size_t grain_graph__scheduling_point_count(const struct grain_graph *g)
{
	return g->info.times_derived ? 0 : g->tasking->point_count;
}

void grain_graph__scheduling_point(const struct grain_graph *g, size_t index,
				   struct grain_scheduling_point *out)
{
	const struct point_row *p = &g->tasking->points[index];
	uint64_t executing = p->time_ns - p->own_ns, in_stubs = 0;
	uint32_t i;

	for (i = 0; i < p->stubs; i++)
		in_stubs += g->tasking->stubs[p->first_stub + i].exec.sum;
	*out = (struct grain_scheduling_point){
		.definition = p->definition,
		.in_task = p->in_task,
		.caller = p->caller,
		.kind = p->kind == POINT_CREATE ? "create" : event_wait_names[p->kind],
		.visits = p->visits,
		.time_ns = p->time_ns,
		.executing_ns = executing,
		.management_ns = p->own_ns - p->idle_ns,
		.idle_ns = p->idle_ns,
		/* This is smaller than the stubs only if a wait was removed while a task ran inside it. */
		.nested_ns = executing > in_stubs ? executing - in_stubs : 0,
		.first_stub = p->first_stub,
		.stubs = p->stubs,
	};
}

void grain_graph__stub(const struct grain_graph *g, uint32_t stub, struct grain_stub *out)
{
	const struct stub_row *s = &g->tasking->stubs[stub];

	*out = (struct grain_stub){.definition = s->definition,
				   .fragments = s->exec.count,
				   .exec = running_stat__result(&s->exec)};
}

size_t grain_graph__depth_row_count(const struct grain_graph *g)
{
	return g->tasking->depth_count;
}

void grain_graph__depth_row(const struct grain_graph *g, size_t index, struct grain_depth_row *out)
{
	const struct depth_row *d = &g->tasking->depths[index];

	*out = (struct grain_depth_row){
		.depth = d->depth,
		.definition = d->definition,
		.instances = d->exclusive.count,
		.exclusive = running_stat__result(&d->exclusive),
		.inclusive = running_stat__result(&d->inclusive),
		.create = running_stat__result(&d->create),
		.taskwait = running_stat__result(&d->taskwait),
		.task = running_stat__result(&d->task),
	};
}

bool grain_graph__region_barriers(const struct grain_graph *g, uint32_t region, struct grain_barriers *out)
{
	const struct region *r = &g->regions[region];

	*out = (struct grain_barriers){0};
	if (r->incomplete || g->info.times_derived)
		return false;
	*out = (struct grain_barriers){
		.time_ns = r->barrier_ns,
		.executing_ns = r->barrier_ns - r->barrier_own_ns,
		.management_ns = r->barrier_own_ns - r->barrier_idle_ns,
		.idle_ns = r->barrier_idle_ns,
	};
	return true;
}
