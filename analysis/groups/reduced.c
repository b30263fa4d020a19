/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the reduced graph. First every item gets its node. Then a second pass over the items makes the edges.
 */
#include "analysis/include/grain_reduced.h"
#include "analysis/graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reduced_node {
	uint64_t sum_ns, min_ns, max_ns;
	uint32_t context, join, region, loop;
	uint32_t first_member; /* its members end at first_member of the next node */
	uint8_t kind;	       /* enum grain_reduced_kind */
	bool critical;
};

struct reduced_edge {
	uint32_t from, to;
	uint8_t kind; /* enum grain_reduced_edge_kind */
	bool critical;
};

struct grain_reduced {
	const struct grain_graph *graph;
	struct reduced_node *nodes; /* one row more than there are nodes */
	size_t node_count;
	struct reduced_edge *edges;
	size_t edge_count, edge_capacity;
	uint32_t *items; /* by node */
};

struct reducer {
	const struct grain_graph *graph;
	struct grain_reduced *out;
	uint32_t *node_of;     /* per item: its node; GRAIN_NONE for the item of a chunk in its parent */
	uint32_t *tail;	       /* per context: the last node of its chain */
	uint32_t *region_node; /* per region */
	uint32_t *region_end;  /* per region */
	uint32_t *fork_node;   /* per join and, last, for no join: the fork node; valid while `fork_owner` is
				  the context */
	uint32_t *fork_owner;
	uint32_t *chained;   /* per node: the last context whose chain has it */
	uint32_t *team_edge; /* per join: 1 + the last edge into it from a join */
	int error;
};

/* allocate_nodes() has made room for the largest possible number of nodes. */
static uint32_t add_node(struct reducer *r, enum grain_reduced_kind kind, uint32_t context)
{
	r->out->nodes[r->out->node_count] = (struct reduced_node){
		.context = context,
		.join = GRAIN_NONE,
		.region = GRAIN_NONE,
		.loop = GRAIN_NONE,
		.kind = (uint8_t)kind,
	};
	return (uint32_t)r->out->node_count++;
}

static void add_edge(struct reducer *r, enum grain_reduced_edge_kind kind, uint32_t from, uint32_t to,
		     bool critical)
{
	struct grain_reduced *out = r->out;
	size_t larger = out->edge_capacity + out->edge_capacity / 2 + 64;
	struct reduced_edge *moved;

	if (r->error)
		return;
	if (out->edge_count == out->edge_capacity) {
		moved = reallocarray(out->edges, larger, sizeof *moved);
		if (!moved) {
			r->error = -ENOMEM;
			return;
		}
		out->edges = moved;
		out->edge_capacity = larger;
	}
	out->edges[out->edge_count++] = (struct reduced_edge){
		.from = from,
		.to = to,
		.kind = (uint8_t)kind,
		.critical = critical,
	};
}

/*
 * Adds the edge from one node of a chain to the next. Between two barriers of a team, all members share one
 * edge.
 */
static void continue_chain(struct reducer *r, uint32_t from, uint32_t to, bool critical)
{
	const struct reduced_node *nodes = r->out->nodes;
	uint32_t *known;

	if (nodes[from].kind != GRAIN_REDUCED_JOIN || nodes[to].kind != GRAIN_REDUCED_JOIN ||
	    nodes[to].join == GRAIN_NONE) {
		add_edge(r, GRAIN_REDUCED_CONTINUATION, from, to, critical);
		return;
	}
	known = &r->team_edge[nodes[to].join];
	if (*known && r->out->edges[*known - 1].from == from) {
		r->out->edges[*known - 1].critical |= critical;
		return;
	}
	add_edge(r, GRAIN_REDUCED_CONTINUATION, from, to, critical);
	*known = (uint32_t)r->out->edge_count;
}

static uint32_t node_of_join(const struct reducer *r, uint32_t join)
{
	return (uint32_t)r->graph->context_count + join;
}

/* ---- nodes ------------------------------------------------------------ */

/* Allocates one more node than there can be. It marks the end of the last node's members. */
static int allocate_nodes(struct reducer *r)
{
	const struct grain_graph *g = r->graph;
	size_t n = g->context_count + g->join_count + 2 * g->region_count + 1, i;

	for (i = 0; i < g->item_count; i++)
		n += g->items[i].kind == GRAIN_FORK || g->items[i].kind == GRAIN_BOOKKEEPING;
	if (n >= GRAIN_NONE)
		return -E2BIG;
	r->out->nodes = malloc(n * sizeof *r->out->nodes);
	return r->out->nodes ? 0 : -ENOMEM;
}

