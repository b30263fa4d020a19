/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reduced layout. Below a box, for each join, come a fork, the siblings and the join, centred below each
 * other.
 *
 * Each block has a left and a right contour. Siblings are pushed together until their contours meet. Each
 * contour is walked once, so the whole takes linear time. Siblings reach down to a common bus line, which
 * also separates blocks that are not adjacent.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/layout/contour.h"
#include "render/layout/layout.h"
#include "render/scene/tree.h"

#define GAP_Y 8.0
#define FAN 16.0
#define TAIL 3.0
#define IDLE_WIDTH 14.0
#define IDLE_HEIGHT 8.0
#define GROUP_WIDTH 54.0
#define GROUP_HEIGHT 26.0
#define LABEL_WIDTH 26.0 /* width of the label beside forks with several children */
#define MANY_BOXES 400

struct place_phase {
	double fork_y, children_y, bus_y,
		join_y; /* relative to the block: centres of fork and join, tops of children, bus line */
	uint32_t fork_node, join_node;
};

struct block {
	struct contour left, right;
	double width, box_height, height;
	double child_x; /* relative to the parent */
	double x, y;
	uint32_t node;
	bool leaves_critical; /* the critical path leaves the block at the bottom */
};

struct reduced {
	const struct tree *tree;
	struct scene *scene;
	struct contour_pool pool;
	struct block *blocks;	    /* per tree node */
	struct place_phase *phases; /* per tree phase */
	uint32_t *join_node;	    /* per join */
	double box_width, gap_x, leaf_gap_x;
};

static const struct tree_node *node_at(const struct reduced *l, uint32_t i)
{
	return &l->tree->nodes[i];
}

/* Returns how far to the right of `a` its sibling `b` must be. Uses up the contours between them. */
static double separation(struct reduced *l, struct block *a, struct block *b, double to)
{
	struct contour_walk p, q;
	double apart = 0;

	contour__append(&l->pool, &a->right, TAIL, a->height, to - a->height);
	contour__append(&l->pool, &b->left, -TAIL, b->height, to - b->height);
	p = contour__first(&a->right);
	q = contour__first(&b->left);
	while (p.segment != CONTOUR_END && q.segment != CONTOUR_END) {
		double end_p = p.y + l->pool.segments[p.segment].height;
		double end_q = q.y + l->pool.segments[q.segment].height;

		apart = fmax(apart, p.x - q.x);
		if (end_p <= end_q)
			contour__next(&l->pool, &p);
		if (end_q <= end_p)
			contour__next(&l->pool, &q);
	}
	contour__release(&l->pool, &a->right);
	contour__release(&l->pool, &b->left);
	return apart;
}

/* Places the children of a phase side by side around 0. Returns their largest height. */
static double place_siblings(struct reduced *l, const struct tree_phase *phase)
{
	double tallest = 0, middle, x = 0, gap = l->leaf_gap_x;

	for (uint32_t i = 0; i < phase->child_count; i++) {
		tallest = fmax(tallest, l->blocks[phase->first_child + i].height);
		if (node_at(l, phase->first_child + i)->phase_count)
			gap = l->gap_x;
	}
	for (uint32_t i = 0; i < phase->child_count; i++) {
		struct block *b = &l->blocks[phase->first_child + i];

		if (i)
			x += separation(l, b - 1, b, tallest) + gap;
		b->child_x = x;
	}
	middle = x / 2;
	for (uint32_t i = 0; i < phase->child_count; i++)
		l->blocks[phase->first_child + i].child_x -= middle;
	return tallest;
}

/*
 * Extends the contour of a block along one of its phases, down to `bottom`. `sign`: -1 for the left side, 1
 * for the right side.
 */
