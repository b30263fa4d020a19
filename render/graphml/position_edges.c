/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of an exported graph, and the edges that decide the nodes' places. */
#include "render/graphml/positions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/include/grain_reduced.h"
#include "render/base/array.h"

static int add(struct position_graph *p, uint32_t from, uint32_t to)
{
	if (from == GRAIN_NONE || to == GRAIN_NONE || from == to)
		return 0;
	if (p->edge_count >= GRAIN_NONE)
		return -E2BIG;
	if (!array__reserve((void **)&p->edges, &p->edge_capacity, p->edge_count, sizeof(*p->edges)))
		return -ENOMEM;
	p->edges[p->edge_count++] = (struct position_edge){from, to};
	return 0;
}

static int begin(struct position_graph *p, const struct grain_graph *graph, size_t nodes)
{
	*p = (struct position_graph){.nodes = nodes, .contexts = grain_graph__context_count(graph)};
	if (nodes >= GRAIN_NONE)
		return -E2BIG;
	p->chain = malloc((nodes + 1) * sizeof(*p->chain));
	if (!p->chain)
		return -ENOMEM;
	memset(p->chain, 0xff, (nodes + 1) * sizeof(*p->chain));
	return 0;
}

void position_graph__free(struct position_graph *p)
{
	free(p->chain);
	free(p->edges);
	memset(p, 0, sizeof(*p));
}

int position_graph__of_reduced(struct position_graph *p, const struct grain_graph *graph)
{
	struct grain_reduced *reduced;
	int error = grain_reduced__new(graph, &reduced);

	if (error)
		return error;
	error = begin(p, graph, grain_reduced__node_count(reduced));
	for (uint32_t i = 0; i < p->nodes && !error; i++) {
		struct grain_reduced_node node;

		grain_reduced__node(reduced, i, &node);
		p->chain[i] = node.context;
	}
	for (size_t i = 0; i < grain_reduced__edge_count(reduced) && !error; i++) {
		struct grain_reduced_edge edge;

		grain_reduced__edge(reduced, i, &edge);
		error = add(p, edge.from, edge.to);
	}
	grain_reduced__free(reduced);
	return error;
}

/* ---- with every node ----------------------------------------------------- */

struct full {
	struct position_graph *p;
	const struct grain_graph *graph;
	uint32_t joins; /* number of the node of join 0 */
	uint32_t ended; /* the region that ended before the context's next node; GRAIN_NONE: none */
};

/*
 * Returns the first or last node of a context. GRAIN_NONE: it has none. Chunks are nested in chunks only as
 * deep as in the source.
 */
static uint32_t end_node(const struct full *f, uint32_t context, bool last)
{
	for (;;) {
		struct grain_context c;
		struct grain_item item;
		uint32_t i;

		grain_graph__context(f->graph, context, &c);
		if (!c.item_count)
			return GRAIN_NONE;
		i = c.first_item + (last ? c.item_count - 1 : 0);
		grain_graph__item(f->graph, i, &item);
		if (item.kind == GRAIN_JOIN)
			return f->joins + item.ref;
		if (item.kind != GRAIN_CHUNK_ITEM || item.ref <= context)
			return i;
		context = item.ref;
	}
}

/*
 * Whether this join is the context's last one. The end of a region is often the last barrier, and fragments
 * may follow it.
 */
static bool ends_in(const struct full *f, uint32_t context, uint32_t join)
{
	struct grain_context c;
	struct grain_item item;

	grain_graph__context(f->graph, context, &c);
	for (uint32_t i = c.first_item + c.item_count; i-- > c.first_item;) {
		grain_graph__item(f->graph, i, &item);
		if (item.kind == GRAIN_JOIN)
			return item.ref == join;
	}
	return false;
}

