/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of sibling groups (same parent, same join): parallel benefit, load balance, scatter. */
#include "analysis/graph/graph.h"
#include "analysis/metrics/metrics.h"

#include <math.h>
#include <stdlib.h>

/*
 * Prefetch distances. NEAR and FAR are in contexts (for a parent, and for an owner of items); the last one is
 * a number of items.
 */
#define NEAR 16
#define FAR 12
#define ITEMS 6

struct sibling {
	uint32_t join, context;
};

/* One parent's wait in one join. Valid only while `parent` is the present parent. */
struct wait {
	uint64_t ns;
	uint32_t parent;
	bool unclosed;
};

struct siblings {
	struct grain_graph *graph;
	uint64_t *span;	      /* per context: length of the heaviest path in it and its descendants */
	struct wait *waits;   /* per join */
	struct sibling *list; /* children of the present parent */
	uint64_t *values;
	struct scatter *scatter; /* NULL: absent */
	struct adopted *adopted; /* sorted */
	size_t adopted_count;
};

/* A task that the runtime's own task created for `parent`. */
struct adopted {
	uint32_t parent, context;
};

static int by_join(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->join != y->join)
		return x->join < y->join ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

/*
 * For each context, finds the heaviest path in it and its descendants. Children have larger indices than
 * their parents, so one pass from the last context to the first is enough. Returns the largest number of
 * children of one context. `count` gets the number of children of each context.
 */
static size_t find_spans(struct siblings *s, uint32_t *count)
{
	struct grain_graph *g = s->graph;
	size_t i, largest = 0;

	for (i = g->context_count; i-- > 0;) {
		struct context *c = &g->contexts[i];
		uint32_t parent = c->parent,
			 family = g->totals.runtime_tasks ? context__parent(g, c) : parent;

		if (i >= NEAR && g->contexts[i - NEAR].parent != GRAIN_NONE) {
			__builtin_prefetch(&s->span[g->contexts[i - NEAR].parent], 1);
			__builtin_prefetch(&count[g->contexts[i - NEAR].parent], 1);
		}
		c->cost_ns = c->load_balance = NAN;
		if (s->span[i] < g->path_end[i])
			s->span[i] = g->path_end[i];
		if (parent != GRAIN_NONE && s->span[parent] < s->span[i])
			s->span[parent] = s->span[i];
		s->span[i] -= g->path_start[i];
		if (c->kind == GRAIN_TASK && family != GRAIN_NONE && ++count[family] > largest)
			largest = count[family];
	}
	return largest;
}

static void measure_benefit(struct siblings *s, const struct sibling *group, size_t n, uint32_t parent)
{
	struct grain_graph *g = s->graph;
	const struct wait *wait = &s->waits[group->join];
	double share = 0;
	size_t i;

	if (wait->parent == parent) {
		if (wait->unclosed)
			return;
		share = (double)wait->ns / (double)n;
	}
	for (i = 0; i < n; i++) {
		struct context *c = &g->contexts[group[i].context];
		double cost = (double)c->create_ns + share;

		if (!(c->flags & CONTEXT_INCOMPLETE))
			c->cost_ns = cost;
	}
}

static void measure_balance(struct siblings *s, const struct sibling *group, size_t n)
{
	struct grain_graph *g = s->graph;
	uint64_t longest = 0;
	double middle, balance;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct context *c = &g->contexts[group[i].context];

		if (c->flags & CONTEXT_INCOMPLETE)
			return;
		if (c->exec_ns > longest)
			longest = c->exec_ns;
		s->values[i] = s->span[group[i].context];
	}
	middle = metrics__median(s->values, n);
	if (middle == 0)
		return;
	balance = (double)longest / middle;
	for (i = 0; i < n; i++)
		g->contexts[group[i].context].load_balance = balance;
}

/*
 * Adds the time that the longest sibling takes beyond the mean, if that sibling is on the critical path. A
 * recursive construct counts once, at its outermost level.
 */
