/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second pass of the full layout. It takes parents before children. It computes the absolute positions of
 * all nodes, then the edges, which need the positions.
 */
#include "render/layout/layout_full.h"
#include "render/base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void know_join(struct full_layout *l, uint32_t index)
{
	const struct scene_node *node = &l->scene->nodes[index];

	if (node->shape == SCENE_JOIN && node->ref != GRAIN_NONE)
		l->join_node[node->ref] = index;
}

/* Places a region's nodes, starting at fork_node, and the columns of its members. */
static void place_region(struct full_layout *l, uint32_t index, double x, double y)
{
	struct full_region *r = &l->regions[index];
	struct scene_node *node = &l->scene->nodes[r->fork_node];

	r->x = node->x = x;
	r->y = node->y = y;
	for (size_t p = 0; p < r->phase_count; p++) {
		struct full_phase *phase = &l->phases[r->first_phase + p];

		node++;
		node->x = x;
		node->y = y + phase->join_y - LAYOUT_JOIN_RADIUS;
		phase->node = (uint32_t)(node - l->scene->nodes);
		for (size_t i = 0; i < phase->column_count; i++) {
			l->columns[phase->first_column + i].x += x;
			l->columns[phase->first_column + i].y += y;
		}
	}
}

static void place_column(struct full_layout *l, struct full_column *column)
{
	struct scene_node *nodes;

	column->first_node = (uint32_t)l->scene->node_count - column->first_node;
	nodes = &l->scene->nodes[column->first_node];
	for (uint32_t i = 0; i < column->node_count; i++) {
		nodes[i].x = column->x;
		nodes[i].y += column->y;
		know_join(l, column->first_node + i);
	}
	for (uint32_t i = 0; i < column->child_count; i++) {
		struct full_child *child = &l->children[column->first_child + i];

		child->node += column->first_node;
		if (child->is_region) {
			l->regions[child->ref].fork_node = child->node;
			place_region(l, child->ref, column->x, column->y + child->y);
		} else {
			l->columns[child->ref].x = column->x + child->x;
			l->columns[child->ref].y = column->y + child->top;
		}
	}
}

/* ---- edges ------------------------------------------------------------ */

static uint32_t last_node(const struct full_column *column)
{
	return column->first_node + column->node_count - 1;
}

/*
 * Adds an edge. The edge is critical only if both of its ends are. Only one critical edge leads to each node.
 */
static bool add_edge(struct full_layout *l, struct scene_edge edge, const struct scene_point *points)
{
	edge.critical = edge.from != GRAIN_NONE && edge.to != GRAIN_NONE &&
			l->scene->nodes[edge.from].critical && l->scene->nodes[edge.to].critical;
	return scene__add_edge(l->scene, &edge, points) != GRAIN_NONE;
}

static bool edges_down(struct full_layout *l, const struct full_column *column)
{
	const struct full_child *child = &l->children[column->first_child],
				*end = child + column->child_count;
	const struct scene_node *nodes = l->scene->nodes;
	uint32_t above = column->first_node;

	while (above <= last_node(column)) {
		struct scene_edge edge = {.kind = SCENE_CONTINUATION, .points = 2};
		struct scene_point points[2] = {{column->x, nodes[above].y + nodes[above].h}};
		uint32_t last = above;

		while (child < end && (!child->is_region || child->node < above))
			child++;
		if (child < end && child->node == above) {
			points[0].y = column->y + child->y + l->regions[child->ref].height;
			last += (uint32_t)l->regions[child->ref].phase_count;
		}
		above = last + 1;
		if (above > last_node(column))
			break;
		edge.from = last;
		edge.to = above;
		points[1] = (struct scene_point){column->x, nodes[above].y};
		if (!add_edge(l, edge, points))
			return false;
	}
	return true;
}

/* Draws the edge to a join outside of the parent: down past what is below, then across. */
static bool edge_to_ancestor(struct full_layout *l, uint32_t from, uint32_t join,
			     const struct scene_point *tail, double below)
{
	struct scene_edge edge = {
		.kind = SCENE_ANCESTOR, .curved = true, .from = from, .to = l->join_node[join], .points = 7};
	const struct scene_node *node = &l->scene->nodes[edge.to];
	double middle = (node->y - below) / 2;
	struct scene_point points[7] = {*tail,
					{tail->x, tail->y},
					{tail->x, below},
					{tail->x, below},
					{tail->x, below + middle},
					{node->x, node->y - middle},
					{node->x, node->y}};

	return add_edge(l, edge, points);
}

