/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small graph once more, by the most obvious means, from what grain.h shows
 * of contexts, items, joins, regions and dependences: explicit nodes and edges
 * (PPOPP16 section 3.1), all paths by relaxing until nothing changes, all pairs
 * of siblings, all fragments at all times. Time grows with the square of the
 * graph or worse.
 */
#ifndef GRAIND_TESTS_BRUTE_FORCE_H
#define GRAIND_TESTS_BRUTE_FORCE_H

#include "analysis/include/grain.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

enum brute_kind {
	BRUTE_FRAGMENT,
	BRUTE_FORK,
	BRUTE_BOOKKEEPING,
	BRUTE_JOIN,	    /* shared by all that wait in it */
	BRUTE_REGION_BEGIN, /* forks the team */
	BRUTE_REGION_END,
	BRUTE_NOTHING, /* a task that never ran */
};

struct brute_node {
	enum brute_kind kind;
	uint32_t context; /* of a fork, fragment, book-keeping, nothing */
	uint32_t ref;	  /* item, join or region */
	uint32_t number;  /* among the items of its context */
	uint64_t weight, burdened;
	bool critical;
};

struct brute_edge {
	uint32_t from, to;
	const char *kind; /* "creation", "continuation", "synchronization", "dependence" */
};

struct brute {
	const struct grain_graph *graph;
	struct grain_context *contexts;
	size_t context_count;
	struct brute_node *nodes;
	uint32_t node_count;
	struct brute_edge *edges;
	uint32_t edge_count;
	uint32_t *join, *region_begin, *region_end; /* nodes */
	uint32_t *first, *last;			    /* nodes, per context */
	/* Of each node: the heaviest path to its end, and from its beginning on. */
	uint64_t *to, *from, *burdened;
	bool cyclic;
};

static inline uint32_t brute_add_node(struct brute *b, struct brute_node node)
{
	b->nodes = reallocarray(b->nodes, b->node_count + 1, sizeof(*b->nodes));
	if (!b->nodes)
		abort();
	b->nodes[b->node_count] = node;
	return b->node_count++;
}

static inline void brute_add_edge(struct brute *b, uint32_t from, uint32_t to, const char *kind)
{
	for (uint32_t i = 0; i < b->edge_count; i++)
		if (b->edges[i].from == from && b->edges[i].to == to)
			return;
	if (from == to)
		return;
	b->edges = reallocarray(b->edges, b->edge_count + 1, sizeof(*b->edges));
	if (!b->edges)
		abort();
	b->edges[b->edge_count++] = (struct brute_edge){from, to, kind};
}

/* The time from the region's begin to that of member 0 inside it. */
static inline uint64_t brute_team_cost(const struct brute *b, const struct grain_item *item)
{
	struct grain_region region;
	const struct grain_context *c;
	uint32_t member;

	grain_graph__region(b->graph, item->ref, &region);
	member = region.threads ? grain_graph__member(b->graph, region.first_member) : GRAIN_NONE;
	if (member == GRAIN_NONE)
		return 0;
	c = &b->contexts[member];
	return c->start_ns < item->start_ns || c->start_ns > item->end_ns ? 0 : c->start_ns - item->start_ns;
}

static inline void brute_nodes(struct brute *b)
{
	size_t joins = grain_graph__join_count(b->graph), regions = grain_graph__region_count(b->graph);

	b->join = calloc(joins + 1, sizeof(*b->join));
	b->region_begin = calloc(regions + 1, sizeof(*b->region_begin));
	b->region_end = calloc(regions + 1, sizeof(*b->region_end));
	for (uint32_t i = 0; i < joins; i++) {
		struct grain_join j;

		grain_graph__join(b->graph, i, &j);
		b->join[i] = brute_add_node(b, (struct brute_node){.kind = BRUTE_JOIN,
								   .ref = i,
								   .critical = j.critical});
	}
	for (uint32_t i = 0; i < regions; i++) {
		b->region_begin[i] =
			brute_add_node(b, (struct brute_node){.kind = BRUTE_REGION_BEGIN, .ref = i});
		b->region_end[i] = brute_add_node(b, (struct brute_node){.kind = BRUTE_REGION_END, .ref = i});
	}
}

