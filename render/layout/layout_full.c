/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first pass of the full layout. It takes children before their parents.
 *
 * It computes the height of each column: the nodes of a column are below each other, and a join is below the
 * children that it waits for. Then it places the children to the right of the column, from the bottom up, as
 * near as the children placed before allow. The contour is the right side of everything that is placed. Each
 * of its segments is removed once, so the pass takes linear time.
 */
#include "render/layout/layout_full.h"
#include "render/base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prefetch distance in contexts. */
#define AHEAD 8

static struct full_child *add_child(struct full_layout *l, struct full_column *column, uint32_t ref, double y)
{
	struct full_child *child = &l->children[l->child_count++];

	/* The fork is not staged yet. It will be the next node. */
	*child = (struct full_child){.ref = ref, .node = column->node_count, .next = GRAIN_NONE, .y = y};
	column->child_count++;
	return child;
}

/*
 * Adds a fork at `y`, the end of the column. Its child is open until a join waits for it. Returns false if
 * out of memory.
 */
static bool add_fork(struct full_layout *l, struct full_column *column, const struct outline_walk *walk,
		     const struct grain_item *item, double y)
{
	uint32_t at = item->ref < l->outline->contexts ? l->outline->context[item->ref].place : GRAIN_NONE;
	struct full_child *child;

	if (at == GRAIN_NONE || !l->columns[at].built || l->columns[at].claimed)
		return full_layout__stage_fork(l, column, walk, item, y, GRAIN_NONE);
	l->columns[at].claimed = true;
	child = add_child(l, column, at, y);
	child->open = true;
	child->top = y + 2 * LAYOUT_FORK_RADIUS + FULL_GAP_Y;
	child->join = l->outline->context[item->ref].join;
	column->bottom = fmax(column->bottom, child->top + l->columns[at].bottom);
	if (child->join < l->outline->joins) {
		child->next = l->waiting[child->join];
		l->waiting[child->join] = (uint32_t)(child - l->children);
	}
	return full_layout__stage_fork(l, column, walk, item, y, item->ref);
}

static bool add_join(struct full_layout *l, struct full_column *column, const struct outline_walk *walk,
		     const struct grain_item *item, double *y)
{
	uint32_t join = item->ref, waiting = join < l->outline->joins ? l->waiting[join] : GRAIN_NONE;
	double join_y = *y;
	bool any = false;

	for (uint32_t i = waiting; i != GRAIN_NONE; i = l->children[i].next) {
		const struct full_child *child = &l->children[i];

		if (i < column->first_child)
			break;
		join_y = fmax(join_y, child->top + l->columns[child->ref].bottom + FULL_GAP_Y);
		any = true;
	}
	if (any)
		join_y += 2;
	for (uint32_t i = waiting; i != GRAIN_NONE; i = l->children[i].next) {
		if (i < column->first_child)
			break;
		l->children[i].open = false;
		l->children[i].join_y = join_y + LAYOUT_JOIN_RADIUS;
	}
	if (waiting != GRAIN_NONE)
		l->waiting[join] = GRAIN_NONE;
	*y = join_y + 2 * LAYOUT_JOIN_RADIUS + FULL_GAP_Y;
	return full_layout__stage_join(l, column, walk, item, join_y);
}

static bool add_region(struct full_layout *l, struct full_column *column, uint32_t region, double *y)
{
	if (region >= l->outline->regions || l->regions[region].claimed)
		return true;
	l->regions[region].claimed = true;
	/* The region was not built: its members are drawn elsewhere, or it has none. */
	if (!l->regions[region].built && !full_layout__build_region(l, region, false))
		return false;
	add_child(l, column, region, *y)->is_region = true;
	*y += l->regions[region].height + FULL_GAP_Y;
	return full_layout__stage_region(l, column, region);
}

bool full_layout__add_item(struct full_layout *l, struct full_column *column, const struct outline_walk *walk,
			   const struct grain_item *item, double *y)
{
	double height;

	switch (item->kind) {
	case GRAIN_FRAGMENT:
		if (walk->chunk != GRAIN_NONE)
			column->half = FULL_CHUNK_COLUMN_WIDTH / 2;
		height = full_layout__stage_fragment(l, column, walk, item, *y);
		*y += height + FULL_GAP_Y;
		return height >= 0;
	case GRAIN_FORK:
		if (!add_fork(l, column, walk, item, *y))
			return false;
		*y += 2 * LAYOUT_FORK_RADIUS + FULL_GAP_Y;
		return true;
	case GRAIN_JOIN:
		return add_join(l, column, walk, item, y);
	case GRAIN_BOOKKEEPING:
		if (!full_layout__stage_bookkeeping(l, column, walk, item, *y))
			return false;
		*y += FULL_BOOKKEEPING_HEIGHT + FULL_GAP_Y * .7;
		return true;
	case GRAIN_REGION:
		return add_region(l, column, item->ref, y);
	case GRAIN_CHUNK_ITEM:
		break;
	}
	return true;
}

