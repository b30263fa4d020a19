/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/groups/groups_path.h"

#include <errno.h>
#include <stdlib.h>

static bool reserve(struct path *p, void **array, size_t *capacity, size_t count, size_t size)
{
	size_t larger = *capacity + *capacity / 2 + 64;
	void *moved;

	if (count < *capacity)
		return true;
	moved = reallocarray(*array, larger, size);
	if (!moved) {
		p->error = -ENOMEM;
		return false;
	}
	*array = moved;
	*capacity = larger;
	return true;
}

void path__push(struct path *p, struct numbers *to, uint32_t number)
{
	if (reserve(p, (void **)&to->list, &to->capacity, to->count, sizeof *to->list))
		to->list[to->count++] = number;
}

/* ---- what is in the group --------------------------------------------- */

static void enter_context(struct path *p, uint32_t context, uint32_t member)
{
	p->walks[context].member = member;
	p->walks[context].item = p->graph->contexts[context].first_item;
	path__push(p, &p->contexts, context);
}

/* Adds the members of the groups in the queue, at any level. */
static void enter_groups(struct path *p, uint32_t member)
{
	while (p->queue.count && !p->error) {
		uint32_t n, k;
		const uint32_t *members = groups__members(p->groups, p->queue.list[--p->queue.count], &n);

		for (k = 0; k < n; k++) {
			if (members[k] & GROUP_MEMBER)
				path__push(p, &p->queue, members[k] & ~GROUP_MEMBER);
			else
				enter_context(p, members[k], member);
		}
	}
}

/* Adds the runtime's own tasks: no group has them as members, but forks lead to them. */
static void enter_split_tasks(struct path *p)
{
	const struct grain_graph *g = p->graph;
	size_t i;
	uint32_t k;

	for (i = 0; g->totals.runtime_tasks && i < p->contexts.count && !p->error; i++) {
		const struct context *c = &g->contexts[p->contexts.list[i]];
		uint32_t member = p->walks[p->contexts.list[i]].member;

		for (k = c->first_item; k < c->first_item + c->item_count; k++) {
			const struct item *item = &g->items[k];

			if (item->kind == GRAIN_FORK && g->contexts[item->ref].flags & CONTEXT_SPLIT &&
			    !path__is_inside(p, item->ref))
				enter_context(p, item->ref,
					      p->groups->of_context[item->ref] == p->group ? NO_MEMBER
											   : member);
		}
	}
}

static void enter_members(struct path *p)
{
	uint32_t n, k;
	const uint32_t *members = groups__members(p->groups, p->group, &n);

	for (k = 0; k < n && !p->error; k++) {
		if (members[k] & GROUP_MEMBER) {
			path__push(p, &p->queue, members[k] & ~GROUP_MEMBER);
			enter_groups(p, k + 1);
		} else {
			enter_context(p, members[k], k + 1);
		}
	}
	enter_split_tasks(p);
}

/* ---- what waits for what ---------------------------------------------- */

static struct meeting *meet_join(struct path *p, uint32_t join)
{
	struct meeting *m = &p->joins[join];

	if (!m->listed)
		path__push(p, &p->met_joins, join);
	m->listed = true;
	return m;
}

static struct meeting *meet_region(struct path *p, uint32_t region)
{
	struct meeting *m = &p->regions[region];

	if (!m->listed)
		path__push(p, &p->met_regions, region);
	m->listed = true;
	return m;
}

static void add_successor(struct path *p, uint32_t from, uint32_t index, bool is_join)
{
	if (!reserve(p, (void **)&p->successors, &p->successor_capacity, p->successor_count,
		     sizeof *p->successors))
		return;
	p->successors[p->successor_count++] =
		(struct successor){.index = index, .next = p->walks[from].successors, .is_join = is_join};
	p->walks[from].successors = (uint32_t)p->successor_count;
	if (is_join)
		meet_join(p, index)->pending++;
	else
		p->walks[index].pending++;
}

/* Returns the next chunk of the same loop that the thread executed. GRAIN_NONE: none. */
static uint32_t next_chunk(const struct grain_graph *g, uint32_t chunk)
{
	const struct context *c = &g->contexts[chunk], *parent = &g->contexts[c->parent];
	uint32_t i, past = parent->first_item + parent->item_count;

	for (i = c->item + 1; i < past && g->items[i].kind == GRAIN_BOOKKEEPING; i++)
		;
	if (i == past || g->items[i].kind != GRAIN_CHUNK_ITEM ||
	    g->chunks[g->contexts[g->items[i].ref].number].loop != g->chunks[c->number].loop)
		return GRAIN_NONE;
	return g->items[i].ref;
}

static void expect_dependences(struct path *p, uint32_t context)
{
	const struct grain_graph *g = p->graph;
	size_t i;

	for (i = graph__first_dependence(g, context); i < g->depend_count && g->depends[i].to == context; i++)
		if (path__is_inside(p, g->depends[i].from))
			add_successor(p, g->depends[i].from, context, false);
}

static void expect_join(struct path *p, uint32_t join)
{
	const struct grain_graph *g = p->graph;
	struct meeting *m = meet_join(p, join);
	size_t i;

	if (g->joins[join].region != GRAIN_NONE)
		m->pending++;
	if (!(g->joins[join].flags & JOIN_YIELD))
		return;
	for (i = graph__first_depend_wait(g, join);
	     i < g->depend_wait_count && g->depend_waits[i].join == join; i++)
		if (path__is_inside(p, g->depend_waits[i].from))
			add_successor(p, g->depend_waits[i].from, join, true);
}

static void expect_context(struct path *p, uint32_t context)
{
	const struct grain_graph *g = p->graph;
	const struct context *c = &g->contexts[context];
	uint32_t i;

	if (c->item != GRAIN_NONE && path__is_inside(p, c->parent))
		p->walks[context].pending++;
	else if (c->kind == GRAIN_CHUNK && c->item != GRAIN_NONE &&
		 path__is_inside(p, next_chunk(g, context)))
		add_successor(p, context, next_chunk(g, context), false);
	if (g->depend_count)
		expect_dependences(p, context);
	if (c->kind == GRAIN_TASK && c->join != GRAIN_NONE)
		meet_join(p, c->join)->pending++;
	else if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE)
		meet_region(p, c->region)->pending++;
	for (i = c->first_item; i < c->first_item + c->item_count; i++) {
		if (g->items[i].kind == GRAIN_JOIN)
			expect_join(p, g->items[i].ref);
		else if (g->items[i].kind == GRAIN_REGION)
			meet_region(p, g->items[i].ref);
	}
}

void path__enter(struct path *p)
{
	size_t i;

	enter_members(p);
	for (i = 0; i < p->contexts.count && !p->error; i++)
		expect_context(p, p->contexts.list[i]);
}