/* Goes through a context's items in order; chunks are gone through where they stand. */
static inline void brute_walk(struct brute *b, uint32_t context, uint32_t *at)
{
	const struct grain_context *c = &b->contexts[context];

	b->first[context] = GRAIN_NONE;
	for (uint32_t i = 0; i < c->item_count; i++) {
		struct grain_item item;
		uint32_t node = GRAIN_NONE, after;

		grain_graph__item(b->graph, c->first_item + i, &item);
		if (item.kind == GRAIN_CHUNK_ITEM) {
			/* One level only: what a chunk holds is its own context's. */
			uint32_t before = *at;

			brute_walk(b, item.ref, at);
			node = b->first[item.ref];
			after = b->last[item.ref];
			if (before != GRAIN_NONE)
				brute_add_edge(b, before, node, "continuation");
			if (b->first[context] == GRAIN_NONE)
				b->first[context] = node;
			*at = after;
			continue;
		}
		switch (item.kind) {
		case GRAIN_JOIN:
			node = after = b->join[item.ref];
			break;
		case GRAIN_REGION:
			node = b->region_begin[item.ref];
			after = b->region_end[item.ref];
			b->nodes[node].burdened = brute_team_cost(b, &item);
			break;
		default:
			node = after = brute_add_node(
				b,
				(struct brute_node){.kind = item.kind == GRAIN_FRAGMENT ? BRUTE_FRAGMENT
							    : item.kind == GRAIN_FORK	? BRUTE_FORK
											: BRUTE_BOOKKEEPING,
						    .context = context,
						    .ref = c->first_item + i,
						    .number = i,
						    .weight = item.kind == GRAIN_FRAGMENT ? item.own_ns : 0,
						    .burdened = item.own_ns,
						    .critical = item.critical});
			break;
		}
		/* A thread's last book-keeping is what the loop's join synchronizes. */
		if (*at != GRAIN_NONE)
			brute_add_edge(b, *at, node,
				       item.kind == GRAIN_JOIN && b->nodes[*at].kind == BRUTE_BOOKKEEPING
					       ? "synchronization"
					       : "continuation");
		if (b->first[context] == GRAIN_NONE)
			b->first[context] = node;
		*at = after;
	}
	if (b->first[context] == GRAIN_NONE)
		*at = b->first[context] =
			brute_add_node(b, (struct brute_node){.kind = BRUTE_NOTHING, .context = context});
	b->last[context] = *at;
}

static inline void brute_edges(struct brute *b)
{
	for (uint32_t i = 0; i < b->context_count; i++) {
		uint32_t at = GRAIN_NONE;

		if (b->contexts[i].kind != GRAIN_CHUNK)
			brute_walk(b, i, &at);
	}
	for (uint32_t n = 0; n < b->node_count; n++) {
		struct grain_item item;

		if (b->nodes[n].kind != BRUTE_FORK)
			continue;
		grain_graph__item(b->graph, b->nodes[n].ref, &item);
		brute_add_edge(b, n, b->first[item.ref], "creation");
	}
	for (uint32_t i = 0; i < b->context_count; i++) {
		const struct grain_context *c = &b->contexts[i];

		if (c->kind == GRAIN_TASK && c->join != GRAIN_NONE)
			brute_add_edge(b, b->last[i], b->join[c->join], "synchronization");
		if (c->kind == GRAIN_IMPLICIT && c->region != GRAIN_NONE) {
			brute_add_edge(b, b->region_begin[c->region], b->first[i], "creation");
			brute_add_edge(b, b->last[i], b->region_end[c->region], "synchronization");
		}
	}
	for (size_t i = 0; i < grain_graph__dependence_count(b->graph); i++) {
		struct grain_dependence d;

		grain_graph__dependence(b->graph, i, &d);
		brute_add_edge(b, b->last[d.from], d.to == GRAIN_NONE ? b->join[d.join] : b->first[d.to],
			       "dependence");
	}
}

