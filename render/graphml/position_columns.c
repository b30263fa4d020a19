/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the columns of nodes. Each chain has its own column. The chains below it are side by side. Chains
 * whose levels do not overlap share columns. A chain is in the middle of what is below it, unless one of its
 * nodes is on the same level as something below. Then the chain is on the left, and what begins later is
 * nearer to it.
 */
#include "render/graphml/positions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/base/radix.h"

struct chain {
	uint32_t parent;    /* the chain above it; GRAIN_NONE: none */
	uint32_t low, high; /* first and last level of the chain and everything below it; low > high: none */
	uint32_t first, count; /* index and number of the levels of its nodes, ascending */
	double width;	       /* number of columns of the chain and everything below it */
	double offset;	       /* from its parent's left edge to its own left edge */
	double own;	       /* from its left edge to the centre of its column */
};

struct columns {
	const struct position_graph *p;
	struct chain *chains;
	size_t count;
	uint32_t *chain_of; /* per node: its chain */
	uint32_t *levels;   /* levels of nodes, by chain, then ascending */
	uint32_t *first; /* per chain: its first child; the roots are children of the chain after the last one
			  */
	uint32_t *children;
};

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct radix_pair *)a)->key, y = ((const struct radix_pair *)b)->key;

	return x < y ? -1 : x > y;
}

static void gather_levels(struct columns *c, const uint32_t *levels)
{
	uint32_t at = 0;

	for (size_t i = 0; i < c->p->nodes; i++)
		c->chains[c->chain_of[i]].count++;
	for (size_t i = 0; i < c->count; i++) {
		c->chains[i].first = at;
		at += c->chains[i].count;
		c->chains[i].count = 0;
	}
	for (size_t i = 0; i < c->p->nodes; i++) {
		struct chain *chain = &c->chains[c->chain_of[i]];

		c->levels[chain->first + chain->count++] = levels[i];
	}
	for (size_t i = 0; i < c->count; i++) {
		struct chain *chain = &c->chains[i];

		qsort(c->levels + chain->first, chain->count, sizeof(*c->levels), compare);
		chain->low = chain->count ? c->levels[chain->first] : UINT32_MAX;
		chain->high = chain->count ? c->levels[chain->first + chain->count - 1] : 0;
	}
}

/* Extends a chain by the levels that its edges to other chains cross in its own column. */
static void reach_out(struct columns *c, const uint32_t *levels)
{
	for (size_t i = 0; i < c->p->edge_count; i++) {
		const struct position_edge *edge = &c->p->edges[i];
		struct chain *from = &c->chains[c->chain_of[edge->from]];

		if (c->chain_of[edge->from] != c->chain_of[edge->to] && levels[edge->to] > from->high + 1)
			from->high = levels[edge->to] - 1;
	}
}

static bool has_level_in(const struct columns *c, const struct chain *chain, uint32_t low, uint32_t high)
{
	size_t from = chain->first, to = chain->first + (size_t)chain->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->levels[middle] < low)
			from = middle + 1;
		else
			to = middle;
	}
	return from < chain->first + (size_t)chain->count && c->levels[from] <= high;
}

/* Children whose levels overlap, directly or through other children. They are side by side. */
struct group {
	size_t past; /* index of the next group's first child */
	double width;
	uint32_t low, high; /* first and last level */
};

/* Finds and places the group that begins with child `at`. */
static struct group place_group(struct columns *c, const uint32_t *children, size_t count, size_t at)
{
	struct group group = {.low = UINT32_MAX};

	for (; at < count; at++) {
		struct chain *child = &c->chains[children[at]];

		if (child->low > child->high)
			continue;
		if (group.width > 0 && child->low > group.high)
			break;
		child->offset = group.width;
		group.width += child->width;
		group.low = child->low < group.low ? child->low : group.low;
		group.high = child->high > group.high ? child->high : group.high;
	}
	group.past = at;
	return group;
}

/* Measures a chain. Its children are measured already. */
static void measure(struct columns *c, struct chain *chain, const uint32_t *children, size_t count)
{
	double widest = 0;
	bool beside = false;
	struct group group;

	for (size_t at = 0; at < count; at = group.past) {
		group = place_group(c, children, count, at);
		widest = group.width > widest ? group.width : widest;
		beside |= group.width > 0 && has_level_in(c, chain, group.low, group.high);
		chain->low = group.low < chain->low ? group.low : chain->low;
		chain->high = group.width > 0 && group.high > chain->high ? group.high : chain->high;
	}
	beside &= chain->count > 0;
	/* Centres each group on the widest group. */
	for (size_t at = 0; at < count; at = group.past) {
		group = place_group(c, children, count, at);
		for (size_t i = at; i < group.past; i++) {
			struct chain *child = &c->chains[children[i]];

			if (beside)
				child->offset = 1 + group.width - child->offset - child->width;
			else
				child->offset += (widest - group.width) / 2;
		}
	}
	chain->width = beside ? widest + 1 : widest > 1 ? widest : chain->count || widest > 0 ? 1 : 0;
	chain->own = beside ? .5 : chain->width / 2;
	if (!beside && widest < chain->width)
		for (size_t i = 0; i < count; i++)
			c->chains[children[i]].offset += (chain->width - widest) / 2;
}

