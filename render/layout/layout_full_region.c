/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parallel regions in the first pass of the full layout. A region has phases. A phase lies between two joins
 * that all members share. In each phase, the members' columns are side by side.
 */
#include <math.h>
#include <stdlib.h>

#include "render/layout/layout_full.h"
#include "render/base/array.h"

/* A value of lane_owner: find_phases() has found this join. */
#define KNOWN_SHARED (GRAIN_NONE - 1)

struct shared_join {
	uint32_t join;
	bool last;
	uint64_t time_ns;
};

static int compare_shared(const void *a, const void *b)
{
	const struct shared_join *x = a, *y = b;

	if (x->last != y->last)
		return x->last ? 1 : -1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->join < y->join ? -1 : x->join > y->join;
}

static int compare_column(const void *a, const void *b)
{
	const struct full_column *x = a, *y = b;

	if (x->phase != y->phase)
		return x->phase < y->phase ? -1 : 1;
	return x->first_node < y->first_node ? -1 : x->first_node > y->first_node;
}

/*
 * Makes one phase for each join that the members share, and a last one for the region's end. Returns false if
 * out of memory.
 */
static bool find_phases(struct full_layout *l, const struct grain_region *region, uint32_t index)
{
	struct full_region *fr = &l->regions[index];
	struct shared_join *joins = NULL;
	size_t count = 0, capacity = 0;
	bool ok = true;

	for (uint32_t m = 0; m < region->threads && ok; m++) {
		uint32_t member = grain_graph__member(l->outline->graph, region->first_member + m);
		struct outline_walk walk;
		struct grain_item item;
		struct grain_join join;

		if (member >= l->outline->contexts)
			continue;
		outline_walk__start(&walk, l->outline, member);
		while (outline_walk__next(&walk, &item)) {
			if (item.kind != GRAIN_JOIN || item.ref >= l->outline->joins)
				continue;
			grain_graph__join(l->outline->graph, item.ref, &join);
			if (!outline__is_shared(&join) || join.region != index ||
			    item.ref == region->end_join || l->lane_owner[item.ref] == KNOWN_SHARED)
				continue;
			l->lane_owner[item.ref] = KNOWN_SHARED;
			ok = array__reserve((void **)&joins, &capacity, count, sizeof(*joins));
			if (!ok)
				break;
			joins[count++] = (struct shared_join){.join = item.ref, .time_ns = join.end_ns};
		}
	}
	if (ok)
		ok = array__reserve((void **)&joins, &capacity, count, sizeof(*joins));
	if (ok) {
		joins[count++] = (struct shared_join){.join = region->end_join, .last = true};
		qsort(joins, count, sizeof(*joins), compare_shared);
		fr->first_phase = l->phase_count;
		fr->phase_count = count;
		ok = array__reserve((void **)&l->phases, &l->phase_capacity, l->phase_count + count,
				    sizeof(*l->phases));
	}
	for (size_t i = 0; ok && i < count; i++) {
		/* While a region is being built, join_node holds the phase of a shared join. */
		if (joins[i].join < l->outline->joins)
			l->join_node[joins[i].join] = (uint32_t)i;
		l->phases[l->phase_count++] = (struct full_phase){.join = joins[i].join, .node = GRAIN_NONE};
	}
	free(joins);
	return ok;
}

static struct full_column *new_column(struct full_layout *l, uint32_t phase)
{
	struct full_column *column;

	if (!array__reserve((void **)&l->columns, &l->column_capacity, l->column_count, sizeof(*l->columns)))
		return NULL;
	column = &l->columns[l->column_count++];
	*column = (struct full_column){.owner = GRAIN_NONE,
				       .first_node = (uint32_t)l->staged_count,
				       .first_child = (uint32_t)l->child_count,
				       .half = FULL_COLUMN_WIDTH / 2,
				       .phase = phase};
	return column;
}