/* dist[n]: the heaviest path that ends with n, over nodes with inside[n] (NULL: all). */
static inline bool brute_relax(const struct brute *b, const bool *inside, bool burdened, bool backwards,
			       uint64_t *dist)
{
	bool changed = true;

	for (uint32_t n = 0; n < b->node_count; n++)
		dist[n] = burdened ? b->nodes[n].burdened : b->nodes[n].weight;
	for (uint32_t round = 0; changed; round++) {
		if (round > b->node_count)
			return false;
		changed = false;
		for (uint32_t i = 0; i < b->edge_count; i++) {
			uint32_t from = backwards ? b->edges[i].to : b->edges[i].from,
				 to = backwards ? b->edges[i].from : b->edges[i].to;
			uint64_t own = burdened ? b->nodes[to].burdened : b->nodes[to].weight;

			if ((inside && !(inside[from] && inside[to])) || dist[from] + own <= dist[to])
				continue;
			dist[to] = dist[from] + own;
			changed = true;
		}
	}
	return true;
}

static inline struct brute *brute_new(const struct grain_graph *graph)
{
	struct brute *b = calloc(1, sizeof(*b));

	b->graph = graph;
	b->context_count = grain_graph__context_count(graph);
	b->contexts = calloc(b->context_count + 1, sizeof(*b->contexts));
	b->first = calloc(b->context_count + 1, sizeof(*b->first));
	b->last = calloc(b->context_count + 1, sizeof(*b->last));
	for (uint32_t i = 0; i < b->context_count; i++)
		grain_graph__context(graph, i, &b->contexts[i]);
	brute_nodes(b);
	brute_edges(b);
	b->to = calloc(b->node_count + 1, sizeof(*b->to));
	b->from = calloc(b->node_count + 1, sizeof(*b->from));
	b->burdened = calloc(b->node_count + 1, sizeof(*b->burdened));
	b->cyclic = !brute_relax(b, NULL, false, false, b->to) ||
		    !brute_relax(b, NULL, false, true, b->from) ||
		    !brute_relax(b, NULL, true, false, b->burdened);
	return b;
}

static inline void brute_free(struct brute *b)
{
	free(b->contexts);
	free(b->nodes);
	free(b->edges);
	free(b->join);
	free(b->region_begin);
	free(b->region_end);
	free(b->first);
	free(b->last);
	free(b->to);
	free(b->from);
	free(b->burdened);
	free(b);
}

static inline uint64_t brute_largest(const uint64_t *values, uint32_t n)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	return most;
}

static inline uint64_t brute_span(const struct brute *b)
{
	return brute_largest(b->to, b->node_count);
}

static inline uint64_t brute_burdened_span(const struct brute *b)
{
	return brute_largest(b->burdened, b->node_count);
}

/* Whether what is marked as critical is one heaviest path. */
static inline bool brute_critical_is_heaviest(const struct brute *b)
{
	uint64_t span = brute_span(b), sum = 0;

	for (uint32_t n = 0; n < b->node_count; n++) {
		if (!b->nodes[n].critical)
			continue;
		sum += b->nodes[n].weight;
		if (b->to[n] + b->from[n] - b->nodes[n].weight != span)
			return false;
	}
	return sum == span;
}

static inline bool brute_is_inside(const struct brute *b, uint32_t context, uint32_t ancestor)
{
	while (context != GRAIN_NONE && context != ancestor)
		context = b->contexts[context].parent;
	return context == ancestor;
}

/* The heaviest path through the context and its descendants. */
static inline uint64_t brute_own_span(const struct brute *b, uint32_t context)
{
	bool *inside = calloc(b->node_count + 1, sizeof(*inside));
	uint64_t *dist = calloc(b->node_count + 1, sizeof(*dist)), most = 0;

	for (uint32_t i = 0; i < b->context_count; i++) {
		const struct grain_context *c = &b->contexts[i];

		if (!brute_is_inside(b, i, context))
			continue;
		inside[b->first[i]] = inside[b->last[i]] = true;
		for (uint32_t k = 0; k < c->item_count; k++) {
			struct grain_item item;

			grain_graph__item(b->graph, c->first_item + k, &item);
			if (item.kind == GRAIN_JOIN)
				inside[b->join[item.ref]] = true;
			else if (item.kind == GRAIN_REGION)
				inside[b->region_begin[item.ref]] = inside[b->region_end[item.ref]] = true;
		}
	}
	for (uint32_t n = 0; n < b->node_count; n++)
		if (b->nodes[n].kind <= BRUTE_BOOKKEEPING && brute_is_inside(b, b->nodes[n].context, context))
			inside[n] = true;
	brute_relax(b, inside, false, false, dist);
	for (uint32_t n = 0; n < b->node_count; n++)
		if (inside[n] && dist[n] > most)
			most = dist[n];
	free(inside);
	free(dist);
	return most;
}

