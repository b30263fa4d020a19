/* SPDX-License-Identifier: BSD-2-Clause */
/* The second pass of the aggregated layout: nodes and edges. Frames come before their members. */
#include <errno.h>

#include "render/layout/layout_groups.h"
#include "render/base/severity.h"

static uint32_t add_grain(struct group_layout *l, const struct group_box *box, struct scene_node *node)
{
	struct grain_context c;
	bool capped;

	grain_graph__context(l->graph, box->context, &c);
	node->context = box->context;
	node->ref = c.first_item;
	if (c.item_count) {
		struct grain_item item;

		grain_graph__item(l->graph, c.first_item, &item);
		node->tid = item.tid;
		node->cpu = item.cpu;
	}
	node->grains = (c.kind == GRAIN_TASK || c.kind == GRAIN_CHUNK) && !c.runtime;
	node->time_ns = c.exec_ns;
	node->critical = c.critical;
	node->incomplete = c.incomplete;
	node->discarded = c.discarded;
	node->undeferred = c.undeferred;
	layout__height(l->scene->px_per_ns, c.exec_ns, &capped);
	node->capped = capped;
	node->severity = (float)severity__of(&c, l->opts->problem, l->opts->threshold);
	node->flagged = node->severity > 0;
	return scene__add_node(l->scene, node);
}

static uint32_t add_box(struct group_layout *l, const struct group_box *box)
{
	const struct grain_group *g = &box->of;
	struct scene_node node = {.shape = box->shape,
				  .x = box->x + box->w / 2,
				  .y = box->y,
				  .w = box->w,
				  .h = box->h,
				  .context = GRAIN_NONE,
				  .group = box->group,
				  .definition = GRAIN_NONE};

	if (box->shape == SCENE_BOX)
		return add_grain(l, box, &node);
	if (box->shape == SCENE_SKIP) {
		node.siblings = true;
		node.members = box->skipped;
		node.grains = box->skipped_grains;
		node.time_ns = box->skipped_ns;
		return scene__add_node(l->scene, &node);
	}
	node.context = g->context;
	node.definition = g->definition;
	node.members = g->members;
	node.siblings = g->kind == GRAIN_GROUP_SIBLINGS;
	node.grains = g->grains;
	node.time_ns = g->exec_ns;
	node.critical = g->critical && box->shape == SCENE_CLOSED;
	if (l->opts->problem < GRAIN_PROBLEM_COUNT) {
		uint32_t worst = g->worst[l->opts->problem];

		node.flagged = g->problem_grains[l->opts->problem];
		if (node.flagged && worst != GRAIN_NONE) {
			struct grain_context c;

			grain_graph__context(l->graph, worst, &c);
			node.severity = (float)severity__of(&c, l->opts->problem, l->opts->threshold);
		}
	}
	return scene__add_node(l->scene, &node);
}

static uint32_t add_circle(struct group_layout *l, const struct group_box *box, struct scene_node node,
			   double x, double y, double radius)
{
	node.x = x;
	node.y = y;
	node.w = node.h = 2 * radius;
	node.critical = box->of.critical;
	node.grains = box->of.members;
	return scene__add_node(l->scene, &node);
}

/* The state while edges are drawn down a family. */
struct chain {
	uint32_t node;
	double x, y; /* begin of the next edge */
	bool critical, forward;
};

/*
 * Adds the edge down to a node whose top is at `y`. The next edge begins at `next_y`. Returns false if out of
 * memory.
 */
static bool add_line(struct group_layout *l, struct chain *c, struct scene_edge edge, double y, double next_y)
{
	struct scene_point points[2] = {{c->x, c->y}, {c->x, y}};

	edge.from = c->node;
	edge.points = 2;
	c->node = edge.to;
	c->y = next_y;
	return scene__add_edge(l->scene, &edge, points) != GRAIN_NONE;
}

static bool add_step(struct group_layout *l, struct chain *c, const struct group_box *frame,
		     const struct group_box *box)
{
	bool skip = box->shape == SCENE_SKIP, critical = box->of.critical;
	struct scene_edge in = {.kind = skip || c->forward ? SCENE_FORWARD : SCENE_CONTINUATION};
	uint32_t join;

	in.critical = in.kind == SCENE_CONTINUATION && critical && c->critical;
	if (group_box__forks(box)) {
		double y = box->y - GROUPS_GAP - 2 * LAYOUT_FORK_RADIUS;
		struct scene_node fork = {.shape = SCENE_FORK,
					  .context = frame->of.context,
					  .ref = GRAIN_NONE,
					  .region = box->of.kind == GRAIN_GROUP_REGION ? box->of.region
										       : GRAIN_NONE};

		in.to = add_circle(l, box, fork, c->x, y, LAYOUT_FORK_RADIUS);
		if (!add_line(l, c, in, y, y + 2 * LAYOUT_FORK_RADIUS))
			return false;
		in = (struct scene_edge){.kind = SCENE_CREATION, .critical = critical};
	}
	in.to = box->node;
	if (!add_line(l, c, in, box->y, box->y + box->h))
		return false;
	if (group_box__joins(l, box, &join)) {
		double y = box->y + box->h + GROUPS_GAP;
		struct scene_node node = {.shape = SCENE_JOIN,
					  .context = GRAIN_NONE,
					  .ref = join,
					  .region = GRAIN_NONE,
					  .incomplete = join == GRAIN_NONE};
		struct scene_edge out = {.kind = SCENE_SYNCHRONIZATION,
					 .critical = critical,
					 .to = add_circle(l, box, node, c->x, y, LAYOUT_JOIN_RADIUS)};

		if (!add_line(l, c, out, y, y + 2 * LAYOUT_JOIN_RADIUS))
			return false;
	}
	c->critical = critical;
	c->forward = skip;
	return true;
}

static bool add_chain(struct group_layout *l, const struct group_box *frame)
{
	const struct group_box *boxes = l->boxes + frame->first;
	struct chain c = {.node = boxes->node, .x = frame->x + frame->w / 2, .y = boxes->y + boxes->h};

	c.critical = l->scene->nodes[boxes->node].critical;
	for (uint32_t i = 1; i < frame->count; i++)
		if (!add_step(l, &c, frame, &boxes[i]))
			return false;
	return true;
}

static void move(struct group_box *box, double x, double y)
{
	box->x = x;
	box->y = y;
}

int group_layout__place(struct group_layout *l)
{
	for (size_t i = 0; i < l->count; i++) {
		struct group_box *box = &l->boxes[i];
		struct group_size inside;
		double left;

		box->node = add_box(l, box);
		if (box->node == GRAIN_NONE)
			return -ENOMEM;
		if (box->shape != SCENE_OPEN)
			continue;
		inside = group_layout__arrange(l, box, move);
		left = box->x + (box->w - inside.w) / 2;
		for (uint32_t k = box->first; k < box->first + box->count; k++) {
			l->boxes[k].x += left;
			l->boxes[k].y += box->y + layout__heading_height(box->w);
		}
	}
	for (size_t i = 0; i < l->count; i++)
		if (l->boxes[i].chain && l->boxes[i].count && !add_chain(l, &l->boxes[i]))
			return -ENOMEM;
	return 0;
}