static int add_team(struct full *f, uint32_t item, uint32_t region, uint32_t *end)
{
	struct grain_region r;
	int error;

	grain_graph__region(f->graph, region, &r);
	*end = r.end_join == GRAIN_NONE ? item : f->joins + r.end_join;
	error = add(f->p, item, *end);
	for (uint32_t k = 0; k < r.threads && !error; k++) {
		uint32_t member = grain_graph__member(f->graph, r.first_member + k);

		if (member == GRAIN_NONE)
			continue;
		error = add(f->p, item, end_node(f, member, false));
		if (!error && r.end_join != GRAIN_NONE && !ends_in(f, member, r.end_join))
			error = add(f->p, end_node(f, member, true), *end);
	}
	return error;
}

/* The context continues at `node`, below its earlier nodes. Returns 0 or -ENOMEM. */
static int go_on(struct full *f, uint32_t before, uint32_t node)
{
	int error = add(f->p, before, node);
	struct grain_region r;

	if (error || f->ended == GRAIN_NONE)
		return error;
	grain_graph__region(f->graph, f->ended, &r);
	f->ended = GRAIN_NONE;
	for (uint32_t k = 0; k < r.threads && !error; k++) {
		uint32_t member = grain_graph__member(f->graph, r.first_member + k);

		if (member != GRAIN_NONE)
			error = add(f->p, end_node(f, member, true), node);
	}
	return error;
}

static int add_item(struct full *f, uint32_t index, const struct grain_item *item, uint32_t *before)
{
	uint32_t node = index;
	int error;

	if (item->kind == GRAIN_CHUNK_ITEM) {
		node = end_node(f, item->ref, false);
		if (node == GRAIN_NONE)
			return 0;
		error = go_on(f, *before, node);
		*before = end_node(f, item->ref, true);
		return error;
	}
	if (item->kind == GRAIN_JOIN)
		node = f->joins + item->ref;
	error = go_on(f, *before, node);
	*before = node;
	if (!error && item->kind == GRAIN_FORK)
		error = add(f->p, node, end_node(f, item->ref, false));
	if (!error && item->kind == GRAIN_REGION) {
		error = add_team(f, node, item->ref, before);
		f->ended = item->ref;
	}
	return error;
}

static int add_context(struct full *f, uint32_t context)
{
	struct grain_context c;
	uint32_t before = GRAIN_NONE;
	int error = 0;

	grain_graph__context(f->graph, context, &c);
	f->ended = GRAIN_NONE;
	for (uint32_t i = c.first_item; i < c.first_item + c.item_count && !error; i++) {
		struct grain_item item;

		grain_graph__item(f->graph, i, &item);
		if (item.kind != GRAIN_JOIN && item.kind != GRAIN_CHUNK_ITEM)
			f->p->chain[i] = context;
		error = add_item(f, i, &item, &before);
	}
	if (!error && c.kind == GRAIN_TASK && c.join != GRAIN_NONE)
		error = add(f->p, end_node(f, context, true), f->joins + c.join);
	return error;
}

int position_graph__of_full(struct position_graph *p, const struct grain_graph *graph)
{
	size_t contexts = grain_graph__context_count(graph), joins = grain_graph__join_count(graph),
	       items = 0;
	struct full f = {.p = p, .graph = graph};
	int error;

	for (size_t i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(graph, (uint32_t)i, &c);
		if (c.first_item + (size_t)c.item_count > items)
			items = c.first_item + (size_t)c.item_count;
	}
	f.joins = (uint32_t)items;
	error = begin(p, graph, items + joins);
	for (uint32_t i = 0; i < joins && !error; i++) {
		struct grain_join join;

		grain_graph__join(graph, i, &join);
		p->chain[items + i] = join.waiter;
	}
	for (uint32_t i = 0; i < contexts && !error; i++)
		error = add_context(&f, i);
	for (size_t i = 0; i < grain_graph__dependence_count(graph) && !error; i++) {
		struct grain_dependence d;

		grain_graph__dependence(graph, i, &d);
		error = add(p, end_node(&f, d.from, true),
			    d.to == GRAIN_NONE ? f.joins + d.join : end_node(&f, d.to, false));
	}
	return error;
}