static void push_side(struct reduced *l, struct block *b, uint32_t phase_index, int sign, double bottom)
{
	const struct tree_phase *phase = &l->tree->phases[phase_index];
	const struct place_phase *p = &l->phases[phase_index];
	bool right = sign > 0;
	struct block *child = &l->blocks[phase->first_child + (right ? phase->child_count - 1 : 0)];
	struct contour *side = right ? &b->right : &b->left, *inner = right ? &child->right : &child->left;
	double label = right && phase->forks > 1 ? LABEL_WIDTH : 0;
	double edge = child->child_x + sign * TAIL, child_bottom = p->children_y + child->height;
	double circle = sign * (LAYOUT_JOIN_RADIUS + 1);

	if (edge * sign < circle * sign)
		edge = circle;
	contour__push(&l->pool, side, edge, child_bottom, bottom - child_bottom);
	contour__shift(inner, child->child_x, p->children_y);
	contour__put_on_top(&l->pool, side, inner);
	if (edge * sign < label * sign)
		edge = label;
	contour__push(&l->pool, side, edge, p->fork_y - LAYOUT_FORK_RADIUS,
		      p->children_y - p->fork_y + LAYOUT_FORK_RADIUS);
}

static void size_box(struct reduced *l, struct block *b, const struct tree_node *n)
{
	bool capped;

	contour__init(&b->left);
	contour__init(&b->right);
	switch (n->kind) {
	case TREE_CONTEXT:
		b->width = l->box_width;
		b->box_height = layout__height(l->scene->px_per_ns, n->own_ns, &capped);
		break;
	case TREE_GROUP:
		b->width = GROUP_WIDTH;
		b->box_height = GROUP_HEIGHT;
		break;
	case TREE_IDLE:
		b->width = IDLE_WIDTH;
		b->box_height = IDLE_HEIGHT;
		break;
	default:
		b->width = 2 * LAYOUT_FORK_RADIUS;
		b->box_height = 0;
	}
}

/* Computes the size and the contours of a block from those of the blocks below it. */
static void build(struct reduced *l, uint32_t index)
{
	const struct tree_node *n = node_at(l, index);
	struct block *b = &l->blocks[index];
	double y, bottom;

	size_box(l, b, n);
	y = b->box_height;
	for (uint32_t i = 0; i < n->phase_count; i++) {
		const struct tree_phase *phase = &l->tree->phases[n->first_phase + i];
		struct place_phase *p = &l->phases[n->first_phase + i];
		double tallest = place_siblings(l, phase);
		double fan = FAN + fmin(30, 1.2 * phase->child_count);

		p->fork_y = y + GAP_Y + LAYOUT_FORK_RADIUS;
		p->children_y = p->fork_y + LAYOUT_FORK_RADIUS + fan;
		p->bus_y = p->children_y + tallest + 2;
		p->join_y = p->bus_y + fan;
		y = p->join_y + (phase->own ? LAYOUT_JOIN_RADIUS : 0);
	}
	b->height = y;
	bottom = y;
	for (uint32_t i = n->phase_count; i-- > 0;) {
		uint32_t phase = n->first_phase + i;

		if (l->tree->phases[phase].child_count) {
			push_side(l, b, phase, -1, bottom);
			push_side(l, b, phase, 1, bottom);
		}
		bottom = l->phases[phase].fork_y - LAYOUT_FORK_RADIUS;
	}
	contour__push(&l->pool, &b->left, -b->width / 2, 0, bottom);
	contour__push(&l->pool, &b->right, b->width / 2 + (n->kind == TREE_IDLE ? SCENE_IDLE_LABEL : 0), 0,
		      bottom);
}

/* ---- nodes and edges -------------------------------------------------- */

