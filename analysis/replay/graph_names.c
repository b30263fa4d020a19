/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers in identifiers that need the whole graph. One kind is for the tasks of a taskloop: they follow the
 * iterations, no matter who created the task. The other kind makes chunks with equal names unique.
 */
#include "analysis/replay/replay.h"
#include "analysis/graph/graph.h"

#include <stdlib.h>

/* A child of a task that creates taskloops, in the order of its number. */
struct child {
	int64_t lower, upper;
	uint32_t parent, single;
	uint32_t position; /* position of its creation, or of the taskloop's first creation */
	uint32_t taskloop; /* GRAIN_NONE: it is no task of a taskloop */
	uint32_t context;
	bool split;
};

struct children {
	struct grain_graph *graph;
	struct child *list;
	size_t count;
	uint32_t *first; /* per taskloop: its first creation by the task itself */
	size_t taskloops;
};

static int by_number(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->single != y->single)
		return x->single < y->single ? -1 : 1;
	if (x->split != y->split)
		return x->split ? 1 : -1;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	if (x->lower != y->lower)
		return x->lower < y->lower ? -1 : 1;
	if (x->upper != y->upper)
		return x->upper > y->upper ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

/* Returns the splitting task above the context that the program's own task created. */
static uint32_t topmost(const struct grain_graph *g, uint32_t context)
{
	uint32_t parent = g->contexts[context].parent;

	while (parent != GRAIN_NONE && g->contexts[parent].flags & CONTEXT_SPLIT) {
		context = parent;
		parent = g->contexts[context].parent;
	}
	return context;
}

static void find_firsts(struct children *c)
{
	const struct grain_graph *g = c->graph;
	size_t i;

	for (i = 0; i < c->taskloops; i++)
		c->first[i] = GRAIN_NONE;
	for (i = 0; i < g->bounds_count; i++) {
		const struct task_bounds *b = &g->bounds[i];
		uint32_t top = topmost(g, b->context);

		if (b->taskloop < c->taskloops && top < c->first[b->taskloop])
			c->first[b->taskloop] = top;
	}
}

static void gather(struct children *c, const bool *wanted)
{
	const struct grain_graph *g = c->graph;
	size_t i, next = 0;

	for (i = 0; i < g->context_count; i++) {
		const struct context *child = &g->contexts[i];
		uint32_t parent = child->kind == GRAIN_TASK ? context__parent(g, child) : GRAIN_NONE;
		struct child *to = &c->list[c->count];

		while (next < g->bounds_count && g->bounds[next].context < i)
			next++;
		if (parent == GRAIN_NONE || !wanted[parent])
			continue;
		*to = (struct child){
			.parent = parent,
			.single = child->single,
			.position = (uint32_t)i,
			.taskloop = GRAIN_NONE,
			.context = (uint32_t)i,
			.split = child->flags & CONTEXT_SPLIT,
		};
		if (next < g->bounds_count && g->bounds[next].context == i) {
			to->lower = g->bounds[next].lower;
			to->upper = g->bounds[next].upper;
			to->taskloop = g->bounds[next].taskloop;
			if (to->taskloop < c->taskloops && c->first[to->taskloop] != GRAIN_NONE)
				to->position = c->first[to->taskloop];
		}
		c->count++;
	}
}

static void number(struct children *c)
{
	uint32_t ordinal = 0;
	size_t i;

	qsort(c->list, c->count, sizeof *c->list, by_number);
	for (i = 0; i < c->count; i++) {
		const struct child *x = &c->list[i], *before = x - 1;

		if (i == 0 || x->parent != before->parent || x->single != before->single ||
		    x->split != before->split)
			ordinal = 0;
		c->graph->contexts[x->context].ordinal = ordinal++;
	}
}

/*
 * Marks the tasks whose children get their numbers here: those with children of a taskloop or of a splitting
 * task.
 */
