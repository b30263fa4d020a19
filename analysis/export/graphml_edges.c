/* SPDX-License-Identifier: BSD-2-Clause */
/* The edges of the graph with every node. Items imply them (analysis/README.md, "The graph"). */
#include "analysis/export/graphml.h"

static const struct node no_node = {'i', GRAIN_NONE};

static struct node enter_item(const struct grain_graph *g, uint32_t index)
{
	while (g->items[index].kind == GRAIN_CHUNK_ITEM) {
		const struct context *chunk = &g->contexts[g->items[index].ref];

		if (!chunk->item_count)
			return no_node;
		index = chunk->first_item;
	}
	if (g->items[index].kind == GRAIN_JOIN)
		return (struct node){'j', g->items[index].ref};
	return (struct node){'i', index};
}

static struct node leave_item(const struct grain_graph *g, uint32_t index)
{
	while (g->items[index].kind == GRAIN_CHUNK_ITEM) {
		const struct context *chunk = &g->contexts[g->items[index].ref];

		if (!chunk->item_count)
			return no_node;
		index = chunk->first_item + chunk->item_count - 1;
	}
	if (g->items[index].kind == GRAIN_JOIN)
		return (struct node){'j', g->items[index].ref};
	return (struct node){'i', index};
}

static struct node enter_context(const struct grain_graph *g, uint32_t context)
{
	const struct context *c = &g->contexts[context];

	return context != GRAIN_NONE && c->item_count ? enter_item(g, c->first_item) : no_node;
}

static struct node leave_context(const struct grain_graph *g, uint32_t context)
{
	const struct context *c = &g->contexts[context];

	return c->item_count ? leave_item(g, c->first_item + c->item_count - 1) : no_node;
}

static bool onward(const struct grain_graph *g, uint32_t index)
{
	const struct item *item = &g->items[index], *next = item + 1;

	if (next->kind == GRAIN_CHUNK_ITEM)
		return grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, next->ref);
	if (item->kind == GRAIN_CHUNK_ITEM)
		return grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, item->ref);
	return grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, index);
}

static void write_onward(struct export *e, uint32_t index)
{
	const struct grain_graph *g = e->graph;
	const struct item *item = &g->items[index];
	struct node to = enter_item(g, index + 1);
	bool ends_loop =
		item->kind == GRAIN_BOOKKEEPING && to.prefix == 'j' && g->loops[item->ref].join == to.index;

	graphml__edge(e, leave_item(g, index), to,
		      ends_loop ? GRAIN_REDUCED_SYNCHRONIZATION : GRAIN_REDUCED_CONTINUATION,
		      onward(g, index));
}

/*
 * Writes edges from a region's start to its members, and from their ends to `next`. A member may run code
 * between the last barrier and its end; that code comes after the barrier.
 */
static void write_team(struct export *e, uint32_t index, struct node next)
{
	const struct grain_graph *g = e->graph;
	const struct region *r = &g->regions[g->items[index].ref];
	const struct node start = {'i', index}, end = {'j', r->end_join};
	bool at_end = false, critical = false, any = false;

	for (uint32_t k = 0; k < r->threads; k++) {
		uint32_t member = g->members[r->first_member + k].context;
		struct node last = member == GRAIN_NONE ? no_node : leave_context(g, member);
		bool leads;

		if (last.index == GRAIN_NONE)
			continue;
		any = true;
		leads = grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, member);
		graphml__edge(e, start, enter_context(g, member), GRAIN_REDUCED_CREATION,
			      grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, member));
		if (last.prefix == 'j' && last.index == end.index) {
			at_end = true;
			critical |= leads;
		} else {
			graphml__edge(e, last, next, GRAIN_REDUCED_SYNCHRONIZATION, leads);
		}
	}
	if (at_end)
		graphml__edge(e, end, next, GRAIN_REDUCED_CONTINUATION, critical);
	else if (!any)
		graphml__edge(e, start, next, GRAIN_REDUCED_CONTINUATION,
			      grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, index));
}

static void write_context_edges(struct export *e, uint32_t context)
{
	const struct grain_graph *g = e->graph;
	const struct context *c = &g->contexts[context];
	uint32_t past = c->first_item + c->item_count;

	for (uint32_t i = c->first_item; i < past; i++) {
		const struct item *item = &g->items[i];

		if (item->kind == GRAIN_FORK)
			graphml__edge(e, (struct node){'i', i}, enter_context(g, item->ref),
				      GRAIN_REDUCED_CREATION,
				      grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, item->ref));
		else if (item->kind == GRAIN_REGION)
			write_team(e, i, i + 1 < past ? enter_item(g, i + 1) : no_node);
		if (i + 1 < past && item->kind != GRAIN_REGION)
			write_onward(e, i);
	}
	if (c->kind == GRAIN_TASK)
		graphml__edge(e, leave_context(g, context), (struct node){'j', c->join},
			      GRAIN_REDUCED_SYNCHRONIZATION,
			      grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, context));
}

void graphml__full_edges(struct export *e)
{
	const struct grain_graph *g = e->graph;

	for (uint32_t i = 0; i < g->context_count && !e->out->error; i++)
		write_context_edges(e, i);
	for (size_t i = 0; i < g->depend_count; i++)
		graphml__edge(e, leave_context(g, g->depends[i].from), enter_context(g, g->depends[i].to),
			      GRAIN_REDUCED_DEPENDENCE, g->depends[i].critical);
	for (size_t i = 0; i < g->depend_wait_count; i++)
		graphml__edge(e, leave_context(g, g->depend_waits[i].from),
			      (struct node){'j', g->depend_waits[i].join}, GRAIN_REDUCED_DEPENDENCE,
			      g->depend_waits[i].critical);
}