static void measure_excess(struct siblings *s, const struct sibling *group, size_t n, uint32_t parent)
{
	struct grain_graph *g = s->graph;
	uint32_t longest = group->context, definition;
	struct imbalance *im;
	double sum = 0, excess;
	size_t i;

	for (i = 0; i < n; i++) {
		if (g->contexts[group[i].context].flags & CONTEXT_INCOMPLETE)
			return;
		sum += (double)s->span[group[i].context];
		if (s->span[group[i].context] > s->span[longest])
			longest = group[i].context;
	}
	definition = g->contexts[longest].definition;
	if (!(g->contexts[longest].flags & CONTEXT_CRITICAL) ||
	    (g->contexts[parent].kind == GRAIN_TASK && g->contexts[parent].definition == definition))
		return;
	im = &g->imbalance[definition == GRAIN_NONE ? g->definition_count : definition];
	excess = (double)s->span[longest] - sum / (double)n;
	if (excess > im->longest_ns - im->mean_ns) {
		im->longest_ns = (double)s->span[longest];
		im->mean_ns = sum / (double)n;
		im->members = (uint32_t)n;
		im->worst = longest;
	}
	im->excess_ns += excess;
}

static void measure_scatter(struct siblings *s, const struct sibling *group, size_t n)
{
	struct grain_graph *g = s->graph;
	double scatter;
	size_t i;

	if (!s->scatter || n < 2)
		return;
	scatter__start(s->scatter);
	for (i = 0; i < n; i++)
		scatter__add(s->scatter, &g->contexts[group[i].context]);
	scatter = scatter__median(s->scatter);
	for (i = 0; i < n; i++)
		g->scatters[group[i].context] = scatter;
}

static void measure_group(struct siblings *s, const struct sibling *group, size_t n, uint32_t parent)
{
	if (group->join == GRAIN_NONE)
		return;
	measure_benefit(s, group, n, parent);
	measure_balance(s, group, n);
	measure_excess(s, group, n, parent);
	measure_scatter(s, group, n);
}

static bool add_sibling(struct siblings *s, size_t *n, uint32_t context)
{
	const struct context *c = &s->graph->contexts[context];
	bool sorted = !*n || c->join >= s->list[*n - 1].join;

	if (c->flags & (CONTEXT_SPLIT | CONTEXT_DISCARDED))
		return true;
	s->list[(*n)++] = (struct sibling){.join = c->join, .context = context};
	return sorted;
}

