/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First pass of the full layout, children before parents: the height of every
 * column from its rows and the bottoms of the children that its joins wait
 * for, then the place of the children to its right by one sweep over the right
 * contour from the bottom up. A contour segment is removed once, so the whole
 * is linear.
 */
#include "render/layout_full.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double row_height(struct full_layout *l, const struct grain_item *item)
{
	bool capped;

	return layout__height(l->scene->px_per_ns, item->own_ns, &capped);
}

static struct full_row *add_row(struct full_layout *l, struct full_column *column, enum full_row_kind kind,
				double y, double height)
{
	struct full_row *row;

	if (!scene__reserve((void **)&l->rows, &l->row_capacity, l->row_count, sizeof(*l->rows)))
		return NULL;
	row = &l->rows[l->row_count++];
	*row = (struct full_row){.kind = kind,
				 .context = column->context,
				 .item = GRAIN_NONE,
				 .ref = GRAIN_NONE,
				 .node = GRAIN_NONE,
				 .next = GRAIN_NONE,
				 .y = y,
				 .height = height};
	column->row_count++;
	return row;
}

/* A fork at the column's end `y`; its child waits to be joined. */
static bool add_fork(struct full_layout *l, struct full_column *column, const struct grain_item *item,
		     double y)
{
	struct full_row *row = add_row(l, column, FULL_FORK, y, 2 * LAYOUT_FORK_RADIUS);
	uint32_t join;

	if (!row)
		return false;
	if (item->ref >= l->outline->contexts || l->columns[item->ref].context == GRAIN_NONE ||
	    l->claimed[item->ref])
		return true;
	l->claimed[item->ref] = true;
	row->ref = item->ref;
	row->open = true;
	row->child_top = y + 2 * LAYOUT_FORK_RADIUS + FULL_GAP_Y;
	column->bottom = fmax(column->bottom, row->child_top + l->heights[item->ref]);
	join = l->outline->context[item->ref].join;
	if (join < l->outline->joins) {
		row->next = l->waiting[join];
		l->waiting[join] = (uint32_t)(row - l->rows);
	}
	return true;
}

static bool add_join(struct full_layout *l, struct full_column *column, uint32_t join, double *y)
{
	double join_y = *y;
	uint32_t waiting = join < l->outline->joins ? l->waiting[join] : GRAIN_NONE;
	struct full_row *row;
	bool any = false;

	for (uint32_t i = waiting; i != GRAIN_NONE; i = l->rows[i].next) {
		const struct full_row *fork = &l->rows[i];

		if (i < column->first_row)
			break;
		join_y = fmax(join_y, fork->child_top + l->heights[fork->ref] + FULL_GAP_Y);
		any = true;
	}
	if (any)
		join_y += 2;
	for (uint32_t i = waiting; i != GRAIN_NONE; i = l->rows[i].next) {
		if (i < column->first_row)
			break;
		l->rows[i].open = false;
		l->rows[i].join_y = join_y + LAYOUT_JOIN_RADIUS;
	}
	if (waiting != GRAIN_NONE)
		l->waiting[join] = GRAIN_NONE;
	row = add_row(l, column, FULL_JOIN, join_y, 2 * LAYOUT_JOIN_RADIUS);
	if (!row)
		return false;
	row->ref = join;
	*y = join_y + 2 * LAYOUT_JOIN_RADIUS + FULL_GAP_Y;
	return true;
}

bool full_layout__add_item(struct full_layout *l, struct full_column *column, const struct outline_walk *walk,
			   const struct grain_item *item, double *y)
{
	struct full_row *row = NULL;

	switch (item->kind) {
	case GRAIN_FRAGMENT:
		row = add_row(l, column, walk->chunk == GRAIN_NONE ? FULL_FRAGMENT : FULL_CHUNK, *y,
			      row_height(l, item));
		if (!row)
			return false;
		if (walk->chunk != GRAIN_NONE)
			column->half = FULL_CHUNK_COLUMN_WIDTH / 2;
		*y += row->height + FULL_GAP_Y;
		break;
	case GRAIN_FORK:
		if (!add_fork(l, column, item, *y))
			return false;
		row = &l->rows[l->row_count - 1];
		*y += row->height + FULL_GAP_Y;
		break;
	case GRAIN_JOIN:
		if (!add_join(l, column, item->ref, y))
			return false;
		row = &l->rows[l->row_count - 1];
		break;
	case GRAIN_BOOKKEEPING:
		row = add_row(l, column, FULL_BOOKKEEPING, *y, FULL_BOOKKEEPING_HEIGHT);
		if (!row)
			return false;
		*y += row->height + FULL_GAP_Y * .7;
		break;
	case GRAIN_REGION:
		if (item->ref >= l->outline->regions || l->regions[item->ref].claimed)
			return true;
		l->regions[item->ref].claimed = true;
		/* Its members, if it has any, were met elsewhere. */
		if (!l->regions[item->ref].built && !full_layout__build_region(l, item->ref, false))
			return false;
		row = add_row(l, column, FULL_REGION, *y, l->regions[item->ref].height);
		if (!row)
			return false;
		row->ref = item->ref;
		*y += row->height + FULL_GAP_Y;
		break;
	case GRAIN_CHUNK_ITEM:
		return true;
	}
	row->item = walk->item;
	row->context = walk->context;
	return true;
}

