/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of the full layout. The first pass knows everything about them except the place of their column. */
#include "render/layout/layout_full.h"
#include "render/base/array.h"

static struct scene_node of_item(const struct outline_walk *walk, const struct grain_item *item, double y)
{
	return (struct scene_node){.critical = item->critical,
				   .cpu = item->cpu,
				   .tid = item->tid,
				   .y = y,
				   .time_ns = item->own_ns,
				   .context = walk->context,
				   .ref = walk->item,
				   .region = GRAIN_NONE};
}

static bool stage(struct full_layout *l, struct full_column *column, const struct scene_node *node)
{
	if (!array__reserve((void **)&l->staged, &l->staged_capacity, l->staged_count, sizeof(*l->staged)))
		return false;
	l->staged[l->staged_count++] = *node;
	column->node_count++;
	return true;
}

static void describe_body(const struct full_layout *l, struct scene_node *node)
{
	const struct outline_context *c = &l->outline->context[node->context];

	node->incomplete = c->incomplete;
	node->undeferred = c->undeferred;
	node->discarded = c->discarded;
	node->grains = c->is_grain;
}

double full_layout__stage_fragment(struct full_layout *l, struct full_column *column,
				   const struct outline_walk *walk, const struct grain_item *item, double y)
{
	struct scene_node node = of_item(walk, item, y);
	bool capped, chunk = walk->chunk != GRAIN_NONE;

	node.shape = chunk ? SCENE_CHUNK : SCENE_FRAGMENT;
	node.w = chunk ? LAYOUT_CHUNK_WIDTH : LAYOUT_FRAGMENT_WIDTH;
	node.h = layout__height(l->scene->px_per_ns, item->own_ns, &capped);
	node.capped = capped;
	describe_body(l, &node);
	return stage(l, column, &node) ? node.h : -1;
}

bool full_layout__stage_stub(struct full_layout *l, struct full_column *column, uint32_t context)
{
	struct scene_node node = {.shape = SCENE_FRAGMENT,
				  .w = LAYOUT_FRAGMENT_WIDTH,
				  .h = LAYOUT_HEIGHT_FLOOR,
				  .context = context,
				  .ref = GRAIN_NONE,
				  .region = GRAIN_NONE};

	describe_body(l, &node);
	return stage(l, column, &node);
}

bool full_layout__stage_bookkeeping(struct full_layout *l, struct full_column *column,
				    const struct outline_walk *walk, const struct grain_item *item, double y)
{
	struct scene_node node = of_item(walk, item, y);

	node.shape = SCENE_BOOKKEEPING;
	node.w = FULL_BOOKKEEPING_WIDTH;
	node.h = FULL_BOOKKEEPING_HEIGHT;
	return stage(l, column, &node);
}

bool full_layout__stage_fork(struct full_layout *l, struct full_column *column,
			     const struct outline_walk *walk, const struct grain_item *item, double y,
			     uint32_t child)
{
	struct scene_node node = of_item(walk, item, y);

	node.shape = SCENE_FORK;
	node.w = node.h = 2 * LAYOUT_FORK_RADIUS;
	node.grains = 1;
	if (child == GRAIN_NONE)
		node.incomplete = true;
	else
		node.undeferred = l->outline->context[child].undeferred;
	return stage(l, column, &node);
}

static void describe_join(const struct full_layout *l, struct scene_node *node, uint32_t join)
{
	struct grain_join j;

	node->shape = SCENE_JOIN;
	node->w = node->h = 2 * LAYOUT_JOIN_RADIUS;
	node->ref = GRAIN_NONE;
	if (join >= l->outline->joins)
		return;
	grain_graph__join(l->outline->graph, join, &j);
	node->ref = join;
	node->critical = j.critical;
	node->grains = j.joined;
}

bool full_layout__stage_join(struct full_layout *l, struct full_column *column,
			     const struct outline_walk *walk, const struct grain_item *item, double y)
{
	struct scene_node node = of_item(walk, item, y);

	describe_join(l, &node, item->ref);
	return stage(l, column, &node);
}

bool full_layout__stage_region(struct full_layout *l, struct full_column *column, uint32_t index)
{
	const struct full_region *r = &l->regions[index];
	struct grain_region region;
	struct scene_node node;

	grain_graph__region(l->outline->graph, index, &region);
	node = (struct scene_node){.shape = SCENE_FORK,
				   .incomplete = region.incomplete,
				   .w = 2 * LAYOUT_FORK_RADIUS,
				   .h = 2 * LAYOUT_FORK_RADIUS,
				   .context = region.parent,
				   .ref = GRAIN_NONE,
				   .region = index,
				   .grains = region.threads};
	if (!stage(l, column, &node))
		return false;
	for (size_t p = 0; p < r->phase_count; p++) {
		node = (struct scene_node){.context = region.parent, .region = index};
		describe_join(l, &node, l->phases[r->first_phase + p].join);
		node.incomplete = node.ref == GRAIN_NONE;
		if (!stage(l, column, &node))
			return false;
	}
	return true;
}

bool full_layout__unstage(struct full_layout *l, struct full_column *column)
{
	const struct outline *o = l->outline;
	size_t expected = o->full_nodes + o->contexts;

	if (!scene__put_before(l->scene, l->staged + column->first_node, column->node_count, expected))
		return false;
	column->first_node = (uint32_t)l->scene->node_count;
	return true;
}
