/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependences between the children of one task, for each storage location, in the order of creation. A run of
 * consecutive in (or mutexinoutset, or inoutset) accesses is one set. Every other access is its own set. The
 * members of a set wait for those of the set before it.
 */
#include "analysis/replay/replay.h"

#include <errno.h>
#include <stdlib.h>

static bool shared(uint8_t kind)
{
	return kind == EVENT_DEPEND_IN || kind == EVENT_DEPEND_MUTEXINOUTSET || kind == EVENT_DEPEND_INOUTSET;
}

static int add_edge(struct replay *r, uint32_t from, uint32_t to, uint32_t join)
{
	struct grain_graph *g = r->graph;
	int error;

	if (from == to || from == GRAIN_NONE)
		return 0;
	/* Only a damaged file has such dependences. Without them there are no cycles. */
	if (to != GRAIN_NONE && from > to)
		return 0;
	if (to != GRAIN_NONE) {
		error = GROW(g, depends, depend_count, depend_capacity);
		if (error == 0)
			g->depends[g->depend_count++] = (struct dependence){.to = to, .from = from};
		return error < 0 ? error : tasking__depends(r, from, to);
	}
	error = GROW(g, depend_waits, depend_wait_count, depend_wait_capacity);
	if (error == 0)
		g->depend_waits[g->depend_wait_count++] = (struct depend_wait){.join = join, .from = from};
	return error;
}

static int add_edges(struct replay *r, uint32_t list, uint32_t to, uint32_t join)
{
	int error = 0;

	for (; list != GRAIN_NONE && error == 0; list = r->accesses[list].next)
		error = add_edge(r, r->accesses[list].task, to, join);
	return error;
}

static int append(struct replay *r, uint32_t task, uint32_t *list)
{
	int error = memory__grow(&r->graph->memory, (void **)&r->accesses, &r->access_capacity,
				 r->access_count, sizeof *r->accesses);

	if (error < 0)
		return error;
	r->accesses[r->access_count] = (struct access_node){.task = task, .next = *list};
	*list = (uint32_t)r->access_count++;
	return 0;
}

/* Returns the number of `key`. If it equals `next`, the number is new. */
static int number_of(struct number_map *map, uint64_t key, uint32_t next, uint32_t *out)
{
	*out = number_map__get(map, key);
	if (*out != GRAIN_NONE)
		return 0;
	*out = next;
	return number_map__put(map, key, next);
}

static int find_owner(struct replay *r, uint32_t context, uint32_t *out)
{
	uint32_t next = (uint32_t)r->depend_owner_count;
	int error = memory__grow(&r->graph->memory, (void **)&r->depend_owners, &r->depend_owner_capacity,
				 next, sizeof *r->depend_owners);

	if (error == 0)
		error = number_of(&r->owners, context, next, out);
	if (error == 0 && *out == next)
		r->depend_owners[r->depend_owner_count++] =
			(struct depend_owner){.all = GRAIN_NONE, .first = GRAIN_NONE};
	return error;
}

/* Finds the location among the owner's children. Everything before an omp_all_memory is forgotten. */
static int find_location(struct replay *r, uint32_t owner, uint64_t address, struct location **out)
{
	uint32_t number = 0, index = 0, next = (uint32_t)r->location_count;
	struct depend_owner *o = &r->depend_owners[owner];
	struct location *l;
	int error;

	error = memory__grow(&r->graph->memory, (void **)&r->locations, &r->location_capacity, next,
			     sizeof *r->locations);
	if (error == 0)
		error = number_of(&r->addresses, address, (uint32_t)r->addresses.used, &number);
	if (error == 0)
		error = number_of(&r->location_of, (uint64_t)owner << 32 | number, next, &index);
	if (error < 0)
		return error;
	l = *out = &r->locations[index];
	if (index == next)
		r->location_count++;
	else if (l->epoch == o->epoch)
		return 0;
	*l = (struct location){
		.set = GRAIN_NONE,
		.before = GRAIN_NONE,
		.next = o->first,
		.epoch = o->epoch,
		.kind = EVENT_DEPEND_ALL,
	};
	o->first = index;
	return o->all == GRAIN_NONE ? 0 : append(r, o->all, &l->set);
}