/* Sorts children by level, then by their order. So what begins below a group does not overlap it. */
static void sort_children(struct columns *c, uint32_t *children, size_t count, struct radix_pair *room)
{
	bool sorted = true;

	for (size_t i = 1; i < count; i++)
		sorted &= c->chains[children[i - 1]].low <= c->chains[children[i]].low;
	if (sorted)
		return;
	for (size_t i = 0; i < count; i++)
		room[i] = (struct radix_pair){(uint64_t)c->chains[children[i]].low << 32 | children[i],
					      children[i]};
	qsort(room, count, sizeof(*room), by_key);
	for (size_t i = 0; i < count; i++)
		children[i] = (uint32_t)room[i].value;
}

static int index_children(struct columns *c)
{
	c->first = calloc(c->count + 3, sizeof(*c->first));
	c->children = malloc((c->count + 1) * sizeof(*c->children));
	if (!c->first || !c->children)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++)
		c->first[(c->chains[i].parent == GRAIN_NONE ? c->count : c->chains[i].parent) + 1]++;
	for (size_t i = 0, sum = 0; i <= c->count + 2; i++) {
		uint32_t n = c->first[i];

		c->first[i] = (uint32_t)sum;
		sum += n;
	}
	for (size_t i = 0; i < c->count; i++) {
		size_t parent = c->chains[i].parent == GRAIN_NONE ? c->count : c->chains[i].parent;

		c->children[c->first[parent + 1]++] = (uint32_t)i;
	}
	return 0;
}

/*
 * Makes a chain for each context, in order, and one for each node that belongs to no context. Returns 0 or
 * -ENOMEM.
 */
static int make_chains(struct columns *c, const uint32_t *parents, const uint32_t *levels)
{
	size_t alone = 0;

	for (size_t i = 0; i < c->p->nodes; i++)
		alone += c->p->chain[i] == GRAIN_NONE;
	c->chains = calloc(c->p->contexts + alone + 2, sizeof(*c->chains));
	c->chain_of = malloc((c->p->nodes + 1) * sizeof(*c->chain_of));
	c->levels = malloc((c->p->nodes + 1) * sizeof(*c->levels));
	if (!c->chains || !c->chain_of || !c->levels)
		return -ENOMEM;
	for (size_t i = 0; i < c->p->contexts; i++)
		c->chains[i].parent = parents[i] < i ? parents[i] : GRAIN_NONE;
	c->count = c->p->contexts;
	for (size_t i = 0; i < c->p->nodes; i++) {
		c->chain_of[i] = c->p->chain[i];
		if (c->p->chain[i] == GRAIN_NONE) {
			c->chains[c->count].parent = GRAIN_NONE;
			c->chain_of[i] = (uint32_t)c->count++;
		}
	}
	gather_levels(c, levels);
	reach_out(c, levels);
	return index_children(c);
}

int position_graph__columns(const struct position_graph *p, const uint32_t *parents, const uint32_t *levels,
			    double *columns)
{
	struct columns c = {.p = p};
	int error = make_chains(&c, parents, levels);
	struct radix_pair *room = error ? NULL : malloc((c.count + 1) * sizeof(*room));

	if (!error && !room)
		error = -ENOMEM;

	/*
	 * Children have larger numbers than their parents, so the loop reaches them first. The root above all
	 * chains comes last.
	 */
	for (size_t n = error ? 0 : c.count + 1; n-- > 0;) {
		size_t i = n ? n - 1 : c.count, count = c.first[i + 1] - c.first[i];
		uint32_t *children = c.children + c.first[i];

		sort_children(&c, children, count, room);
		measure(&c, &c.chains[i], children, count);
	}
	for (size_t i = 0; i < c.count && !error; i++) {
		struct chain *chain = &c.chains[i];

		chain->offset += chain->parent == GRAIN_NONE ? c.chains[c.count].offset
							     : c.chains[chain->parent].offset;
	}
	for (size_t i = 0; i < p->nodes && !error; i++)
		columns[i] = c.chains[c.chain_of[i]].offset + c.chains[c.chain_of[i]].own;
	free(room);
	free(c.chains);
	free(c.chain_of);
	free(c.levels);
	free(c.first);
	free(c.children);
	return error;
}