static size_t mark_parents(const struct grain_graph *g, bool *wanted)
{
	size_t i, next = 0, children = 0;

	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		while (next < g->bounds_count && g->bounds[next].context < i)
			next++;
		if (c->parent != GRAIN_NONE &&
		    ((next < g->bounds_count && g->bounds[next].context == i) || c->flags & CONTEXT_SPLIT))
			wanted[context__parent(g, c)] = true;
	}
	for (i = 0; i < g->context_count; i++) {
		uint32_t parent = context__parent(g, &g->contexts[i]);

		children += g->contexts[i].kind == GRAIN_TASK && parent != GRAIN_NONE && wanted[parent];
	}
	return children;
}

static int number_taskloops(struct grain_graph *g)
{
	struct children c = {.graph = g};
	bool *wanted = NULL;
	size_t i, children = 0;
	int error;

	for (i = 0; i < g->bounds_count; i++)
		if (g->bounds[i].taskloop >= c.taskloops && g->bounds[i].taskloop < g->context_count)
			c.taskloops = (size_t)g->bounds[i].taskloop + 1;
	error = memory__array(&g->memory, g->context_count, sizeof *wanted, (void **)&wanted);
	if (error == 0)
		error = memory__array(&g->memory, c.taskloops, sizeof *c.first, (void **)&c.first);
	if (error == 0) {
		children = mark_parents(g, wanted);
		error = memory__array(&g->memory, children, sizeof *c.list, (void **)&c.list);
	}
	if (error == 0) {
		find_firsts(&c);
		gather(&c, wanted);
		number(&c);
	}
	memory__release(&g->memory, (void **)&wanted, g->context_count, sizeof *wanted);
	memory__release(&g->memory, (void **)&c.first, c.taskloops, sizeof *c.first);
	memory__release(&g->memory, (void **)&c.list, children, sizeof *c.list);
	return error;
}

/* The parts of a chunk's identifier. */
struct chunk_name {
	int64_t lower, upper;
	uint32_t place; /* region; context if there is none */
	uint32_t loop, member;
	bool in_region, sections, by_member;
	uint32_t chunk;
};

static int compare_names(const struct chunk_name *x, const struct chunk_name *y)
{
	if (x->in_region != y->in_region)
		return x->in_region ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->loop != y->loop)
		return x->loop < y->loop ? -1 : 1;
	if (x->sections != y->sections)
		return x->sections ? 1 : -1;
	if (x->by_member != y->by_member)
		return x->by_member ? 1 : -1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	if (x->lower != y->lower)
		return x->lower < y->lower ? -1 : 1;
	return (x->upper > y->upper) - (x->upper < y->upper);
}

static int by_name(const void *a, const void *b)
{
	const struct chunk_name *x = a, *y = b;
	int r = compare_names(x, y);

	return r ? r : (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static int tell_chunks_apart(struct grain_graph *g)
{
	struct chunk_name *names = NULL;
	size_t i;
	int error = memory__array(&g->memory, g->chunk_count, sizeof *names, (void **)&names);

	if (error < 0)
		return error;
	for (i = 0; i < g->chunk_count; i++) {
		const struct chunk *chunk = &g->chunks[i];
		const struct loop *loop = &g->loops[chunk->loop];
		uint32_t member = g->contexts[chunk->context].parent;
		bool by_member = chunk__by_member(chunk);

		names[i] = (struct chunk_name){
			.lower = by_member ? 0 : chunk->lower,
			.upper = by_member ? 0 : chunk->upper,
			.in_region = loop->region != GRAIN_NONE,
			.place = loop->region != GRAIN_NONE ? loop->region : member,
			.loop = loop->ordinal,
			.member = by_member ? g->contexts[member].ordinal : 0,
			.sections = loop->sections,
			.by_member = by_member,
			.chunk = (uint32_t)i,
		};
	}
	if (g->chunk_count)
		qsort(names, g->chunk_count, sizeof *names, by_name);
	for (i = 1; i < g->chunk_count; i++)
		if (compare_names(&names[i], &names[i - 1]) == 0)
			g->chunks[names[i].chunk].copy = g->chunks[names[i - 1].chunk].copy + 1;
	memory__release(&g->memory, (void **)&names, g->chunk_count, sizeof *names);
	return 0;
}

int graph__name_loops(struct grain_graph *graph)
{
	int error = tell_chunks_apart(graph);

	if (error == 0 && (graph->bounds_count || graph->totals.runtime_tasks))
		error = number_taskloops(graph);
	return error;
}
