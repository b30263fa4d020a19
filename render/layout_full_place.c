/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second pass of the full layout, parents before children: absolute positions
 * and nodes, then the edges, for which all nodes are known.
 */
#include "render/layout_full.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool place_region(struct full_layout *l, uint32_t index, double x, double y)
{
	struct full_region *r = &l->regions[index];
	struct grain_region region;
	struct scene_node fork = {.shape = SCENE_FORK,
				  .x = x,
				  .y = y,
				  .w = 2 * LAYOUT_FORK_RADIUS,
				  .h = 2 * LAYOUT_FORK_RADIUS,
				  .ref = GRAIN_NONE,
				  .region = index};

	grain_graph__region(l->outline->graph, index, &region);
	fork.context = region.parent;
	fork.incomplete = region.incomplete;
	fork.grains = region.threads;
	r->x = x;
	r->y = y;
	r->fork_node = scene__add_node(l->scene, &fork);
	if (r->fork_node == GRAIN_NONE)
		return false;
	for (size_t p = 0; p < r->phase_count; p++) {
		struct full_phase *phase = &l->phases[r->first_phase + p];
		struct scene_node join = {.shape = SCENE_JOIN,
					  .x = x,
					  .y = y + phase->join_y - LAYOUT_JOIN_RADIUS,
					  .w = 2 * LAYOUT_JOIN_RADIUS,
					  .h = 2 * LAYOUT_JOIN_RADIUS,
					  .context = region.parent,
					  .ref = phase->join,
					  .region = index};

		if (phase->join < l->outline->joins) {
			struct grain_join j;

			grain_graph__join(l->outline->graph, phase->join, &j);
			join.critical = j.critical;
			join.grains = j.joined;
		} else {
			join.ref = GRAIN_NONE;
			join.incomplete = true;
		}
		phase->node = scene__add_node(l->scene, &join);
		if (phase->node == GRAIN_NONE)
			return false;
		if (join.ref != GRAIN_NONE)
			l->join_node[join.ref] = phase->node;
		for (size_t i = 0; i < phase->column_count; i++) {
			l->columns[phase->first_column + i].x += x;
			l->columns[phase->first_column + i].y += y;
		}
	}
	return true;
}

static void describe_fork(const struct full_layout *l, const struct full_row *row, struct scene_node *node)
{
	node->grains = 1;
	node->incomplete = row->ref == GRAIN_NONE;
	if (row->ref == GRAIN_NONE)
		return;
	node->undeferred = l->outline->context[row->ref].undeferred;
}

static bool place_row(struct full_layout *l, const struct full_column *column, struct full_row *row)
{
	static const uint8_t shapes[] = {SCENE_FRAGMENT, SCENE_CHUNK, SCENE_BOOKKEEPING, SCENE_FORK,
					 SCENE_JOIN};
	static const double widths[] = {LAYOUT_FRAGMENT_WIDTH, LAYOUT_CHUNK_WIDTH, FULL_BOOKKEEPING_WIDTH,
					2 * LAYOUT_FORK_RADIUS, 2 * LAYOUT_JOIN_RADIUS};
	struct scene_node node = {.x = column->x,
				  .y = column->y + row->y,
				  .h = row->height,
				  .context = row->context,
				  .ref = row->item,
				  .region = GRAIN_NONE};
	struct grain_context c;
	struct grain_item item;

	if (row->kind == FULL_REGION)
		return place_region(l, row->ref, node.x, node.y);
	node.shape = shapes[row->kind];
	node.w = widths[row->kind];
	if (row->item != GRAIN_NONE) {
		grain_graph__item(l->outline->graph, row->item, &item);
		node.critical = item.critical;
		node.tid = item.tid;
		node.cpu = item.cpu;
		node.time_ns = item.own_ns;
	}
	if (row->kind == FULL_FRAGMENT || row->kind == FULL_CHUNK) {
		layout__height(l->scene->px_per_ns, node.time_ns, &node.capped);
		grain_graph__context(l->outline->graph, row->context, &c);
		node.incomplete = c.incomplete;
		node.undeferred = c.undeferred;
		node.discarded = c.discarded;
		node.grains = (c.kind == GRAIN_TASK && !c.runtime) || c.kind == GRAIN_CHUNK;
	} else if (row->kind == FULL_FORK) {
		describe_fork(l, row, &node);
	} else if (row->kind == FULL_JOIN) {
		node.ref = row->ref < l->outline->joins ? row->ref : GRAIN_NONE;
		if (node.ref != GRAIN_NONE) {
			struct grain_join join;

			grain_graph__join(l->outline->graph, node.ref, &join);
			node.critical = join.critical;
			node.grains = join.joined;
		}
	}
	row->node = scene__add_node(l->scene, &node);
	if (row->node == GRAIN_NONE)
		return false;
	if (row->kind == FULL_JOIN && node.ref != GRAIN_NONE)
		l->join_node[node.ref] = row->node;
	return true;
}