static bool draw_box(struct reduced *l, uint32_t index)
{
	static const uint8_t shapes[] = {SCENE_BOX, SCENE_GROUP, SCENE_IDLE};
	const struct tree_node *n = node_at(l, index);
	struct block *b = &l->blocks[index];
	struct scene_node node = {.critical = n->sum.critical,
				  .incomplete = n->sum.incomplete,
				  .undeferred = n->undeferred && n->kind == TREE_CONTEXT,
				  .x = b->x,
				  .y = b->y,
				  .w = b->width,
				  .h = b->box_height,
				  .context = n->context,
				  .ref = GRAIN_NONE,
				  .region = GRAIN_NONE,
				  .grains = n->kind == TREE_IDLE ? n->members : n->sum.grains,
				  .flagged = n->sum.flagged,
				  .severity = n->sum.severity,
				  .time_ns = n->kind == TREE_CONTEXT ? n->own_ns : n->sum.exec_ns};
	bool capped;

	b->node = GRAIN_NONE;
	if (n->kind == TREE_NOWHERE)
		return true;
	node.shape = shapes[n->kind];
	if (n->kind == TREE_CONTEXT && n->context != GRAIN_NONE) {
		struct grain_context c;

		grain_graph__context(l->tree->outline->graph, n->context, &c);
		node.discarded = c.discarded;
	}
	if (n->kind == TREE_CONTEXT) {
		layout__height(l->scene->px_per_ns, node.time_ns, &capped);
		node.capped = capped;
	}
	if (n->context != GRAIN_NONE) {
		struct outline_walk walk;
		struct grain_item item;

		outline_walk__start(&walk, l->tree->outline, n->context);
		while (outline_walk__next(&walk, &item)) {
			if (item.kind != GRAIN_FRAGMENT)
				continue;
			node.tid = item.tid;
			node.cpu = item.cpu;
			break;
		}
	}
	b->node = scene__add_node(l->scene, &node);
	return b->node != GRAIN_NONE;
}

static bool draw_circles(struct reduced *l, uint32_t index, uint32_t phase_index)
{
	const struct tree_phase *phase = &l->tree->phases[phase_index];
	const struct block *b = &l->blocks[index];
	struct place_phase *p = &l->phases[phase_index];
	struct scene_node fork = {.shape = SCENE_FORK,
				  .x = b->x,
				  .y = b->y + p->fork_y - LAYOUT_FORK_RADIUS,
				  .w = 2 * LAYOUT_FORK_RADIUS,
				  .h = 2 * LAYOUT_FORK_RADIUS,
				  .context = node_at(l, index)->context,
				  .ref = GRAIN_NONE,
				  .region = phase->region,
				  .grains = phase->forks};
	struct scene_node join = fork;
	struct grain_join j;

	if (node_at(l, index)->kind == TREE_NOWHERE)
		fork.context = join.context = GRAIN_NONE;
	fork.undeferred = phase->child_count > 0;
	for (uint32_t i = 0; i < phase->child_count; i++) {
		const struct tree_node *child = node_at(l, phase->first_child + i);

		fork.critical |= child->sum.critical;
		fork.undeferred &= child->undeferred;
	}
	p->fork_node = scene__add_node(l->scene, &fork);
	p->join_node = GRAIN_NONE;
	if (p->fork_node == GRAIN_NONE)
		return false;
	if (!phase->own)
		return true;
	join.shape = SCENE_JOIN;
	join.y = b->y + p->join_y - LAYOUT_JOIN_RADIUS;
	join.w = join.h = 2 * LAYOUT_JOIN_RADIUS;
	join.ref = phase->join < l->tree->outline->joins ? phase->join : GRAIN_NONE;
	join.incomplete = join.ref == GRAIN_NONE;
	if (join.ref != GRAIN_NONE) {
		grain_graph__join(l->tree->outline->graph, join.ref, &j);
		join.critical = j.critical;
		join.grains = j.joined;
	}
	p->join_node = scene__add_node(l->scene, &join);
	if (join.ref != GRAIN_NONE)
		l->join_node[join.ref] = p->join_node;
	return p->join_node != GRAIN_NONE;
}

static bool draw_nodes(struct reduced *l)
{
	const struct tree *t = l->tree;

	for (uint32_t i = 0; i < t->node_count; i++) {
		const struct tree_node *n = node_at(l, i);

		if (!draw_box(l, i))
			return false;
		for (uint32_t p = n->first_phase; p < n->first_phase + n->phase_count; p++) {
			if (!draw_circles(l, i, p))
				return false;
			for (uint32_t c = 0; c < t->phases[p].child_count; c++) {
				struct block *child = &l->blocks[t->phases[p].first_child + c];

				child->x = l->blocks[i].x + child->child_x;
				child->y = l->blocks[i].y + l->phases[p].children_y;
			}
		}
	}
	return true;
}

/*
 * Draws an edge from `start` straight down to `bend_y`, then as a curve. Draws nothing if one of the nodes is
 * not drawn. Returns false if out of memory.
 */