static int by_parent(const void *a, const void *b)
{
	const struct adopted *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

static int find_adopted(struct siblings *s)
{
	struct grain_graph *g = s->graph;
	size_t i, n = 0;
	int error;

	if (!g->totals.runtime_tasks)
		return 0;
	for (i = 0; i < g->context_count; i++)
		s->adopted_count += g->contexts[i].parent != context__parent(g, &g->contexts[i]);
	error = memory__array(&g->memory, s->adopted_count, sizeof *s->adopted, (void **)&s->adopted);
	if (error < 0)
		return error;
	for (i = 0; i < g->context_count; i++) {
		uint32_t parent = context__parent(g, &g->contexts[i]);

		if (g->contexts[i].parent != parent)
			s->adopted[n++] = (struct adopted){.parent = parent, .context = (uint32_t)i};
	}
	qsort(s->adopted, n, sizeof *s->adopted, by_parent);
	return 0;
}

/* Returns the first adopted task of `parent`, or of a later parent. */
static size_t first_adopted(const struct siblings *s, uint32_t parent)
{
	size_t low = 0, high = s->adopted_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->adopted[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void measure_children(struct siblings *s, uint32_t parent)
{
	struct grain_graph *g = s->graph;
	const struct context *p = &g->contexts[parent];
	size_t i, n = 0, begin = 0;
	bool sorted = true;

	for (i = p->first_item; i < (size_t)p->first_item + p->item_count; i++) {
		const struct item *item = &g->items[i];

		if (item->kind == GRAIN_FORK) {
			sorted &= add_sibling(s, &n, item->ref);
		} else if (item->kind == GRAIN_JOIN) {
			struct wait *wait = &s->waits[item->ref];

			if (wait->parent != parent)
				*wait = (struct wait){.parent = parent};
			wait->ns += item->own_ns;
			wait->unclosed |=
				item->flags & ITEM_UNCLOSED || g->joins[item->ref].flags & JOIN_UNCLOSED;
		}
	}
	for (i = first_adopted(s, parent); i < s->adopted_count && s->adopted[i].parent == parent; i++)
		if (g->contexts[s->adopted[i].context].kind == GRAIN_TASK)
			sorted &= add_sibling(s, &n, s->adopted[i].context);
	if (!sorted)
		qsort(s->list, n, sizeof *s->list, by_join);
	for (i = 1; i <= n; i++) {
		if (i < n && s->list[i].join == s->list[begin].join)
			continue;
		measure_group(s, &s->list[begin], i - begin, parent);
		begin = i;
	}
}

/* Prefetches the data of a parent's children. */
static void fetch_family(const struct siblings *s, uint32_t parent)
{
	const struct grain_graph *g = s->graph;
	const struct context *p = &g->contexts[parent];
	uint32_t i, n = p->item_count < ITEMS ? p->item_count : ITEMS;

	if (p->flags & CONTEXT_LEAF)
		return;
	for (i = 0; i < n; i++) {
		const struct item *item = &g->items[p->first_item + i];

		if (item->kind == GRAIN_FORK) {
			__builtin_prefetch(&g->contexts[item->ref].flags);
			__builtin_prefetch(&g->contexts[item->ref].exec_ns);
			__builtin_prefetch(&g->contexts[item->ref].load_balance, 1);
			__builtin_prefetch(&s->span[item->ref]);
		} else if (item->kind == GRAIN_JOIN) {
			__builtin_prefetch(&s->waits[item->ref], 1);
		}
	}
}

static void measure_all(struct siblings *s)
{
	const struct grain_graph *g = s->graph;
	size_t i;

	for (i = 0; i < g->join_count; i++)
		s->waits[i].parent = GRAIN_NONE;
	for (i = 0; g->scatters && i < g->context_count; i++)
		g->scatters[i] = NAN;
	for (i = 0; i < g->context_count; i++) {
		if (i + FAR < g->context_count)
			fetch_family(s, (uint32_t)(i + FAR));
		if (!(g->contexts[i].flags & (CONTEXT_LEAF | CONTEXT_SPLIT)))
			measure_children(s, (uint32_t)i);
	}
}

int graph__measure_siblings(struct grain_graph *graph)
{
	struct siblings s = {.graph = graph};
	uint32_t *count = NULL;
	size_t n = graph->context_count, family = 0;
	int error;

	error = memory__array(&graph->memory, graph->definition_count + 1, sizeof *graph->imbalance,
			      (void **)&graph->imbalance);
	if (error == 0)
		error = memory__array(&graph->memory, n, sizeof *count, (void **)&count);
	if (error == 0)
		error = memory__array(&graph->memory, n, sizeof *s.span, (void **)&s.span);
	if (error == 0)
		family = find_spans(&s, count);
	memory__release(&graph->memory, (void **)&count, n, sizeof *count);
	if (error == 0)
		error = memory__array(&graph->memory, graph->join_count, sizeof *s.waits, (void **)&s.waits);
	if (error == 0)
		error = memory__array(&graph->memory, family, sizeof *s.list, (void **)&s.list);
	if (error == 0)
		error = memory__array(&graph->memory, family, sizeof *s.values, (void **)&s.values);
	if (error == 0)
		error = scatter__new(graph, family, &s.scatter);
	if (error == 0 && s.scatter)
		error = memory__array(&graph->memory, n, sizeof *graph->scatters, (void **)&graph->scatters);
	if (error == 0)
		error = find_adopted(&s);
	if (error == 0)
		measure_all(&s);
	memory__release(&graph->memory, (void **)&s.span, n, sizeof *s.span);
	memory__release(&graph->memory, (void **)&s.waits, graph->join_count, sizeof *s.waits);
	memory__release(&graph->memory, (void **)&s.list, family, sizeof *s.list);
	memory__release(&graph->memory, (void **)&s.values, family, sizeof *s.values);
	scatter__free(graph, s.scatter);
	memory__release(&graph->memory, (void **)&s.adopted, s.adopted_count, sizeof *s.adopted);
	return error;
}