static void add_fixed_nodes(struct reducer *r)
{
	const struct grain_graph *g = r->graph;
	uint32_t i, node;

	for (i = 0; i < g->context_count; i++)
		add_node(r, GRAIN_REDUCED_CONTEXT, i);
	for (i = 0; i < g->join_count; i++) {
		node = add_node(r, GRAIN_REDUCED_JOIN, g->joins[i].waiter);
		r->out->nodes[node].join = i;
		r->out->nodes[node].region = g->joins[i].region;
	}
	for (i = 0; i < g->region_count; i++) {
		uint32_t parent = g->regions[i].begun ? g->regions[i].parent : GRAIN_NONE;

		r->region_node[i] = add_node(r, GRAIN_REDUCED_REGION, parent);
		r->out->nodes[r->region_node[i]].region = i;
		r->region_end[i] = node_of_join(r, g->regions[i].end_join);
		if (g->regions[i].end_join != GRAIN_NONE)
			continue;
		r->region_end[i] = add_node(r, GRAIN_REDUCED_JOIN, GRAIN_NONE);
		r->out->nodes[r->region_end[i]].region = i;
	}
}

/*
 * Finds the node for those forks of the context that this join synchronizes. Returns true if this is the
 * first fork and the node is new.
 */
static bool find_fork_node(struct reducer *r, uint32_t context, uint32_t join, uint32_t *node)
{
	size_t place = join == GRAIN_NONE ? r->graph->join_count : join;
	bool is_first = r->fork_owner[place] != context;

	if (is_first) {
		r->fork_owner[place] = context;
		r->fork_node[place] = add_node(r, GRAIN_REDUCED_FORK, context);
		r->out->nodes[r->fork_node[place]].join = join;
	}
	*node = r->fork_node[place];
	return is_first;
}

/*
 * Returns the node for book-keeping of a loop. It is the same node if only chunks came in between. Another
 * visit to the loop is another node.
 */
static uint32_t bookkeeping_node(struct reducer *r, uint32_t context, uint32_t loop, uint32_t last)
{
	uint32_t node;

	if (last != GRAIN_NONE && r->out->nodes[last].loop == loop)
		return last;
	node = add_node(r, GRAIN_REDUCED_BOOKKEEPING, context);
	r->out->nodes[node].loop = loop;
	return node;
}

static void place_items(struct reducer *r, uint32_t context)
{
	const struct grain_graph *g = r->graph;
	const struct context *c = &g->contexts[context];
	uint32_t i, node, bookkeeping = GRAIN_NONE;

	r->tail[context] = context;
	for (i = c->first_item; i < c->first_item + c->item_count; i++) {
		const struct item *item = &g->items[i];

		node = GRAIN_NONE;
		switch (item->kind) {
		case GRAIN_FRAGMENT:
			node = context;
			break;
		case GRAIN_FORK:
			if (find_fork_node(r, context, g->contexts[item->ref].join, &node))
				r->tail[context] = node;
			break;
		case GRAIN_REGION:
			node = r->region_node[item->ref];
			r->tail[context] = r->region_end[item->ref];
			break;
		case GRAIN_JOIN:
			r->tail[context] = node = node_of_join(r, item->ref);
			break;
		case GRAIN_BOOKKEEPING:
			r->tail[context] = node = bookkeeping_node(r, context, item->ref, bookkeeping);
			break;
		default:
			break;
		}
		r->node_of[i] = node;
		if (item->kind != GRAIN_CHUNK_ITEM)
			bookkeeping = item->kind == GRAIN_BOOKKEEPING ? node : GRAIN_NONE;
	}
}

