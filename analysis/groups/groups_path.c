/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Local critical paths: heaviest paths as in metrics_span.c, but only through the contexts of one group.
 *
 * What is outside of the group does not matter for the order: a context that is created outside starts at 0,
 * and a join waits only for contexts inside. Chunks that one thread executed one after another stay in
 * sequence.
 *
 * The arrays are as long as the graph's, but zero at first. So only the pages with the group's own elements
 * are touched.
 */
#include "analysis/groups/groups_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void arrive(struct path *p, struct meeting *m, uint32_t context, bool arrival)
{
	const struct walk *w = &p->walks[context];

	if (m->any && (w->path < m->path || (w->path == m->path && context >= m->winner)))
		return;
	m->path = w->path;
	m->winner = context;
	m->item = w->item;
	m->arrival = arrival;
	m->any = true;
}

static void start(struct path *p, uint32_t context)
{
	if (p->walks[context].started)
		return;
	p->walks[context].started = true;
	path__push(p, &p->queue, context);
}

/* A predecessor of the context's begin is over. `after` is as in struct walk. */
static void permit(struct path *p, uint32_t context, uint64_t path, uint32_t after)
{
	struct walk *w = &p->walks[context];

	if (!w->member || w->started)
		return;
	if (path > w->path) {
		w->path = path;
		w->after = after;
	}
	if (w->pending)
		w->pending--;
	if (w->pending == 0)
		start(p, context);
}

static void release(struct path *p, struct meeting *m)
{
	uint32_t next = m->waiters;

	m->released = true;
	m->waiters = 0;
	while (next) {
		uint32_t context = next - 1;
		struct walk *w = &p->walks[context];

		next = w->waiting;
		if (w->path < m->path) {
			w->path = m->path;
			p->jumped[w->item] = 1;
		}
		w->item++;
		path__push(p, &p->queue, context);
	}
}

static void stand(struct path *p, struct meeting *m, uint32_t context)
{
	p->walks[context].waiting = m->waiters;
	m->waiters = context + 1;
	if (m->released || m->pending == 0)
		release(p, m);
}

static void count_down(struct path *p, struct meeting *m)
{
	if (m->pending && --m->pending == 0)
		release(p, m);
}

static void start_team(struct path *p, uint32_t region, uint64_t path)
{
	const struct grain_graph *g = p->graph;
	const struct region *r = &g->regions[region];
	uint32_t k;

	for (k = 0; k < r->threads; k++)
		if (g->members[r->first_member + k].context != GRAIN_NONE)
			permit(p, g->members[r->first_member + k].context, path, 0);
}

/* Walks a context as far as possible. Returns false if it waits. */
static bool step(struct path *p, uint32_t context)
{
	const struct grain_graph *g = p->graph;
	struct walk *w = &p->walks[context];
	const struct item *item = &g->items[w->item];
	struct meeting *m;

	switch (item->kind) {
	case GRAIN_FRAGMENT:
		w->path += item->own_ns;
		break;
	case GRAIN_FORK:
		permit(p, item->ref, w->path, 0);
		break;
	case GRAIN_JOIN:
		m = &p->joins[item->ref];
		arrive(p, m, context, true);
		stand(p, m, context);
		/* A barrier also waits for its members. */
		if (g->joins[item->ref].region != GRAIN_NONE)
			count_down(p, m);
		return false;
	case GRAIN_REGION:
		m = &p->regions[item->ref];
		start_team(p, item->ref, w->path);
		arrive(p, m, context, true);
		stand(p, m, context);
		return false;
	case GRAIN_CHUNK_ITEM:
		if (!path__is_inside(p, item->ref) || p->walks[item->ref].started)
			break;
		permit(p, item->ref, w->path, 0);
		return false; /* goes on when the chunk has ended */
	default:
		break;
	}
	w->item++;
	return true;
}

static void permit_successors(struct path *p, uint32_t context)
{
	uint32_t i;

	for (i = p->walks[context].successors; i; i = p->successors[i - 1].next) {
		const struct successor *next = &p->successors[i - 1];

		if (next->is_join) {
			arrive(p, &p->joins[next->index], context, false);
			count_down(p, &p->joins[next->index]);
		} else {
			permit(p, next->index, p->walks[context].path, context + 1);
		}
	}
}

static void end(struct path *p, uint32_t context)
{
	const struct grain_graph *g = p->graph;
	const struct context *c = &g->contexts[context];
	struct meeting *m;

	p->walks[context].done = true;
	permit_successors(p, context);
	if (c->kind == GRAIN_CHUNK && path__is_inside(p, c->parent)) {
		struct walk *member = &p->walks[c->parent];

		if (!member->started || member->item != c->item)
			return;
		member->path = p->walks[context].path;
		p->jumped[member->item++] = 1;
		path__push(p, &p->queue, c->parent);
	} else if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE) {
		m = &p->regions[c->region];
		arrive(p, m, context, false);
		count_down(p, m);
	} else if (c->kind == GRAIN_TASK && c->join != GRAIN_NONE) {
		m = &p->joins[c->join];
		arrive(p, m, context, false);
		count_down(p, m);
	}
}