void full_layout__end_column(struct full_column *column, double y)
{
	column->end = column->node_count ? y - FULL_GAP_Y : 0;
	column->bottom = fmax(column->bottom, column->end);
}

/* Places a child to the right of the contour between the child's top and its join. */
static void place_child(struct full_layout *l, uint32_t owner, const struct full_column *column,
			struct full_child *child, struct contour *c)
{
	struct full_column *own = &l->columns[child->ref];
	double fork_y = child->y + LAYOUT_FORK_RADIUS;
	double bottom = child->top + own->bottom;
	double beside = contour__cut(&l->pool, c, bottom + FULL_GAP_Y, column->half);
	double below = contour__cut(&l->pool, c, child->join_y, column->half);
	uint32_t join = child->join;

	own->owner = (uint32_t)(child - l->children);
	own->owner_column = owner;
	child->x = beside + FULL_GAP_X + own->half;
	if (below <= child->x - FULL_LANE / 2) {
		contour__push(&l->pool, c, child->x + 1, bottom, fmax(.1, child->join_y - bottom));
	} else {
		bool shares = join < l->outline->joins && l->lane_owner[join] == owner &&
			      fabs(l->lane_x[join] - below) < 1e-6;

		child->routed = true;
		child->lane = shares ? below : below + FULL_LANE;
		if (join < l->outline->joins) {
			l->lane_owner[join] = owner;
			l->lane_x[join] = child->lane;
		}
		contour__push(&l->pool, c, child->lane, bottom + FULL_GAP_Y / 2,
			      fmax(.1, child->join_y - bottom - FULL_GAP_Y / 2));
	}
	contour__shift(&own->contour, child->x, child->top);
	contour__put_on_top(&l->pool, c, &own->contour);
	contour__push(&l->pool, c, child->x + 1, fork_y - 1, child->top - fork_y + 1);
}

struct contour full_layout__sweep(struct full_layout *l, uint32_t owner, double exit)
{
	const struct full_column *column = &l->columns[owner];
	struct contour c;

	contour__init(&c);
	for (size_t i = column->child_count; i-- > 0;) {
		struct full_child *child = &l->children[column->first_child + i];

		if (child->is_region) {
			struct full_region *region = &l->regions[child->ref];

			contour__shift(&region->contour, 0, child->y);
			contour__cut(&l->pool, &c, child->y + region->height, column->half);
			contour__put_on_top(&l->pool, &c, &region->contour);
		} else {
			if (child->open)
				child->join_y = exit;
			place_child(l, owner, column, child, &c);
		}
	}
	return c;
}

static bool build_task(struct full_layout *l, uint32_t place)
{
	struct full_column *column = &l->columns[place];
	uint32_t context = l->outline->order[place].context;
	struct outline_walk walk;
	struct grain_item item;
	double y = 0;

	l->staged_count = 0;
	*column = (struct full_column){.built = true,
				       .claimed = column->claimed,
				       .first_child = (uint32_t)l->child_count,
				       .owner = GRAIN_NONE,
				       .half = FULL_COLUMN_WIDTH / 2};
	outline_walk__start(&walk, l->outline, context);
	while (outline_walk__next(&walk, &item))
		if (!full_layout__add_item(l, column, &walk, &item, &y))
			return false;
	if (!column->node_count) {
		/* The body was not seen, so a stub stands for it. */
		if (!full_layout__stage_stub(l, column, context))
			return false;
		y = LAYOUT_HEIGHT_FLOOR + FULL_GAP_Y;
	}
	full_layout__end_column(column, y);
	column->bottom = column->bottom > column->end ? column->bottom + FULL_GAP_Y / 2 : column->end;
	column->contour = full_layout__sweep(l, place, column->bottom + FULL_GAP_Y / 2);
	if (column->contour.head == CONTOUR_END)
		contour__push(&l->pool, &column->contour, column->half, 0, column->bottom);
	else if (column->contour.y > 0)
		contour__push(&l->pool, &column->contour, column->half, 0, column->contour.y);
	return full_layout__unstage(l, column);
}

/* ---- the whole -------------------------------------------------------- */