static bool draw_curve(struct reduced *l, struct scene_edge edge, struct scene_point start, double bend_y,
		       struct scene_point end)
{
	double half = (end.y - bend_y) / 2;
	struct scene_point points[7] = {start,
					start,
					{start.x, bend_y},
					{start.x, bend_y},
					{start.x, bend_y + half},
					{end.x, end.y - half},
					end};
	bool bends = bend_y > start.y;

	if (edge.from == GRAIN_NONE || edge.to == GRAIN_NONE)
		return true;
	edge.curved = true;
	edge.points = bends ? 7 : 4;
	return scene__add_edge(l->scene, &edge, bends ? points : points + 3) != GRAIN_NONE;
}

/* Returns the last drawn node of a block: its last join, else its box. */
static uint32_t tail_node(const struct reduced *l, uint32_t index)
{
	const struct tree_node *n = node_at(l, index);

	for (uint32_t p = n->phase_count; p-- > 0;)
		if (l->phases[n->first_phase + p].join_node != GRAIN_NONE)
			return l->phases[n->first_phase + p].join_node;
	return l->blocks[index].node;
}

/* Whether the parent's own join joins the children. Then they leave through the parent's tail. */
static bool is_merged(const struct reduced *l, const struct tree_node *parent, const struct tree_phase *phase)
{
	return !phase->own && phase->join == parent->join && phase->join < l->tree->outline->joins;
}

/*
 * Whether the critical path leaves through this block. After a barrier, the path may go on in any member of
 * the team, but it is drawn where the barrier is.
 */
static bool leaves_critical(const struct reduced *l, uint32_t index)
{
	const struct tree_node *n = node_at(l, index);
	uint32_t tail = tail_node(l, index);
	struct grain_join join;

	if (n->kind == TREE_GROUP)
		return n->sum.critical;
	for (uint32_t p = n->first_phase; p < n->first_phase + n->phase_count; p++) {
		const struct tree_phase *phase = &l->tree->phases[p];

		for (uint32_t c = 0; is_merged(l, n, phase) && c < phase->child_count; c++)
			if (l->blocks[phase->first_child + c].leaves_critical)
				return true;
	}
	if (n->tail_critical || tail == GRAIN_NONE || l->scene->nodes[tail].shape != SCENE_JOIN ||
	    l->scene->nodes[tail].ref == GRAIN_NONE || !l->scene->nodes[tail].critical)
		return n->tail_critical;
	grain_graph__join(l->tree->outline->graph, l->scene->nodes[tail].ref, &join);
	return outline__is_shared(&join);
}

static bool draw_child_edges(struct reduced *l, uint32_t parent, uint32_t phase_index, uint32_t child)
{
	const struct tree_phase *phase = &l->tree->phases[phase_index];
	const struct place_phase *p = &l->phases[phase_index];
	const struct block *above = &l->blocks[parent], *b = &l->blocks[child];
	const struct tree_node *n = node_at(l, child);
	struct scene_point fork = {above->x, above->y + p->fork_y + LAYOUT_FORK_RADIUS};
	struct scene_point top = {b->x, b->y}, bottom = {b->x, b->y + b->height};
	struct scene_point join = {above->x, above->y + p->join_y - (phase->own ? LAYOUT_JOIN_RADIUS : 0)};
	struct scene_edge in = {.kind = SCENE_CREATION,
				.critical = n->kind == TREE_GROUP ? n->sum.critical : n->head_critical,
				.from = p->fork_node,
				.to = b->node};
	struct scene_edge out = {.kind = SCENE_SYNCHRONIZATION,
				 .critical = b->leaves_critical,
				 .from = tail_node(l, child),
				 .to = p->join_node};

	if (!draw_curve(l, in, fork, fork.y, top))
		return false;
	if (out.to == GRAIN_NONE) {
		out.to = n->join < l->tree->outline->joins ? l->join_node[n->join] : GRAIN_NONE;
		if (out.to == GRAIN_NONE)
			return true;
		if (node_at(l, parent)->join != n->join) {
			const struct scene_node *far = &l->scene->nodes[out.to];

			out.kind = SCENE_ANCESTOR;
			join = (struct scene_point){far->x, far->y};
		}
	}
	return draw_curve(l, out, bottom, above->y + p->bus_y, join);
}