/* Lists the items of each node in the graph's order, and sums them up. */
static void gather_items(struct reducer *r)
{
	const struct grain_graph *g = r->graph;
	struct reduced_node *nodes = r->out->nodes;
	size_t n = r->out->node_count, i;
	uint32_t total = 0, node;

	for (i = 0; i <= n; i++)
		nodes[i].first_member = 0;
	for (i = 0; i < g->item_count; i++)
		if (r->node_of[i] != GRAIN_NONE)
			nodes[r->node_of[i]].first_member++;
	for (i = 0; i <= n; i++)
		nodes[i].first_member = total += nodes[i].first_member;
	for (i = g->item_count; i-- > 0;) {
		const struct item *item = &g->items[i];

		node = r->node_of[i];
		if (node == GRAIN_NONE)
			continue;
		r->out->items[--nodes[node].first_member] = (uint32_t)i;
		nodes[node].sum_ns += item->own_ns;
		nodes[node].max_ns = item->own_ns > nodes[node].max_ns ? item->own_ns : nodes[node].max_ns;
		nodes[node].critical |= item->flags & ITEM_CRITICAL;
	}
	for (i = 0; i < n; i++) {
		uint32_t k = nodes[i].first_member;

		for (nodes[i].min_ns = nodes[i].max_ns; k < nodes[i + 1].first_member; k++)
			if (g->items[r->out->items[k]].own_ns < nodes[i].min_ns)
				nodes[i].min_ns = g->items[r->out->items[k]].own_ns;
	}
}

/* ---- edges ------------------------------------------------------------ */

/*
 * Whether the critical path reaches the item from the item before it. A context's first item is a fragment.
 */
static bool comes_along(const struct grain_graph *g, const struct context *c, uint32_t item)
{
	return item > c->first_item && g->items[item - 1].flags & ITEM_ONWARD;
}

static bool is_entered(const struct grain_graph *g, uint32_t context)
{
	return g->contexts[context].flags & CONTEXT_ENTERED;
}

static bool is_left(const struct grain_graph *g, uint32_t context)
{
	return g->contexts[context].flags & CONTEXT_LEFT;
}

/* Adds the edges from chunks that ran since `from` to what their thread did next. */
static void leave_chunks(struct reducer *r, uint32_t from, uint32_t to, uint32_t next)
{
	const struct grain_graph *g = r->graph;
	enum grain_reduced_edge_kind kind = r->out->nodes[next].kind == GRAIN_REDUCED_JOIN
						    ? GRAIN_REDUCED_SYNCHRONIZATION
						    : GRAIN_REDUCED_CONTINUATION;

	for (; from < to; from++)
		if (g->items[from].kind == GRAIN_CHUNK_ITEM)
			add_edge(r, kind, r->tail[g->items[from].ref], next, is_left(g, g->items[from].ref));
}

static void link_team(struct reducer *r, uint32_t region)
{
	const struct grain_graph *g = r->graph;
	const struct region *t = &g->regions[region];
	uint32_t k, end = r->region_end[region], member;
	bool any = false;

	for (k = 0; k < t->threads; k++) {
		member = g->members[t->first_member + k].context;
		if (member == GRAIN_NONE)
			continue;
		any = true;
		add_edge(r, GRAIN_REDUCED_CREATION, r->region_node[region], member, is_entered(g, member));
		if (r->tail[member] != end)
			add_edge(r, GRAIN_REDUCED_SYNCHRONIZATION, r->tail[member], end, is_left(g, member));
	}
	if (!any)
		add_edge(r, GRAIN_REDUCED_CONTINUATION, r->region_node[region], end, false);
}

static void link_context(struct reducer *r, uint32_t context)
{
	const struct grain_graph *g = r->graph;
	const struct context *c = &g->contexts[context];
	uint32_t i, node, chain = context, since = c->first_item;

	for (i = c->first_item; i < c->first_item + c->item_count; i++) {
		const struct item *item = &g->items[i];

		node = r->node_of[i];
		if (item->kind == GRAIN_CHUNK_ITEM)
			add_edge(r, GRAIN_REDUCED_CONTINUATION, chain, item->ref, is_entered(g, item->ref));
		if (item->kind == GRAIN_FORK)
			add_edge(r, GRAIN_REDUCED_CREATION, node, item->ref, is_entered(g, item->ref));
		if (item->kind != GRAIN_FRAGMENT && node != GRAIN_NONE && r->chained[node] != context) {
			r->chained[node] = context;
			continue_chain(r, chain, node, comes_along(g, c, i));
			leave_chunks(r, since, i, node);
			since = i;
			chain = node;
			if (item->kind == GRAIN_REGION) {
				link_team(r, item->ref);
				chain = r->region_end[item->ref];
			}
		}
	}
	if (c->kind == GRAIN_TASK && c->join != GRAIN_NONE)
		add_edge(r, GRAIN_REDUCED_SYNCHRONIZATION, r->tail[context], node_of_join(r, c->join),
			 is_left(g, context));
}