static bool place_column(struct full_layout *l, const struct full_column *column)
{
	for (size_t i = 0; i < column->row_count; i++) {
		struct full_row *row = &l->rows[column->first_row + i];

		if (!place_row(l, column, row))
			return false;
		if (row->kind == FULL_FORK && row->ref != GRAIN_NONE) {
			l->columns[row->ref].x = column->x + row->child_x;
			l->columns[row->ref].y = column->y + row->child_top;
		}
	}
	return true;
}

/* ---- edges ------------------------------------------------------------ */

static uint32_t first_node(const struct full_layout *l, const struct full_row *row)
{
	return row->kind == FULL_REGION ? l->regions[row->ref].fork_node : row->node;
}

static uint32_t last_node(const struct full_layout *l, const struct full_row *row)
{
	return row->kind == FULL_REGION ? full_region__last(l, &l->regions[row->ref])->node : row->node;
}

/* A node has one way in that is critical, and both its ends are. */
static bool add_edge(struct full_layout *l, enum scene_edge_kind kind, bool curved, uint32_t from,
		     uint32_t to, const struct scene_point *points, uint32_t count)
{
	bool critical = from != GRAIN_NONE && to != GRAIN_NONE && l->scene->nodes[from].critical &&
			l->scene->nodes[to].critical;

	return scene__add_edge(l->scene, kind, critical, curved, from, to, points, count) != GRAIN_NONE;
}

static bool edges_down(struct full_layout *l, const struct full_column *column)
{
	for (size_t i = 1; i < column->row_count; i++) {
		const struct full_row *above = &l->rows[column->first_row + i - 1];
		const struct full_row *below = above + 1;
		struct scene_point points[2] = {{column->x, column->y + above->y + above->height},
						{column->x, column->y + below->y}};

		if (!add_edge(l, SCENE_CONTINUATION, false, last_node(l, above), first_node(l, below), points,
			      2))
			return false;
	}
	return true;
}

/* To a join that lies beyond the parent: down past what hangs below, then over the rest. */
static bool edge_to_ancestor(struct full_layout *l, uint32_t from, uint32_t join,
			     const struct scene_point *tail, double below)
{
	const struct scene_node *node = &l->scene->nodes[l->join_node[join]];
	double middle = (node->y - below) / 2;
	struct scene_point points[7] = {*tail,
					{tail->x, tail->y},
					{tail->x, below},
					{tail->x, below},
					{tail->x, below + middle},
					{node->x, node->y - middle},
					{node->x, node->y}};

	return add_edge(l, SCENE_ANCESTOR, true, from, l->join_node[join], points, 7);
}