static int access_location(struct replay *r, struct location *l, uint32_t task, uint8_t kind)
{
	bool again = l->set != GRAIN_NONE && r->accesses[l->set].task == task;
	int error;

	if (again && (l->kind == kind || !shared(l->kind)))
		return 0;
	/* If one task accesses a location twice, the stricter access counts. */
	if (again) {
		l->set = r->accesses[l->set].next;
		kind = EVENT_DEPEND_INOUT;
		if (l->set == GRAIN_NONE) {
			l->kind = kind;
			return append(r, task, &l->set);
		}
	}
	if (l->set != GRAIN_NONE && !(shared(kind) && l->kind == kind)) {
		l->before = l->set;
		l->set = GRAIN_NONE;
	}
	l->kind = kind;
	error = add_edges(r, l->before, task, GRAIN_NONE);
	return error < 0 ? error : append(r, task, &l->set);
}

/* omp_all_memory: the task comes after everything so far, and before everything that follows. */
static int access_all(struct replay *r, uint32_t owner, uint32_t task, uint32_t join)
{
	struct depend_owner *o = &r->depend_owners[owner];
	int error = 0;

	for (uint32_t i = o->first; i != GRAIN_NONE && error == 0; i = r->locations[i].next)
		error = add_edges(r, r->locations[i].set, task, join);
	if (error == 0)
		error = add_edge(r, o->all, task, join);
	if (error < 0 || task == GRAIN_NONE)
		return error;
	o->all = task;
	o->first = GRAIN_NONE;
	o->epoch++;
	return 0;
}

/* Returns the wait that has just begun on the thread, if it has dependences. */
static uint32_t depend_wait(const struct replay *r, uint32_t thread, uint32_t *join)
{
	uint32_t top = r->graph->threads[thread].top;
	const struct frame *f = top == GRAIN_NONE ? NULL : &r->frames[top];

	if (!f || f->item == GRAIN_NONE || r->graph->raw[f->item].kind != GRAIN_JOIN ||
	    f->wait != EVENT_WAIT_TASKWAIT_DEPEND)
		return GRAIN_NONE;
	*join = r->graph->raw[f->item].ref;
	return f->context;
}

int replay__depend(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	uint32_t task = GRAIN_NONE, join = GRAIN_NONE, parent, owner = 0;
	struct location *l;
	int error;

	if (e->id == GRAIN_NONE) {
		parent = depend_wait(r, thread, &join);
	} else {
		task = e->id < g->stream->task_count ? r->context_of_task[e->id] : GRAIN_NONE;
		parent = task == GRAIN_NONE ? GRAIN_NONE : g->contexts[task].parent;
	}
	if (e->sub == EVENT_DEPEND_UNREAD) {
		if (__builtin_add_overflow(g->totals.unread_dependences, e->value,
					   &g->totals.unread_dependences))
			g->totals.unread_dependences = UINT64_MAX;
		return 0;
	}
	parent = graph__task_region(g, parent);
	if (parent == GRAIN_NONE || e->sub > EVENT_DEPEND_ALL)
		return 0;
	error = find_owner(r, parent, &owner);
	if (error < 0)
		return error;
	if (e->sub == EVENT_DEPEND_ALL)
		return access_all(r, owner, task, join);
	error = find_location(r, owner, e->value, &l);
	if (error < 0)
		return error;
	if (task != GRAIN_NONE)
		return access_location(r, l, task, e->sub == EVENT_DEPEND_OUT ? EVENT_DEPEND_INOUT : e->sub);
	return add_edges(r, shared(e->sub) && l->kind == e->sub ? l->before : l->set, GRAIN_NONE, join);
}

static int by_task(const void *a, const void *b)
{
	const struct dependence *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static int by_join(const void *a, const void *b)
{
	const struct depend_wait *x = a, *y = b;

	if (x->join != y->join)
		return x->join < y->join ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

void replay__finish_depends(struct replay *r)
{
	struct grain_graph *g = r->graph;
	size_t i, kept = 0;

	if (g->depend_count)
		qsort(g->depends, g->depend_count, sizeof *g->depends, by_task);
	for (i = 0; i < g->depend_count; i++)
		if (!kept || by_task(&g->depends[kept - 1], &g->depends[i]) != 0)
			g->depends[kept++] = g->depends[i];
	g->depend_count = kept;
	if (g->depend_wait_count)
		qsort(g->depend_waits, g->depend_wait_count, sizeof *g->depend_waits, by_join);
	for (i = kept = 0; i < g->depend_wait_count; i++)
		if (!kept || by_join(&g->depend_waits[kept - 1], &g->depend_waits[i]) != 0)
			g->depend_waits[kept++] = g->depend_waits[i];
	g->depend_wait_count = kept;
	g->totals.dependences = g->depend_count + g->depend_wait_count;
}

void replay__free_depends(struct replay *r)
{
	number_map__free(&r->addresses);
	number_map__free(&r->owners);
	number_map__free(&r->location_of);
	free(r->locations);
	free(r->depend_owners);
	free(r->accesses);
}