void full_layout__end_column(struct full_column *column, double y)
{
	column->end = column->row_count ? y - FULL_GAP_Y : 0;
	column->bottom = fmax(column->bottom, column->end);
}

/* Where the child of `fork` goes, right of what the contour holds from its top to its join. */
static void place_child(struct full_layout *l, uint32_t owner, const struct full_column *column,
			struct full_row *fork, struct contour *c)
{
	double fork_y = fork->y + LAYOUT_FORK_RADIUS;
	double bottom = fork->child_top + l->heights[fork->ref];
	double beside = contour__cut(&l->pool, c, bottom + FULL_GAP_Y, column->half);
	double below = contour__cut(&l->pool, c, fork->join_y, column->half);
	uint32_t join = l->outline->context[fork->ref].join;

	l->owner_row[fork->ref] = (uint32_t)(fork - l->rows);
	l->owner_column[fork->ref] = owner;
	fork->child_x = beside + FULL_GAP_X + l->columns[fork->ref].half;
	if (below <= fork->child_x - FULL_LANE / 2) {
		contour__push(&l->pool, c, fork->child_x + 1, bottom, fmax(.1, fork->join_y - bottom));
	} else {
		bool shares = join < l->outline->joins && l->lane_owner[join] == owner &&
			      fabs(l->lane_x[join] - below) < 1e-6;

		fork->routed = true;
		fork->lane = shares ? below : below + FULL_LANE;
		if (join < l->outline->joins) {
			l->lane_owner[join] = owner;
			l->lane_x[join] = fork->lane;
		}
		contour__push(&l->pool, c, fork->lane, bottom + FULL_GAP_Y / 2,
			      fmax(.1, fork->join_y - bottom - FULL_GAP_Y / 2));
	}
	contour__shift(&l->contours[fork->ref], fork->child_x, fork->child_top);
	contour__put_on_top(&l->pool, c, &l->contours[fork->ref]);
	contour__push(&l->pool, c, fork->child_x + 1, fork_y - 1, fork->child_top - fork_y + 1);
}

struct contour full_layout__sweep(struct full_layout *l, uint32_t owner, double exit)
{
	const struct full_column *column = &l->columns[owner];
	struct contour c;

	contour__init(&c);
	for (size_t i = column->row_count; i-- > 0;) {
		struct full_row *row = &l->rows[column->first_row + i];

		if (row->kind == FULL_REGION) {
			struct contour *inner = &l->regions[row->ref].contour;

			contour__shift(inner, 0, row->y);
			contour__cut(&l->pool, &c, row->y + row->height, column->half);
			contour__put_on_top(&l->pool, &c, inner);
		} else if (row->kind == FULL_FORK && row->ref != GRAIN_NONE) {
			if (row->open)
				row->join_y = exit;
			place_child(l, owner, column, row, &c);
		}
	}
	return c;
}

static bool build_task(struct full_layout *l, uint32_t context)
{
	struct full_column *column = &l->columns[context];
	struct outline_walk walk;
	struct grain_item item;
	double y = 0;

	column->context = context;
	column->first_row = l->row_count;
	outline_walk__start(&walk, l->outline, context);
	while (outline_walk__next(&walk, &item))
		if (!full_layout__add_item(l, column, &walk, &item, &y))
			return false;
	if (!column->row_count) {
		/* Its body was not seen: a stub stands for it. */
		if (!add_row(l, column, FULL_FRAGMENT, 0, LAYOUT_HEIGHT_FLOOR))
			return false;
		y = LAYOUT_HEIGHT_FLOOR + FULL_GAP_Y;
	}
	full_layout__end_column(column, y);
	l->heights[context] = column->bottom > column->end ? column->bottom + FULL_GAP_Y / 2 : column->end;
	l->contours[context] = full_layout__sweep(l, context, l->heights[context] + FULL_GAP_Y / 2);
	if (l->contours[context].head == CONTOUR_END)
		contour__push(&l->pool, &l->contours[context], column->half, 0, l->heights[context]);
	else if (l->contours[context].y > 0)
		contour__push(&l->pool, &l->contours[context], column->half, 0, l->contours[context].y);
	return true;
}

/* ---- the whole -------------------------------------------------------- */