/*
 * The way of a child to the side of its join, or into the tail of the column that leads to the join. Returns
 * the number of points.
 */
static uint32_t way_out(const struct full_layout *l, const struct full_column *column,
			const struct full_child *child, struct scene_point points[4])
{
	const struct full_column *own = &l->columns[child->ref];
	double x = own->x, join_y = column->y + child->join_y;
	double below = own->y + own->bottom + FULL_GAP_Y / 2;
	uint32_t n = 0;

	if (child->routed) {
		points[n++] = (struct scene_point){x, below};
		points[n++] = (struct scene_point){column->x + child->lane, below};
		x = column->x + child->lane;
	}
	points[n++] = (struct scene_point){x, join_y};
	points[n++] = (struct scene_point){column->x + (child->open ? 0 : LAYOUT_JOIN_RADIUS), join_y};
	return n;
}

/*
 * Draws the edge of a child to its join. An edge that merges into its parent's tail ends there. The critical
 * path is drawn all the way to the join, over as many tails as needed.
 */
static bool edge_to_join(struct full_layout *l, const struct full_column *column,
			 const struct full_child *child, const struct scene_point *tail, uint32_t join)
{
	struct scene_edge edge = {.kind = SCENE_SYNCHRONIZATION,
				  .from = last_node(&l->columns[child->ref]),
				  .to = l->join_node[join]};
	bool critical = l->scene->nodes[edge.from].critical && l->scene->nodes[edge.to].critical;
	size_t count = 0;

	if (!array__reserve((void **)&l->way, &l->way_capacity, 0, sizeof(*l->way)))
		return false;
	l->way[count++] = *tail;
	for (;;) {
		if (!array__reserve((void **)&l->way, &l->way_capacity, count + 4, sizeof(*l->way)))
			return false;
		count += way_out(l, column, child, l->way + count);
		/* Region members share the line that leads to their join. */
		if (!critical || !child->open || column->owner == GRAIN_NONE)
			break;
		child = &l->children[column->owner];
		column = &l->columns[column->owner_column];
	}
	edge.points = (uint32_t)count;
	return add_edge(l, edge, l->way);
}

/*
 * Draws the edges of a fork's child. If children are still open at the end of the column, their tails go to
 * `exit`, the join of the column's own context.
 */
static bool edges_of_child(struct full_layout *l, const struct full_column *column,
			   const struct full_child *child, uint32_t exit)
{
	const struct full_column *own = &l->columns[child->ref];
	double fork_y = column->y + child->y + LAYOUT_FORK_RADIUS;
	struct scene_edge creation = {.kind = SCENE_CREATION,
				      .from = child->node,
				      .to = own->first_node,
				      .points = 3};
	struct scene_point create[3] = {{column->x + LAYOUT_FORK_RADIUS, fork_y},
					{own->x, fork_y},
					{own->x, own->y}};
	struct scene_point tail = {own->x, own->y + own->end};
	uint32_t join = child->join;

	if (!add_edge(l, creation, create))
		return false;
	if (join >= l->outline->joins || l->join_node[join] == GRAIN_NONE)
		return true;
	if (child->open && join != exit)
		return edge_to_ancestor(l, last_node(own), join, &tail, own->y + own->bottom);
	return edge_to_join(l, column, child, &tail, join);
}

static bool edges_of_children(struct full_layout *l, const struct full_column *column, uint32_t exit)
{
	for (uint32_t i = 0; i < column->child_count; i++) {
		const struct full_child *child = &l->children[column->first_child + i];

		if (!child->is_region && !edges_of_child(l, column, child, exit))
			return false;
	}
	return edges_down(l, column);
}

/*
 * Draws the edges of a phase: from the fork or join above it (node `from`, centre at `above`) into the
 * columns, and on to the phase's join.
 */