static void drain(struct path *p)
{
	while (p->queue.count && !p->error) {
		uint32_t context = p->queue.list[--p->queue.count];
		const struct context *c = &p->graph->contexts[context];
		uint32_t past = c->first_item + c->item_count;

		while (p->walks[context].item < past && step(p, context))
			;
		if (p->walks[context].item >= past && !p->walks[context].done)
			end(p, context);
	}
}

static void run(struct path *p)
{
	size_t i;

	for (i = 0; i < p->contexts.count && !p->error; i++) {
		if (p->walks[p->contexts.list[i]].pending == 0)
			start(p, p->contexts.list[i]);
		drain(p);
	}
	/*
	 * The contexts that are left wait for something that was not seen. In a damaged file they may wait
	 * for themselves.
	 */
	for (i = 0; i < p->met_joins.count && !p->error; i++) {
		if (p->joins[p->met_joins.list[i]].waiters)
			release(p, &p->joins[p->met_joins.list[i]]);
		drain(p);
	}
	for (i = 0; i < p->met_regions.count && !p->error; i++) {
		if (p->regions[p->met_regions.list[i]].waiters)
			release(p, &p->regions[p->met_regions.list[i]]);
		drain(p);
	}
	for (i = 0; i < p->contexts.count && !p->error; i++) {
		start(p, p->contexts.list[i]);
		drain(p);
	}
}

/* ---- the way back ----------------------------------------------------- */

/* A position on the path: just before `item` of `context`. The path is followed backwards. */
struct position {
	uint32_t context, item;
};

static struct position after_end(const struct path *p, uint32_t context)
{
	const struct context *c = &p->graph->contexts[context];

	return (struct position){.context = context, .item = c->first_item + c->item_count};
}

static struct position through(const struct path *p, const struct meeting *m, struct position at)
{
	if (!p->jumped[at.item])
		return at;
	return m->arrival ? (struct position){.context = m->winner, .item = m->item}
			  : after_end(p, m->winner);
}

static void mark(const struct path *p, uint32_t last, bool *bits)
{
	const struct grain_graph *g = p->graph;
	struct position at = after_end(p, last);
	size_t limit = 2 * (g->item_count + g->context_count) + 2;

	while (limit--) {
		const struct context *c = &g->contexts[at.context];
		const struct walk *w = &p->walks[at.context];
		const struct item *item;

		if (at.item <= c->first_item) {
			if (w->after) {
				at = after_end(p, w->after - 1);
				continue;
			}
			if (c->item == GRAIN_NONE || !path__is_inside(p, c->parent))
				return;
			at = (struct position){.context = c->parent, .item = c->item};
			continue;
		}
		item = &g->items[--at.item];
		if (item->kind == GRAIN_FRAGMENT && w->member != NO_MEMBER)
			bits[w->member - 1] = true;
		else if (item->kind == GRAIN_JOIN)
			at = through(p, &p->joins[item->ref], at);
		else if (item->kind == GRAIN_REGION)
			at = through(p, &p->regions[item->ref], at);
		else if (item->kind == GRAIN_CHUNK_ITEM && p->jumped[at.item])
			at = after_end(p, item->ref);
	}
}

static int find(struct path *p, bool *bits, uint64_t *length_ns)
{
	uint32_t last = GRAIN_NONE, context;
	size_t i;

	path__enter(p);
	if (!p->error)
		run(p);
	if (p->error)
		return p->error;
	*length_ns = 0;
	for (i = 0; i < p->contexts.count; i++) {
		context = p->contexts.list[i];
		if (last == GRAIN_NONE || p->walks[context].path > p->walks[last].path ||
		    (p->walks[context].path == p->walks[last].path && context < last))
			last = context;
	}
	if (last == GRAIN_NONE)
		return 0;
	*length_ns = p->walks[last].path;
	mark(p, last, bits);
	return 0;
}

int grain_groups__local_path(const struct grain_groups *groups, uint32_t group, bool *bits,
			     uint64_t *length_ns)
{
	const struct grain_graph *g = groups->graph;
	struct path p = {.groups = groups, .graph = g, .group = group};
	uint32_t members;
	int error = -ENOMEM;

	groups__members(groups, group, &members);
	memset(bits, 0, members * sizeof *bits);
	p.walks = calloc(g->context_count + 1, sizeof *p.walks);
	p.joins = calloc(g->join_count + 1, sizeof *p.joins);
	p.regions = calloc(g->region_count + 1, sizeof *p.regions);
	p.jumped = calloc(g->item_count + 1, 1);
	if (p.walks && p.joins && p.regions && p.jumped)
		error = find(&p, bits, length_ns);
	free(p.walks);
	free(p.joins);
	free(p.regions);
	free(p.jumped);
	free(p.contexts.list);
	free(p.met_joins.list);
	free(p.met_regions.list);
	free(p.queue.list);
	free(p.successors);
	return error;
}