/*
 * Finds the scale: from tasks and chunks, or from all contexts if there are none. It goes in the order of the
 * graph, which is faster than the order of the drawing. Returns false if out of memory.
 */
static bool find_scale(struct full_layout *l)
{
	const struct outline *o = l->outline;
	uint64_t *durations = NULL;
	size_t count = 0, capacity = 0;
	bool ok = true;

	for (int pass = 0; pass < 2 && !count && ok; pass++) {
		for (size_t i = 0; i < o->contexts && ok; i++) {
			const struct outline_context *c = &o->context[i];

			if (!o->seen[i] || (!pass && c->kind != GRAIN_TASK && c->kind != GRAIN_CHUNK))
				continue;
			ok = array__reserve((void **)&durations, &capacity, count + c->item_count,
					    sizeof(*durations));
			for (uint32_t k = 0; ok && k < c->item_count; k++) {
				struct grain_item item;

				grain_graph__item(o->graph, c->first_item + k, &item);
				if (item.kind == GRAIN_FRAGMENT && item.own_ns)
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

	l->columns = calloc(o->count + 1, sizeof(*l->columns));
	l->children = malloc((o->contexts + o->regions + 1) * sizeof(*l->children));
	l->regions = calloc(o->regions + 1, sizeof(*l->regions));
	l->waiting = calloc(o->joins + 1, sizeof(*l->waiting));
	l->join_node = calloc(o->joins + 1, sizeof(*l->join_node));
	l->lane_x = calloc(o->joins + 1, sizeof(*l->lane_x));
	l->lane_owner = calloc(o->joins + 1, sizeof(*l->lane_owner));
	if (!l->columns || !l->children || !l->regions || !l->waiting || !l->join_node || !l->lane_x ||
	    !l->lane_owner)
		return false;
	l->column_count = l->column_capacity = o->count + 1;
	for (size_t i = 0; i < o->regions; i++)
		contour__init(&l->regions[i].contour);
	for (size_t i = 0; i < o->joins; i++)
		l->waiting[i] = l->join_node[i] = l->lane_owner[i] = GRAIN_NONE;
	for (size_t i = 0; i < o->root_count; i++) {
		if (o->roots[i].is_region)
			l->regions[o->roots[i].index].claimed = true;
		else
			l->columns[o->context[o->roots[i].index].place].claimed = true;
	}
	return find_scale(l);
}

/*
 * Allocates arrays at their final size, so that they need not grow and be copied. Returns false if out of
 * memory.
 */
static bool make_room(struct full_layout *l)
{
	size_t nodes = l->outline->full_nodes;

	return array__reserve((void **)&l->scene->edges, &l->scene->edge_capacity, nodes + nodes / 4,
			      sizeof(*l->scene->edges)) &&
	       array__reserve((void **)&l->scene->points, &l->scene->point_capacity, 3 * nodes,
			      sizeof(*l->scene->points));
}

/* Builds the regions that are roots. Their nodes come first. Returns false if out of memory. */
static bool build_roots(struct full_layout *l)
{
	const struct outline *o = l->outline;
	struct full_column all = {0};

	l->staged_count = 0;
	for (size_t i = 0; i < o->root_count; i++) {
		uint32_t index = o->roots[i].index;

		if (!o->roots[i].is_region)
			continue;
		if (!l->regions[index].built && !full_layout__build_region(l, index, false))
			return false;
		l->regions[index].fork_node = all.node_count;
		if (!full_layout__stage_region(l, &all, index))
			return false;
	}
	return !all.node_count || full_layout__unstage(l, &all);
}

/* Prefetches the contexts that are built next, and their items. */
static void fetch(const struct outline *o, size_t from)
{
	const struct outline_context *c;

	if (from < 2 * AHEAD)
		return;
	__builtin_prefetch(&o->context[o->order[from - 2 * AHEAD].context]);
	c = &o->context[o->order[from - AHEAD].context];
	grain_graph__fetch_items(o->graph, c->first_item, c->item_count);
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

		fetch(outline, i);
		if (e->region == GRAIN_NONE ? !build_task(&l, (uint32_t)i)
					    : e->leads && !l.regions[e->region].built &&
						      !full_layout__build_region(&l, e->region, true))
			goto out;
	}
	if (!build_roots(&l))
		goto out;
	r = l.pool.failed ? -ENOMEM : full_layout__place(&l);
out:
	contour_pool__free(&l.pool);
	free(l.staged);
	free(l.children);
	free(l.columns);
	free(l.phases);
	free(l.regions);
	free(l.way);
	free(l.waiting);
	free(l.join_node);
	free(l.lane_x);
	free(l.lane_owner);
	return r;
}