static bool edges_of_phase(struct full_layout *l, const struct full_region *r, const struct full_phase *phase,
			   uint32_t from, double above, double radius)
{
	double join_y = r->y + phase->join_y;
	enum scene_edge_kind kind = phase == &l->phases[r->first_phase] ? SCENE_CREATION : SCENE_CONTINUATION;

	for (size_t i = 0; i < phase->column_count; i++) {
		const struct full_column *column = &l->columns[phase->first_column + i];
		bool straight = column->x == r->x;
		struct scene_point in[3] = {{r->x + radius, above},
					    {column->x, above},
					    {column->x, column->y}};
		struct scene_point out[3] = {{column->x, column->y + column->end},
					     {column->x, join_y},
					     {r->x + LAYOUT_JOIN_RADIUS, join_y}};
		uint32_t points = straight ? 2 : 3;
		struct scene_edge enters = {.kind = kind,
					    .from = from,
					    .to = column->first_node,
					    .points = points};
		struct scene_edge leaves = {.kind = SCENE_SYNCHRONIZATION,
					    .from = last_node(column),
					    .to = phase->node,
					    .points = points};

		if (straight) {
			in[0] = (struct scene_point){r->x, above + radius};
			in[1] = in[2];
			out[1].y = join_y - LAYOUT_JOIN_RADIUS;
		}
		if (!edges_of_children(l, column, phase->join) || !add_edge(l, enters, in) ||
		    !add_edge(l, leaves, out))
			return false;
	}
	if (!phase->column_count) {
		struct scene_edge passes = {.kind = SCENE_CONTINUATION,
					    .from = from,
					    .to = phase->node,
					    .points = 2};
		struct scene_point through[2] = {{r->x, above + radius}, {r->x, join_y - LAYOUT_JOIN_RADIUS}};

		return add_edge(l, passes, through);
	}
	return true;
}

/* Whether the critical path enters one of the members. Then it goes through the fork. */
static bool enters_members(const struct full_layout *l, const struct full_region *r)
{
	const struct full_phase *phase = &l->phases[r->first_phase];

	for (size_t i = 0; i < phase->column_count; i++)
		if (l->scene->nodes[l->columns[phase->first_column + i].first_node].critical)
			return true;
	return false;
}

static bool edges_of_region(struct full_layout *l, const struct full_region *r)
{
	uint32_t from = r->fork_node;
	double above = r->y + LAYOUT_FORK_RADIUS, radius = LAYOUT_FORK_RADIUS;

	for (size_t p = 0; p < r->phase_count; p++) {
		const struct full_phase *phase = &l->phases[r->first_phase + p];

		if (!edges_of_phase(l, r, phase, from, above, radius))
			return false;
		from = phase->node;
		above = r->y + phase->join_y;
		radius = LAYOUT_JOIN_RADIUS;
	}
	return true;
}

/* Places the roots side by side. */
static void place_roots(struct full_layout *l)
{
	const struct outline *o = l->outline;
	double x = 0;

	for (size_t i = 0; i < o->root_count; i++) {
		uint32_t index = o->roots[i].index;
		bool is_region = o->roots[i].is_region;
		struct full_column *column = is_region ? NULL : &l->columns[o->context[index].place];
		struct contour *c = is_region ? &l->regions[index].contour : &column->contour;
		double half = is_region ? FULL_COLUMN_WIDTH / 2 : column->half, width = half;

		for (struct contour_walk w = contour__first(c); w.segment != CONTOUR_END;
		     contour__next(&l->pool, &w))
			width = fmax(width, w.x);
		x += half;
		if (is_region) {
			place_region(l, index, x, 0);
			for (size_t p = 0; p < l->regions[index].phase_count; p++)
				know_join(l, l->phases[l->regions[index].first_phase + p].node);
		} else {
			column->x = x;
			column->y = 0;
		}
		x += width + FULL_GAP_X;
	}
}

static void place_all(struct full_layout *l)
{
	const struct outline *o = l->outline;

	place_roots(l);
	for (size_t i = 0; i < o->count; i++) {
		const struct outline_entry *e = &o->order[i];

		if (e->region == GRAIN_NONE) {
			place_column(l, &l->columns[i]);
			continue;
		}
		if (!e->leads)
			continue;
		for (size_t p = 0; p < l->regions[e->region].phase_count; p++) {
			const struct full_phase *phase = &l->phases[l->regions[e->region].first_phase + p];

			for (size_t c = 0; c < phase->column_count; c++)
				place_column(l, &l->columns[phase->first_column + c]);
		}
	}
}

int full_layout__place(struct full_layout *l)
{
	const struct outline *o = l->outline;

	place_all(l);
	for (size_t i = o->regions; i-- > 0;)
		if (l->regions[i].built && l->regions[i].phase_count)
			l->scene->nodes[l->regions[i].fork_node].critical = enters_members(l, &l->regions[i]);
	for (size_t i = 0; i < o->count; i++) {
		const struct full_column *column = &l->columns[i];

		if (o->order[i].region != GRAIN_NONE)
			continue;
		if (!edges_of_children(l, column, o->context[o->order[i].context].join))
			return -ENOMEM;
	}
	for (size_t i = 0; i < o->regions; i++)
		if (l->regions[i].built && !edges_of_region(l, &l->regions[i]))
			return -ENOMEM;
	return 0;
}