/* Builds one column for each phase in which the member did something. Returns false if out of memory. */
static bool build_member(struct full_layout *l, uint32_t member, uint32_t index)
{
	const struct full_region *fr = &l->regions[index];
	uint32_t last = (uint32_t)fr->phase_count - 1, passed = 0;
	struct full_column *column = new_column(l, last);
	struct outline_walk walk;
	struct grain_item item;
	struct grain_join join;
	double y = 0;

	if (!column)
		return false;
	outline_walk__start(&walk, l->outline, member);
	while (outline_walk__next(&walk, &item)) {
		bool shared = false;

		if (item.kind == GRAIN_JOIN && item.ref < l->outline->joins) {
			grain_graph__join(l->outline->graph, item.ref, &join);
			shared = outline__is_shared(&join) && join.region == index;
		}
		if (shared) {
			uint32_t phase = l->join_node[item.ref];

			if (phase >= fr->phase_count || phase < passed)
				continue;
			if (phase == last)
				break;
			column->phase = phase;
			full_layout__end_column(column, y);
			passed = phase + 1;
			column = new_column(l, last);
			if (!column)
				return false;
			y = 0;
			continue;
		}
		if (!full_layout__add_item(l, column, &walk, &item, &y))
			return false;
	}
	full_layout__end_column(column, y);
	return true;
}

/* Places the columns of one phase side by side, starting at `y`. Returns the y of its join. */
static double place_phase(struct full_layout *l, struct full_region *fr, struct full_phase *phase, double y)
{
	double bottom = y, right = 0, x = 0;

	for (size_t i = 0; i < phase->column_count; i++)
		bottom = fmax(bottom, y + l->columns[phase->first_column + i].bottom);
	phase->y = y;
	phase->join_y = bottom + 2 * FULL_GAP_Y + LAYOUT_JOIN_RADIUS;
	for (size_t i = 0; i < phase->column_count; i++) {
		size_t at = phase->first_column + i;
		struct full_column *column = &l->columns[at];
		struct contour c = full_layout__sweep(l, (uint32_t)at, phase->join_y - y);
		double width = column->half;

		for (struct contour_walk w = contour__first(&c); w.segment != CONTOUR_END;
		     contour__next(&l->pool, &w))
			width = fmax(width, w.x);
		contour__release(&l->pool, &c);
		if (i)
			x += column->half;
		column->x = x;
		column->y = y;
		right = x + width;
		x = right + FULL_GAP_X;
	}
	contour__append(&l->pool, &fr->contour, fmax(right, FULL_COLUMN_WIDTH / 2), y - FULL_GAP_Y,
			phase->join_y - y + FULL_GAP_Y);
	return phase->join_y;
}

bool full_layout__build_region(struct full_layout *l, uint32_t index, bool with_members)
{
	struct full_region *fr = &l->regions[index];
	struct grain_region region;
	size_t first = l->column_count, kept;
	double y = 2 * LAYOUT_FORK_RADIUS + 2 * FULL_GAP_Y;

	fr->built = true;
	if (with_members)
		l->staged_count = 0;
	grain_graph__region(l->outline->graph, index, &region);
	if (!find_phases(l, &region, index))
		return false;
	for (uint32_t m = 0; with_members && m < region.threads; m++) {
		uint32_t member = grain_graph__member(l->outline->graph, region.first_member + m);

		if (member < l->outline->contexts && !build_member(l, member, index))
			return false;
	}
	kept = first;
	for (size_t i = first; i < l->column_count; i++)
		if (l->columns[i].node_count)
			l->columns[kept++] = l->columns[i];
	l->column_count = kept;
	qsort(l->columns + first, kept - first, sizeof(*l->columns), compare_column);
	for (size_t i = kept; i-- > first;)
		if (!full_layout__unstage(l, &l->columns[i]))
			return false;
	contour__append(&l->pool, &fr->contour, FULL_COLUMN_WIDTH / 2, 0, y);
	for (size_t p = 0; p < fr->phase_count; p++) {
		struct full_phase *phase = &l->phases[fr->first_phase + p];

		phase->first_column = first;
		while (first < kept && l->columns[first].phase == p)
			first++;
		phase->column_count = first - phase->first_column;
		y = place_phase(l, fr, phase, y) + LAYOUT_JOIN_RADIUS + 2 * FULL_GAP_Y;
	}
	fr->height = y - 2 * FULL_GAP_Y;
	for (size_t p = 0; p < fr->phase_count; p++) {
		uint32_t join = l->phases[fr->first_phase + p].join;

		if (join < l->outline->joins)
			l->join_node[join] = GRAIN_NONE;
	}
	return true;
}