/* The way of a fork's child to the join's side, or into the tail of the column that leads there. */
static uint32_t way_out(const struct full_layout *l, const struct full_column *column,
			const struct full_row *fork, struct scene_point points[4])
{
	double x = l->columns[fork->ref].x, join_y = column->y + fork->join_y;
	double below = l->columns[fork->ref].y + l->heights[fork->ref] + FULL_GAP_Y / 2;
	uint32_t n = 0;

	if (fork->routed) {
		points[n++] = (struct scene_point){x, below};
		points[n++] = (struct scene_point){column->x + fork->lane, below};
		x = column->x + fork->lane;
	}
	points[n++] = (struct scene_point){x, join_y};
	points[n++] = (struct scene_point){column->x + (fork->open ? 0 : LAYOUT_JOIN_RADIUS), join_y};
	return n;
}

/*
 * What merges into its parent's tail ends there, but the critical path is drawn
 * down to the join, over as many tails as it takes.
 */
static bool edge_to_join(struct full_layout *l, const struct full_column *column, const struct full_row *fork,
			 const struct scene_point *tail, uint32_t join)
{
	const struct full_column *child = &l->columns[fork->ref];
	uint32_t from = last_node(l, &l->rows[child->first_row + child->row_count - 1]);
	struct scene_point *points = NULL;
	size_t count = 0, capacity = 0;
	bool ok, critical = l->scene->nodes[from].critical && l->scene->nodes[l->join_node[join]].critical;

	ok = scene__reserve((void **)&points, &capacity, 0, sizeof(*points));
	if (ok)
		points[count++] = *tail;
	while (ok) {
		ok = scene__reserve((void **)&points, &capacity, count + 4, sizeof(*points));
		if (!ok)
			break;
		count += way_out(l, column, fork, points + count);
		/* Region members share the line that leads to their join. */
		if (!critical || !fork->open || column->context == GRAIN_NONE ||
		    column != &l->columns[column->context] || l->owner_row[column->context] == GRAIN_NONE)
			break;
		fork = &l->rows[l->owner_row[column->context]];
		column = &l->columns[l->owner_column[column->context]];
	}
	ok = ok &&
	     add_edge(l, SCENE_SYNCHRONIZATION, false, from, l->join_node[join], points, (uint32_t)count);
	free(points);
	return ok;
}

/*
 * The edges of a fork's child. The tails of children that are still open at
 * the column's end go to `exit`, the join of the column's own context.
 */
static bool edges_of_child(struct full_layout *l, const struct full_column *column,
			   const struct full_row *fork, uint32_t exit)
{
	const struct full_column *child = &l->columns[fork->ref];
	const struct full_row *first = &l->rows[child->first_row], *last = first + child->row_count - 1;
	double fork_y = column->y + fork->y + LAYOUT_FORK_RADIUS;
	struct scene_point create[3] = {{column->x + LAYOUT_FORK_RADIUS, fork_y},
					{child->x, fork_y},
					{child->x, child->y}};
	struct scene_point tail = {child->x, child->y + child->end};
	double below = child->y + l->heights[fork->ref];
	uint32_t join = l->outline->context[fork->ref].join;

	if (!add_edge(l, SCENE_CREATION, false, fork->node, first_node(l, first), create, 3))
		return false;
	if (join >= l->outline->joins || l->join_node[join] == GRAIN_NONE)
		return true;
	if (fork->open && join != exit)
		return edge_to_ancestor(l, last_node(l, last), join, &tail, below);
	return edge_to_join(l, column, fork, &tail, join);
}

static bool edges_of_children(struct full_layout *l, const struct full_column *column, uint32_t exit)
{
	for (size_t i = 0; i < column->row_count; i++) {
		const struct full_row *row = &l->rows[column->first_row + i];

		if (row->kind == FULL_FORK && row->ref != GRAIN_NONE && !edges_of_child(l, column, row, exit))
			return false;
	}
	return edges_down(l, column);
}

