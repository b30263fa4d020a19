/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the tree. It grows from its roots. Each step opens the node with the most execution time below it,
 * as long as the drawing stays within its limits. Each node is looked at once, so apart from sorting this
 * takes linear time.
 */
#include "render/scene/tree_builder.h"
#include "render/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limits when folding: siblings shown for one join, joins shown of one context, levels, nodes for each group.
 */
#define FOLD_SIBLINGS 24
#define FOLD_JOINS 16
#define FOLD_LEVELS 40
#define FOLD_NODES_PER_GROUP 25
#define FOLD_GROUPS_MIN 12
/* Members are idle if they compute less than 1 / IDLE_SHARE of their region's time. */
#define IDLE_SHARE 50

/* ---- nodes ------------------------------------------------------------ */

static const struct tree_sum *sum_of(const struct tree_builder *b, const struct tree_child *child)
{
	return child->is_region ? &b->region_sums[child->index] : &b->sums[child->index];
}

static struct tree_node *add_node(struct tree_builder *b, enum tree_kind kind, uint32_t context)
{
	struct tree *t = b->tree;

	if (t->node_count >= GRAIN_NONE ||
	    !array__reserve((void **)&t->nodes, &t->node_capacity, t->node_count, sizeof(*t->nodes)))
		return NULL;
	t->nodes[t->node_count] =
		(struct tree_node){.kind = kind, .context = context, .join = GRAIN_NONE, .members = 1};
	return &t->nodes[t->node_count++];
}

static void describe(const struct tree_builder *b, struct tree_node *node)
{
	struct outline_walk walk;
	struct grain_item item;
	struct grain_context c;
	bool any = false;

	grain_graph__context(b->outline->graph, node->context, &c);
	node->join = c.join;
	node->undeferred = c.undeferred;
	outline_walk__start(&walk, b->outline, node->context);
	while (outline_walk__next(&walk, &item)) {
		if (item.kind != GRAIN_FRAGMENT)
			continue;
		if (!any)
			node->head_critical = item.critical;
		any = true;
		node->tail_critical = item.critical;
	}
}

static bool add_single(struct tree_builder *b, const struct tree_child *child)
{
	struct tree_node *node;

	if (child->is_region) {
		node = add_node(b, TREE_NOWHERE, child->index);
		if (node)
			node->sum = b->region_sums[child->index];
		return node != NULL;
	}
	node = add_node(b, b->has_below[child->index] ? TREE_GROUP : TREE_CONTEXT, child->index);
	if (!node)
		return false;
	node->sum = b->sums[child->index];
	node->own_ns = node->sum.exec_ns;
	describe(b, node);
	return true;
}

static bool is_idle(const struct tree_builder *b, const struct tree_phase *phase,
		    const struct tree_child *child)
{
	struct grain_region region;

	if (phase->region == GRAIN_NONE || b->has_below[child->index])
		return false;
	grain_graph__region(b->outline->graph, phase->region, &region);
	return b->sums[child->index].exec_ns < (region.end_ns - region.start_ns) / IDLE_SHARE;
}

struct ranked {
	uint64_t weight;
	uint32_t position;
};

static int heaviest_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static int by_position(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->position < y->position ? -1 : x->position > y->position;
}

/*
 * Adds the heaviest of `count` siblings as nodes, in their order, and all others as one group. Returns false
 * if out of memory.
 */
static bool add_heaviest(struct tree_builder *b, const struct tree_child *children, size_t count)
{
	size_t keep = b->max_siblings - 1;
	struct ranked *ranked = malloc(count * sizeof(*ranked));
	struct tree_node *rest;
	bool ok = ranked != NULL;

	for (size_t i = 0; ok && i < count; i++) {
		const struct tree_sum *sum = sum_of(b, &children[i]);

		ranked[i] = (struct ranked){sum->critical ? UINT64_MAX : sum->exec_ns, (uint32_t)i};
	}
	if (ok) {
		qsort(ranked, count, sizeof(*ranked), heaviest_first);
		qsort(ranked, keep, sizeof(*ranked), by_position);
	}
	for (size_t i = 0; ok && i < keep; i++)
		ok = add_single(b, &children[ranked[i].position]);
	if (ok) {
		const struct tree_child *first = &children[ranked[keep].position];

		rest = add_node(b, TREE_GROUP, first->is_region ? GRAIN_NONE : first->index);
		ok = rest != NULL;
		if (ok) {
			struct grain_context c;

			rest->members = (uint32_t)(count - keep);
			for (size_t i = keep; i < count; i++)
				tree_sum__add(&rest->sum, sum_of(b, &children[ranked[i].position]));
			if (!first->is_region) {
				grain_graph__context(b->outline->graph, first->index, &c);
				rest->join = c.join;
			}
		}
	}
	free(ranked);
	return ok;
}

