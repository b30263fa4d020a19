/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How similar the structures of two groups are. A group is a tree of groups, and contexts are its leaves. The
 * label of a node is its kind. Members have no order. Definitions and times do not count.
 */
#include "analysis/groups/groups.h"
#include "analysis/groups/groups_shapes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- all groups at once ----------------------------------------------- */

/*
 * Counts the leaves among a group's members by kind. Writes the members that are groups to `inner`, unless it
 * is NULL. Returns their number.
 */
static uint32_t sort_members(const struct grain_groups *groups, uint32_t group, uint32_t leaves[SHAPE_LEAVES],
			     uint32_t *inner)
{
	uint32_t n, k, count = 0;
	const uint32_t *members = groups__members(groups, group, &n);

	memset(leaves, 0, SHAPE_LEAVES * sizeof *leaves);
	for (k = 0; k < n; k++) {
		if (!(members[k] & GROUP_MEMBER))
			leaves[groups->graph->contexts[members[k]].kind]++;
		else if (inner)
			inner[count++] = members[k] & ~GROUP_MEMBER;
		else
			count++;
	}
	return count;
}

int grain_groups__classes(const struct grain_groups *groups, uint32_t *class_of_group)
{
	struct shapes shapes;
	uint32_t leaves[SHAPE_LEAVES], *below, i, k, n;
	int error = 0;

	below = malloc((groups->count + (size_t)1) * sizeof *below);
	if (!below)
		return -ENOMEM;
	shapes__start(&shapes);
	for (i = 0; i < groups->count && error == 0; i++) {
		n = sort_members(groups, i, leaves, below);
		for (k = 0; k < n; k++)
			below[k] = class_of_group[below[k]];
		error = shapes__number(&shapes, groups->rows[i].kind, leaves, below, n, &class_of_group[i]);
	}
	shapes__free(&shapes);
	free(below);
	return error;
}

/* ---- two groups ------------------------------------------------------- */

/* Nodes are stored level by level. So the member groups of a node are adjacent. */
struct tree_node {
	uint32_t group;
	uint32_t first_child, children;
	uint32_t leaves[SHAPE_LEAVES];
};

/* Both trees; the second one follows the first. */
struct pair {
	const struct grain_groups *groups;
	struct tree_node *nodes;
	uint32_t count, capacity;
	uint32_t second; /* root of the second tree */
	uint32_t *labels, *next, *below;
	uint64_t leaves[2][SHAPE_LEAVES];
	struct shapes shapes;
};

static int add_node(struct pair *p, uint32_t group)
{
	uint32_t larger = p->capacity + p->capacity / 2 + 64;
	struct tree_node *moved;

	if (p->count == p->capacity) {
		moved = reallocarray(p->nodes, larger, sizeof *moved);
		if (!moved)
			return -ENOMEM;
		p->nodes = moved;
		p->capacity = larger;
	}
	p->nodes[p->count++] = (struct tree_node){.group = group};
	return 0;
}

static int add_tree(struct pair *p, uint32_t root, int which)
{
	uint32_t at = p->count, k, n, kind;
	int error = add_node(p, root);

	for (; at < p->count && error == 0; at++) {
		uint32_t group = p->nodes[at].group;
		const uint32_t *members = groups__members(p->groups, group, &n);

		p->nodes[at].first_child = p->count;
		p->nodes[at].children = sort_members(p->groups, group, p->nodes[at].leaves, NULL);
		for (kind = 0; kind < SHAPE_LEAVES; kind++)
			p->leaves[which][kind] += p->nodes[at].leaves[kind];
		for (k = 0; k < n && error == 0 && p->nodes[at].children; k++)
			if (members[k] & GROUP_MEMBER)
				error = add_node(p, members[k] & ~GROUP_MEMBER);
	}
	return error;
}

/*
 * Gives a node a new label. It is made of its own label `label` and the labels below it. leaves NULL: the
 * labels include the leaves.
 */
static int relabel(struct pair *p, uint32_t node, uint32_t label, const uint32_t *leaves,
		   const uint32_t *labels, uint32_t *out)
{
	const struct tree_node *n = &p->nodes[node];

	memcpy(p->below, &labels[n->first_child], n->children * sizeof *labels);
	return shapes__number(&p->shapes, label, leaves, p->below, n->children, out);
}