/* From the fork or join above (`from`, centre at `above`) into a phase's columns and on to its join. */
static bool edges_of_phase(struct full_layout *l, const struct full_region *r, const struct full_phase *phase,
			   uint32_t from, double above, double radius)
{
	double join_y = r->y + phase->join_y;
	bool first = phase == &l->phases[r->first_phase];

	for (size_t i = 0; i < phase->column_count; i++) {
		const struct full_column *column = &l->columns[phase->first_column + i];
		const struct full_row *top = &l->rows[column->first_row], *last = top + column->row_count - 1;
		bool straight = column->x == r->x;
		struct scene_point in[3] = {{r->x + radius, above},
					    {column->x, above},
					    {column->x, column->y}};
		struct scene_point out[3] = {{column->x, column->y + column->end},
					     {column->x, join_y},
					     {r->x + LAYOUT_JOIN_RADIUS, join_y}};

		if (straight) {
			in[0] = (struct scene_point){r->x, above + radius};
			in[1] = in[2];
			out[1].y = join_y - LAYOUT_JOIN_RADIUS;
		}
		if (!edges_of_children(l, column, phase->join) ||
		    !add_edge(l, first ? SCENE_CREATION : SCENE_CONTINUATION, false, from, first_node(l, top),
			      in, straight ? 2 : 3) ||
		    !add_edge(l, SCENE_SYNCHRONIZATION, false, last_node(l, last), phase->node, out,
			      straight ? 2 : 3))
			return false;
	}
	if (!phase->column_count) {
		struct scene_point through[2] = {{r->x, above + radius}, {r->x, join_y - LAYOUT_JOIN_RADIUS}};

		return add_edge(l, SCENE_CONTINUATION, false, from, phase->node, through, 2);
	}
	return true;
}

/* The fork is on the critical path when the path enters one of the members. */
static bool enters_members(const struct full_layout *l, const struct full_region *r)
{
	const struct full_phase *phase = &l->phases[r->first_phase];

	for (size_t i = 0; i < phase->column_count; i++) {
		uint32_t node = first_node(l, &l->rows[l->columns[phase->first_column + i].first_row]);

		if (node != GRAIN_NONE && l->scene->nodes[node].critical)
			return true;
	}
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

/* Puts what starts a drawing side by side. */
static bool place_roots(struct full_layout *l)
{
	const struct outline *o = l->outline;
	double x = 0;

	for (size_t i = 0; i < o->root_count; i++) {
		uint32_t index = o->roots[i].index;
		bool is_region = o->roots[i].is_region;
		struct contour *c = is_region ? &l->regions[index].contour : &l->contours[index];
		double half = is_region ? FULL_COLUMN_WIDTH / 2 : l->columns[index].half, width = half;

		for (struct contour_walk w = contour__first(c); w.segment != CONTOUR_END;
		     contour__next(&l->pool, &w))
			width = fmax(width, w.x);
		x += half;
		if (is_region && !place_region(l, index, x, 0))
			return false;
		if (!is_region) {
			l->columns[index].x = x;
			l->columns[index].y = 0;
		}
		x += width + FULL_GAP_X;
	}
	return true;
}

static bool place_all(struct full_layout *l)
{
	const struct outline *o = l->outline;

	if (!place_roots(l))
		return false;
	for (size_t i = 0; i < o->count; i++) {
		const struct outline_entry *e = &o->order[i];

		if (e->region == GRAIN_NONE) {
			if (!place_column(l, &l->columns[e->context]))
				return false;
			continue;
		}
		if (!e->leads)
			continue;
		for (size_t p = 0; p < l->regions[e->region].phase_count; p++) {
			const struct full_phase *phase = &l->phases[l->regions[e->region].first_phase + p];

			for (size_t c = 0; c < phase->column_count; c++)
				if (!place_column(l, &l->columns[phase->first_column + c]))
					return false;
		}
	}
	return true;
}

int full_layout__place(struct full_layout *l)
{
	const struct outline *o = l->outline;

	if (!place_all(l))
		return -ENOMEM;
	for (size_t i = o->regions; i-- > 0;)
		if (l->regions[i].built && l->regions[i].phase_count)
			l->scene->nodes[l->regions[i].fork_node].critical = enters_members(l, &l->regions[i]);
	for (size_t i = 0; i < o->count; i++) {
		const struct full_column *column = &l->columns[o->order[i].context];

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