/* "0.p0.0:f1" for the item 1 of a context, "0.p0.0/j0", "0.p0:begin". */
static inline void brute_name(const struct brute *b, uint32_t node, char *name, size_t size)
{
	const struct brute_node *n = &b->nodes[node];
	char id[256];

	if (n->kind == BRUTE_JOIN) {
		grain_graph__join_id(b->graph, n->ref, name, size);
	} else if (n->kind == BRUTE_REGION_BEGIN || n->kind == BRUTE_REGION_END) {
		grain_graph__region_id(b->graph, n->ref, id, sizeof(id));
		snprintf(name, size, "%s:%s", id, n->kind == BRUTE_REGION_BEGIN ? "begin" : "end");
	} else {
		grain_graph__context_id(b->graph, n->context, id, sizeof(id));
		if (n->kind == BRUTE_NOTHING)
			snprintf(name, size, "%s:nothing", id);
		else
			snprintf(name, size, "%s:%c%u", id, "fkb"[n->kind], n -> number);
	}
}

static inline int brute_compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every node with its weight and every edge, a line each, sorted; to be freed. */
static inline char *brute_text(const struct brute *b)
{
	size_t count = b->node_count + b->edge_count, size;
	char **lines = calloc(count + 1, sizeof(*lines)), *text = NULL, from[300], to[300];
	FILE *f = open_memstream(&text, &size);

	for (uint32_t i = 0; i < b->node_count; i++) {
		const struct brute_node *n = &b->nodes[i];

		brute_name(b, i, from, sizeof(from));
		if (asprintf(&lines[i], "%s%s %llu", n->critical ? "critical " : "", from,
			     (unsigned long long)(n->kind == BRUTE_FORK || n->kind == BRUTE_BOOKKEEPING
							  ? n->burdened
							  : n->weight)) < 0)
			abort();
	}
	for (uint32_t i = 0; i < b->edge_count; i++) {
		brute_name(b, b->edges[i].from, from, sizeof(from));
		brute_name(b, b->edges[i].to, to, sizeof(to));
		if (asprintf(&lines[b->node_count + i], "%s %s > %s", b->edges[i].kind, from, to) < 0)
			abort();
	}
	qsort(lines, count, sizeof(*lines), brute_compare_text);
	for (size_t i = 0; i < count; i++) {
		fprintf(f, "%s\n", lines[i]);
		free(lines[i]);
	}
	fclose(f);
	free(lines);
	return text;
}

/* The graph has exactly these nodes and edges, given in any order. */
static inline void check_whole_graph(const struct grain_graph *g, const char *name,
				     const char *const *expected, size_t count)
{
	struct brute *b = brute_new(g);
	char *text = brute_text(b), *all = NULL;
	char **lines = calloc(count + 1, sizeof(*lines));
	size_t size;
	FILE *f = open_memstream(&all, &size);

	memcpy(lines, expected, count * sizeof(*lines));
	qsort(lines, count, sizeof(*lines), brute_compare_text);
	for (size_t i = 0; i < count; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	CHECK_STR(text, all, "%s: every node and every edge", name);
	CHECK(!b->cyclic && brute_critical_is_heaviest(b), "%s: acyclic; what is critical is heaviest", name);
	free(all);
	free(lines);
	free(text);
	brute_free(b);
}
#define CHECK_WHOLE_GRAPH(g, name, expected)                                                                 \
	check_whole_graph(g, name, expected, sizeof(expected) / sizeof *(expected))

#endif