/*
 * Relabels bottom-up, so that a label stands for everything below it. Returns 1 if the trees are equal, 0 if
 * not, or a negative errno.
 */
static int compare_trees(struct pair *p)
{
	uint32_t i;
	int error = 0;

	for (i = p->count; i-- > 0 && error == 0;)
		error = relabel(p, i, p->groups->rows[p->nodes[i].group].kind, p->nodes[i].leaves, p->labels,
				&p->labels[i]);
	shapes__clear(&p->shapes);
	return error < 0 ? error : p->labels[0] == p->labels[p->second];
}

/* Scalar products of the label counts: of both trees, and of each with itself. */
struct kernel {
	double ab, aa, bb;
};

static void add_products(struct kernel *k, double a, double b)
{
	k->ab += a * b;
	k->aa += a * a;
	k->bb += b * b;
}

/* `counts` has two numbers for each label. All are zero before and after. */
static struct kernel compare_labels(const struct pair *p, uint32_t labels, uint32_t (*counts)[2])
{
	struct kernel k = {0};
	uint32_t i;

	for (i = 0; i < p->count; i++)
		counts[p->labels[i]][i >= p->second]++;
	for (i = 0; i < labels; i++)
		add_products(&k, counts[i][0], counts[i][1]);
	for (i = 0; i < SHAPE_LEAVES; i++)
		add_products(&k, (double)p->leaves[0][i], (double)p->leaves[1][i]);
	memset(counts, 0, labels * sizeof *counts);
	return k;
}

static int compute_kernel(struct pair *p, unsigned int depth, double *out)
{
	uint32_t(*counts)[2] = calloc(p->count + (size_t)GRAIN_GROUP_PROGRAM + 1, sizeof *counts);
	uint32_t known = GRAIN_GROUP_PROGRAM + 1, i, *labels;
	struct kernel sum, step;
	unsigned int round;
	int error = 0;

	if (!counts)
		return -ENOMEM;
	for (i = 0; i < p->count; i++)
		p->labels[i] = p->groups->rows[p->nodes[i].group].kind;
	sum = compare_labels(p, known, counts);
	for (round = 1; round <= depth; round++) {
		for (i = 0; i < p->count && error == 0; i++)
			error = relabel(p, i, p->labels[i], round == 1 ? p->nodes[i].leaves : NULL, p->labels,
					&p->next[i]);
		if (error < 0)
			break;
		labels = p->labels;
		p->labels = p->next;
		p->next = labels;
		step = compare_labels(p, p->shapes.count, counts);
		/*
		 * A round can only split labels. If their number stays the same, further rounds change
		 * nothing.
		 */
		if (round > 1 && p->shapes.count == known) {
			sum.ab += step.ab * (depth - round + 1);
			sum.aa += step.aa * (depth - round + 1);
			sum.bb += step.bb * (depth - round + 1);
			break;
		}
		sum.ab += step.ab;
		sum.aa += step.aa;
		sum.bb += step.bb;
		known = p->shapes.count;
		shapes__clear(&p->shapes);
	}
	free(counts);
	if (error == 0)
		*out = fmin(sum.ab / sqrt(sum.aa * sum.bb), nextafter(1, 0));
	return error;
}

int grain_groups__similarity(const struct grain_groups *groups, uint32_t a, uint32_t b, unsigned int depth,
			     double *out)
{
	struct pair p = {.groups = groups};
	int result;

	shapes__start(&p.shapes);
	result = add_tree(&p, a, 0);
	p.second = p.count;
	if (result == 0)
		result = add_tree(&p, b, 1);
	p.labels = malloc((p.count + (size_t)1) * sizeof *p.labels);
	p.next = malloc((p.count + (size_t)1) * sizeof *p.next);
	p.below = malloc((p.count + (size_t)1) * sizeof *p.below);
	if (result == 0 && (!p.labels || !p.next || !p.below))
		result = -ENOMEM;
	/* Equal trees have equally many nodes. */
	if (result == 0 && groups->rows[a].strength == groups->rows[b].strength)
		result = compare_trees(&p);
	if (result == 1)
		*out = 1;
	else if (result == 0)
		result = compute_kernel(&p, depth, out);
	shapes__free(&p.shapes);
	free(p.nodes);
	free(p.labels);
	free(p.next);
	free(p.below);
	return result < 0 ? result : 0;
}