static bool find_scale(struct full_layout *l)
{
	const struct outline *o = l->outline;
	uint64_t *durations = NULL;
	size_t count = 0, capacity = 0;
	bool ok = true;

	for (int pass = 0; pass < 2 && !count && ok; pass++) {
		for (size_t i = 0; i < o->count && ok; i++) {
			uint8_t kind = o->context[o->order[i].context].kind;
			struct outline_walk walk;
			struct grain_item item;

			outline_walk__start(&walk, l->outline, o->order[i].context);
			while (ok && outline_walk__next(&walk, &item)) {
				if (item.kind != GRAIN_FRAGMENT || !item.own_ns ||
				    (!pass && kind != GRAIN_TASK && walk.chunk == GRAIN_NONE))
					continue;
				ok = scene__reserve((void **)&durations, &capacity, count,
						    sizeof(*durations));
				if (ok)
					durations[count++] = item.own_ns;
			}
		}
	}
	if (ok)
		l->scene->px_per_ns = layout__scale(durations, count);
	free(durations);
	return ok;
}

static bool prepare(struct full_layout *l)
{
	const struct outline *o = l->outline;

	l->columns = calloc(o->contexts + 1, sizeof(*l->columns));
	l->contours = calloc(o->contexts + 1, sizeof(*l->contours));
	l->heights = calloc(o->contexts + 1, sizeof(*l->heights));
	l->claimed = calloc(o->contexts + 1, sizeof(*l->claimed));
	l->owner_row = calloc(o->contexts + 1, sizeof(*l->owner_row));
	l->owner_column = calloc(o->contexts + 1, sizeof(*l->owner_column));
	l->regions = calloc(o->regions + 1, sizeof(*l->regions));
	l->waiting = calloc(o->joins + 1, sizeof(*l->waiting));
	l->join_node = calloc(o->joins + 1, sizeof(*l->join_node));
	l->lane_x = calloc(o->joins + 1, sizeof(*l->lane_x));
	l->lane_owner = calloc(o->joins + 1, sizeof(*l->lane_owner));
	if (!l->columns || !l->contours || !l->heights || !l->claimed || !l->owner_row || !l->owner_column ||
	    !l->regions || !l->waiting || !l->join_node || !l->lane_x || !l->lane_owner)
		return false;
	l->column_count = l->column_capacity = o->contexts + 1;
	for (size_t i = 0; i < l->column_count; i++) {
		l->columns[i] = (struct full_column){.context = GRAIN_NONE, .half = FULL_COLUMN_WIDTH / 2};
		contour__init(&l->contours[i]);
		l->owner_row[i] = GRAIN_NONE;
	}
	for (size_t i = 0; i < o->regions; i++)
		contour__init(&l->regions[i].contour);
	for (size_t i = 0; i < o->joins; i++)
		l->waiting[i] = l->join_node[i] = l->lane_owner[i] = GRAIN_NONE;
	for (size_t i = 0; i < o->root_count; i++) {
		if (o->roots[i].is_region)
			l->regions[o->roots[i].index].claimed = true;
		else
			l->claimed[o->roots[i].index] = true;
	}
	return find_scale(l);
}

/* At once what would be grown and copied again and again. */
static bool make_room(struct full_layout *l)
{
	size_t nodes = l->outline->full_nodes;

	return scene__reserve((void **)&l->scene->nodes, &l->scene->node_capacity, nodes,
			      sizeof(*l->scene->nodes)) &&
	       scene__reserve((void **)&l->scene->edges, &l->scene->edge_capacity, nodes + nodes / 4,
			      sizeof(*l->scene->edges)) &&
	       scene__reserve((void **)&l->scene->points, &l->scene->point_capacity, 3 * nodes,
			      sizeof(*l->scene->points)) &&
	       scene__reserve((void **)&l->rows, &l->row_capacity, nodes, sizeof(*l->rows));
}

int layout__full(const struct outline *outline, struct scene *scene)
{
	struct full_layout l = {.outline = outline, .scene = scene};
	int r = -ENOMEM;

	contour_pool__init(&l.pool);
	if (!prepare(&l) || !make_room(&l))
		goto out;
	for (size_t i = outline->count; i-- > 0;) {
		const struct outline_entry *e = &outline->order[i];

		if (e->region == GRAIN_NONE ? !build_task(&l, e->context)
					    : e->leads && !l.regions[e->region].built &&
						      !full_layout__build_region(&l, e->region, true))
			goto out;
	}
	for (size_t i = 0; i < outline->root_count; i++) {
		uint32_t index = outline->roots[i].index;

		if (outline->roots[i].is_region && !l.regions[index].built &&
		    !full_layout__build_region(&l, index, false))
			goto out;
	}
	r = l.pool.failed ? -ENOMEM : full_layout__place(&l);
out:
	contour_pool__free(&l.pool);
	free(l.rows);
	free(l.columns);
	free(l.contours);
	free(l.heights);
	free(l.claimed);
	free(l.owner_row);
	free(l.owner_column);
	free(l.phases);
	free(l.regions);
	free(l.waiting);
	free(l.join_node);
	free(l.lane_x);
	free(l.lane_owner);
	return r;
}