/*
 * Adds the nodes of one phase. The sorted children become indices in the tree. Returns false if out of
 * memory.
 */
static bool add_children(struct tree_builder *b, struct tree_phase *phase)
{
	struct tree_child *children = b->sorted + phase->first_child;
	uint32_t first = (uint32_t)b->tree->node_count;
	size_t count = phase->child_count, active = 0;
	struct tree_sum idle = {0};
	uint32_t idle_context = GRAIN_NONE, idle_count = 0;

	for (size_t i = 0; i < count; i++) {
		if (is_idle(b, phase, &children[i])) {
			tree_sum__add(&idle, &b->sums[children[i].index]);
			idle_context = children[i].index;
			idle_count++;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (idle_count < 2 || !is_idle(b, phase, &children[i]))
			children[active++] = children[i];
	if (active > b->max_siblings) {
		if (!add_heaviest(b, children, active))
			return false;
	} else {
		for (size_t i = 0; i < active; i++)
			if (!add_single(b, &children[i]))
				return false;
	}
	if (idle_count >= 2) {
		struct tree_node *node = add_node(b, TREE_IDLE, idle_context);

		if (!node)
			return false;
		idle.critical = false;
		node->sum = idle;
		node->own_ns = idle.exec_ns;
		node->members = idle_count;
		node->join = phase->join;
	}
	phase->first_child = first;
	phase->child_count = (uint32_t)b->tree->node_count - first;
	return true;
}

/* ---- growing ---------------------------------------------------------- */

static bool heap_add(struct tree_builder *b, uint32_t node)
{
	const struct tree_node *nodes = b->tree->nodes;
	size_t i = b->heap_count;

	if (!array__reserve((void **)&b->heap, &b->heap_capacity, i, sizeof(*b->heap)))
		return false;
	for (b->heap_count++; i && nodes[b->heap[(i - 1) / 2]].sum.exec_ns < nodes[node].sum.exec_ns;
	     i = (i - 1) / 2)
		b->heap[i] = b->heap[(i - 1) / 2];
	b->heap[i] = node;
	return true;
}

static uint32_t heap_take(struct tree_builder *b)
{
	const struct tree_node *nodes = b->tree->nodes;
	uint32_t top = b->heap[0], last = b->heap[--b->heap_count];
	size_t i = 0;

	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= b->heap_count)
			break;
		if (c + 1 < b->heap_count &&
		    nodes[b->heap[c + 1]].sum.exec_ns > nodes[b->heap[c]].sum.exec_ns)
			c++;
		if (nodes[b->heap[c]].sum.exec_ns <= nodes[last].sum.exec_ns)
			break;
		b->heap[i] = b->heap[c];
		i = c;
	}
	b->heap[i] = last;
	return top;
}

static bool can_open(const struct tree_node *node)
{
	return node->kind == TREE_NOWHERE || (node->kind == TREE_GROUP && node->members == 1);
}

/* Opens one node, or leaves it closed if it would draw too much. Returns false if out of memory. */
static bool open_node(struct tree_builder *b, uint32_t index)
{
	struct tree *t = b->tree;
	size_t nodes = t->node_count, groups = t->groups, drawn = t->drawn;
	bool nowhere = t->nodes[index].kind == TREE_NOWHERE, merged = false;
	uint32_t context = t->nodes[index].context, level = t->nodes[index].level;

	if (level >= b->max_levels) {
		t->folded = true;
		return true;
	}
	if (!tree_build__gather(b, context, nowhere) ||
	    !array__reserve((void **)&t->phases, &t->phase_capacity, t->phase_count + b->phase_count,
			    sizeof(*t->phases)))
		return false;
	for (size_t i = 0; i < b->phase_count; i++) {
		merged |= b->phases[i].merged > 1;
		if (!add_children(b, &b->phases[i]))
			return false;
	}
	drawn += t->node_count - nodes + 2 * b->phase_count;
	groups -= !nowhere;
	for (size_t i = nodes; i < t->node_count; i++)
		groups += t->nodes[i].kind == TREE_GROUP;
	if (drawn > b->max_nodes || groups > b->max_groups) {
		t->node_count = nodes;
		t->folded = true;
		return true;
	}
	t->nodes[index].first_phase = (uint32_t)t->phase_count;
	t->nodes[index].phase_count = (uint32_t)b->phase_count;
	memcpy(t->phases + t->phase_count, b->phases, b->phase_count * sizeof(*b->phases));
	t->phase_count += b->phase_count;
	t->drawn = drawn;
	t->groups = groups;
	t->folded |= merged;
	if (!nowhere) {
		t->nodes[index].kind = TREE_CONTEXT;
		t->nodes[index].sum = (struct tree_sum){0};
		tree_build__add_context(b, &t->nodes[index].sum, context);
		t->nodes[index].own_ns = t->nodes[index].sum.exec_ns;
	}
	for (size_t i = nodes; i < t->node_count; i++) {
		t->nodes[i].level = level + 1;
		t->folded |= t->nodes[i].kind == TREE_GROUP && t->nodes[i].members > 1;
		if (can_open(&t->nodes[i]) && !heap_add(b, (uint32_t)i))
			return false;
	}
	return true;
}