static bool draw_edges(struct reduced *l)
{
	for (size_t i = l->tree->node_count; i-- > 0;)
		l->blocks[i].leaves_critical = leaves_critical(l, (uint32_t)i);
	for (uint32_t i = 0; i < l->tree->node_count; i++) {
		const struct tree_node *n = node_at(l, i);
		const struct block *b = &l->blocks[i];
		uint32_t from = b->node;
		double y = b->y + b->box_height;

		for (uint32_t k = 0; k < n->phase_count; k++) {
			const struct tree_phase *phase = &l->tree->phases[n->first_phase + k];
			const struct place_phase *p = &l->phases[n->first_phase + k];
			struct scene_point start = {b->x, y},
					   end = {b->x, b->y + p->fork_y - LAYOUT_FORK_RADIUS};
			struct scene_edge edge = {.kind = SCENE_CONTINUATION,
						  .critical = n->sum.critical &&
							      l->scene->nodes[p->fork_node].critical,
						  .from = from,
						  .to = p->fork_node};

			if (!draw_curve(l, edge, start, start.y, end))
				return false;
			for (uint32_t c = 0; c < phase->child_count; c++)
				if (!draw_child_edges(l, i, n->first_phase + k, phase->first_child + c))
					return false;
			from = phase->own ? p->join_node : p->fork_node;
			y = b->y + p->join_y + (phase->own ? LAYOUT_JOIN_RADIUS : 0);
		}
	}
	return true;
}

static void place_roots(struct reduced *l)
{
	double x = 0;

	for (uint32_t i = 0; i < l->tree->root_count; i++) {
		struct block *b = &l->blocks[i];
		double left = 0, right = 0;

		for (struct contour_walk w = contour__first(&b->left); w.segment != CONTOUR_END;
		     contour__next(&l->pool, &w))
			left = fmin(left, w.x);
		for (struct contour_walk w = contour__first(&b->right); w.segment != CONTOUR_END;
		     contour__next(&l->pool, &w))
			right = fmax(right, w.x);
		b->x = x - left;
		b->y = 0;
		x += right - left + 3 * l->gap_x;
	}
}

static bool find_scale(struct reduced *l)
{
	uint64_t *durations = calloc(l->tree->node_count + 1, sizeof(*durations));
	size_t count = 0;

	if (!durations)
		return false;
	for (int pass = 0; pass < 2 && !count; pass++)
		for (uint32_t i = 0; i < l->tree->node_count; i++)
			if (node_at(l, i)->kind == TREE_CONTEXT && node_at(l, i)->own_ns &&
			    (pass || node_at(l, i)->sum.grains))
				durations[count++] = node_at(l, i)->own_ns;
	l->scene->px_per_ns = layout__scale(durations, count);
	free(durations);
	return true;
}

int layout__reduced(const struct tree *tree, struct scene *scene)
{
	bool many = tree->node_count > MANY_BOXES;
	struct reduced l = {.tree = tree,
			    .scene = scene,
			    .box_width = many ? 8 : 12,
			    .gap_x = many ? 5 : 7,
			    .leaf_gap_x = many ? 2.5 : 3};
	int r = -ENOMEM;

	contour_pool__init(&l.pool);
	l.blocks = calloc(tree->node_count + 1, sizeof(*l.blocks));
	l.phases = calloc(tree->phase_count + 1, sizeof(*l.phases));
	l.join_node = calloc(tree->outline->joins + 1, sizeof(*l.join_node));
	if (!l.blocks || !l.phases || !l.join_node || !find_scale(&l))
		goto out;
	for (size_t i = 0; i < tree->outline->joins; i++)
		l.join_node[i] = GRAIN_NONE;
	for (size_t i = tree->node_count; i-- > 0;)
		build(&l, (uint32_t)i);
	if (l.pool.failed)
		goto out;
	place_roots(&l);
	if (draw_nodes(&l) && draw_edges(&l))
		r = 0;
	scene->reduced = true;
	scene->folded = tree->folded;
out:
	contour_pool__free(&l.pool);
	free(l.blocks);
	free(l.phases);
	free(l.join_node);
	return r;
}