static void link_dependences(struct reducer *r)
{
	const struct grain_graph *g = r->graph;
	size_t i;

	for (i = 0; i < g->depend_count; i++)
		add_edge(r, GRAIN_REDUCED_DEPENDENCE, r->tail[g->depends[i].from], g->depends[i].to,
			 g->depends[i].critical);
	for (i = 0; i < g->depend_wait_count; i++)
		if (g->depend_waits[i].join != GRAIN_NONE)
			add_edge(r, GRAIN_REDUCED_DEPENDENCE, r->tail[g->depend_waits[i].from],
				 node_of_join(r, g->depend_waits[i].join), g->depend_waits[i].critical);
}

static int reduce(struct reducer *r)
{
	const struct grain_graph *g = r->graph;
	size_t n = g->context_count, i;

	r->node_of = malloc((g->item_count + 1) * sizeof *r->node_of);
	r->tail = malloc((n + 1) * sizeof *r->tail);
	r->region_node = malloc((g->region_count + 1) * sizeof *r->region_node);
	r->region_end = malloc((g->region_count + 1) * sizeof *r->region_end);
	r->fork_node = malloc((g->join_count + 1) * sizeof *r->fork_node);
	r->fork_owner = malloc((g->join_count + 1) * sizeof *r->fork_owner);
	r->team_edge = calloc(g->join_count + 1, sizeof *r->team_edge);
	r->out->items = malloc((g->item_count + 1) * sizeof *r->out->items);
	if (!r->node_of || !r->tail || !r->region_node || !r->region_end || !r->fork_node || !r->fork_owner ||
	    !r->team_edge || !r->out->items)
		return -ENOMEM;
	memset(r->fork_owner, 0xff, (g->join_count + 1) * sizeof *r->fork_owner);
	r->error = allocate_nodes(r);
	if (r->error < 0)
		return r->error;
	add_fixed_nodes(r);
	for (i = 0; i < n; i++)
		place_items(r, (uint32_t)i);
	gather_items(r);
	r->chained = malloc((r->out->node_count + 1) * sizeof *r->chained);
	if (!r->chained)
		return -ENOMEM;
	memset(r->chained, 0xff, (r->out->node_count + 1) * sizeof *r->chained);
	for (i = 0; i < n && !r->error; i++)
		link_context(r, (uint32_t)i);
	for (i = 0; i < g->region_count; i++)
		if (g->regions[i].item == GRAIN_NONE)
			link_team(r, (uint32_t)i);
	link_dependences(r);
	return r->error;
}

int grain_reduced__new(const struct grain_graph *graph, struct grain_reduced **out)
{
	struct reducer r = {.graph = graph};
	int error;

	r.out = calloc(1, sizeof *r.out);
	if (!r.out)
		return -ENOMEM;
	r.out->graph = graph;
	error = reduce(&r);
	free(r.node_of);
	free(r.tail);
	free(r.region_node);
	free(r.region_end);
	free(r.fork_node);
	free(r.fork_owner);
	free(r.chained);
	free(r.team_edge);
	if (error < 0) {
		grain_reduced__free(r.out);
		return error;
	}
	*out = r.out;
	return 0;
}

void grain_reduced__free(struct grain_reduced *reduced)
{
	if (!reduced)
		return;
	free(reduced->nodes);
	free(reduced->edges);
	free(reduced->items);
	free(reduced);
}

size_t grain_reduced__node_count(const struct grain_reduced *reduced)
{
	return reduced->node_count;
}

void grain_reduced__node(const struct grain_reduced *reduced, uint32_t node, struct grain_reduced_node *out)
{
	const struct reduced_node *n = &reduced->nodes[node];

	*out = (struct grain_reduced_node){
		.kind = n->kind,
		.context = n->context,
		.join = n->join,
		.region = n->region,
		.loop = n->loop,
		.members = n[1].first_member - n->first_member,
		.sum_ns = n->sum_ns,
		.min_ns = n->min_ns,
		.max_ns = n->max_ns,
		.critical = n->critical,
	};
}

uint32_t grain_reduced__item(const struct grain_reduced *reduced, uint32_t node, uint32_t index)
{
	return reduced->items[reduced->nodes[node].first_member + index];
}

size_t grain_reduced__edge_count(const struct grain_reduced *reduced)
{
	return reduced->edge_count;
}

void grain_reduced__edge(const struct grain_reduced *reduced, size_t index, struct grain_reduced_edge *out)
{
	const struct reduced_edge *e = &reduced->edges[index];

	*out = (struct grain_reduced_edge){.kind = e->kind,
					   .from = e->from,
					   .to = e->to,
					   .critical = e->critical};
}