static bool grow(struct tree_builder *b)
{
	const struct outline *o = b->outline;
	struct tree *t = b->tree;
	struct tree_phase roots = {.join = GRAIN_NONE, .region = GRAIN_NONE};

	b->child_count = b->phase_count = 0;
	for (size_t i = 0; i < o->root_count; i++)
		if (!tree_build__add_child(b, o->roots[i].index, o->roots[i].is_region))
			return false;
	if (!array__reserve((void **)&b->sorted, &b->sorted_capacity, b->child_count, sizeof(*b->sorted)))
		return false;
	memcpy(b->sorted, b->children, b->child_count * sizeof(*b->sorted));
	roots.child_count = (uint32_t)b->child_count;
	if (!add_children(b, &roots))
		return false;
	t->root_count = roots.child_count;
	t->drawn = t->node_count;
	for (uint32_t i = 0; i < t->root_count; i++) {
		t->groups += t->nodes[i].kind == TREE_GROUP;
		t->folded |= t->nodes[i].kind == TREE_GROUP && t->nodes[i].members > 1;
		if (can_open(&t->nodes[i]) && !heap_add(b, i))
			return false;
	}
	while (b->heap_count)
		if (!open_node(b, heap_take(b)))
			return false;
	return true;
}

static bool prepare(struct tree_builder *b)
{
	const struct outline *o = b->outline;

	b->sums = calloc(o->contexts + 1, sizeof(*b->sums));
	b->region_sums = calloc(o->regions + 1, sizeof(*b->region_sums));
	b->has_below = calloc(o->contexts + 1, 1);
	b->join_phase = calloc(o->joins + 1, sizeof(*b->join_phase));
	b->join_owner = calloc(o->joins + 1, sizeof(*b->join_owner));
	b->join_waiter = calloc(o->joins + 1, sizeof(*b->join_waiter));
	if (!b->sums || !b->region_sums || !b->has_below || !b->join_phase || !b->join_owner ||
	    !b->join_waiter)
		return false;
	tree_build__sum_up(b);
	return true;
}

/* Makes one attempt. It opens each context at most once. Returns false if out of memory. */
static bool attempt(struct tree_builder *b, size_t groups, size_t siblings, size_t joins, size_t levels)
{
	b->max_groups = groups;
	b->max_siblings = siblings;
	b->max_joins = joins;
	b->max_levels = levels;
	b->heap_count = 0;
	memset(b->join_owner, 0xff, b->outline->joins * sizeof(*b->join_owner));
	memset(b->join_waiter, 0xff, b->outline->joins * sizeof(*b->join_waiter));
	b->tree->node_count = b->tree->phase_count = b->tree->groups = b->tree->drawn = 0;
	b->tree->folded = false;
	return grow(b);
}

int tree__new(const struct outline *outline, size_t max_nodes, enum grain_problem problem, struct tree **out)
{
	struct tree_builder b = {.outline = outline, .problem = problem, .max_nodes = max_nodes};
	size_t groups = max_nodes / FOLD_NODES_PER_GROUP;
	bool fits = outline->count <= max_nodes, ok;

	b.tree = calloc(1, sizeof(*b.tree));
	if (!b.tree)
		return -ENOMEM;
	b.tree->outline = outline;
	if (problem < GRAIN_PROBLEM_COUNT) {
		struct grain_problem_summary summary;

		grain_graph__problem(outline->graph, problem, &summary);
		b.threshold = summary.threshold;
	}
	ok = prepare(&b);
	if (ok && fits)
		ok = attempt(&b, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX);
	if (ok && (!fits || b.tree->folded || b.tree->drawn > max_nodes))
		ok = attempt(&b, groups < FOLD_GROUPS_MIN ? FOLD_GROUPS_MIN : groups, FOLD_SIBLINGS,
			     FOLD_JOINS, FOLD_LEVELS);
	free(b.sums);
	free(b.region_sums);
	free(b.has_below);
	free(b.join_phase);
	free(b.join_owner);
	free(b.join_waiter);
	free(b.phases);
	free(b.children);
	free(b.sorted);
	free(b.heap);
	if (!ok) {
		tree__free(b.tree);
		return -ENOMEM;
	}
	*out = b.tree;
	return 0;
}

void tree__free(struct tree *tree)
{
	if (!tree)
		return;
	free(tree->nodes);
	free(tree->phases);
	free(tree);
}
