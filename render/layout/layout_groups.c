/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The aggregated layout. Open groups are frames around their members. The members of a family are below each
 * other, between forks and joins. All other members are side by side in rows. Sizes are computed from the
 * inside out, positions from the outside in. Each is one walk over the boxes, so it takes linear time and
 * needs no recursion.
 */
#include "render/layout/layout_groups.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROW_WIDTH 1400.0 /* the width at which a row ends */
#define ROW_SHAPE 1.6	 /* wanted width / height of the rows together */

static double gap_after(const struct group_box *box)
{
	return box->shape == SCENE_BOX ? GROUPS_GRAIN_GAP : GROUPS_GAP;
}

static struct group_size arrange_chain(struct group_layout *l, struct group_box *frame, group_put put)
{
	struct group_size size = {0, 0};
	double y = 0;
	uint32_t join;

	for (uint32_t i = 0; i < frame->count; i++)
		size.w = fmax(size.w, l->boxes[frame->first + i].w);
	for (uint32_t i = 0; i < frame->count; i++) {
		struct group_box *box = &l->boxes[frame->first + i];

		if (i)
			y += GROUPS_GAP;
		if (group_box__forks(box))
			y += 2 * LAYOUT_FORK_RADIUS + GROUPS_GAP;
		if (put)
			put(box, (size.w - box->w) / 2, y);
		y += box->h;
		if (group_box__joins(l, box, &join))
			y += GROUPS_GAP + 2 * LAYOUT_JOIN_RADIUS;
	}
	size.h = y;
	return size;
}

/* Arranges one row, starting at *index. A single member may be wider than a row. */
static struct group_size arrange_row(struct group_layout *l, const struct group_box *frame, uint32_t *index,
				     double top, group_put put)
{
	const struct group_box *boxes = l->boxes + frame->first;
	struct group_size row = {0, 0};
	uint32_t end = *index;
	bool grains = true;
	double x = 0;

	for (; end < frame->count; end++) {
		double right = x + boxes[end].w;

		if (end > *index && right > frame->row_width)
			break;
		row.w = right;
		row.h = fmax(row.h, boxes[end].h);
		grains = grains && boxes[end].shape == SCENE_BOX;
		x = right + gap_after(&boxes[end]);
	}
	x = 0;
	for (; *index < end; ++*index) {
		struct group_box *box = &l->boxes[frame->first + *index];

		/* Grains that are side by side stand on one line, because people compare their heights. */
		if (put)
			put(box, x, top + (grains ? 0 : (row.h - box->h) / 2));
		x += box->w + gap_after(box);
	}
	return row;
}

struct group_size group_layout__arrange(struct group_layout *l, struct group_box *frame, group_put put)
{
	struct group_size size = {0, 0};

	if (frame->chain)
		return arrange_chain(l, frame, put);
	for (uint32_t i = 0; i < frame->count;) {
		double top = size.h + (i ? GROUPS_GAP : 0);
		struct group_size row = arrange_row(l, frame, &i, top, put);

		size.w = fmax(size.w, row.w);
		size.h = top + row.h;
	}
	return size;
}

static void size_frame(struct group_layout *l, struct group_box *frame)
{
	double area = 0, length = 0, widest = 0;
	struct group_size inside;

	for (uint32_t i = 0; i < frame->count; i++) {
		const struct group_box *box = &l->boxes[frame->first + i];

		area += (box->w + gap_after(box)) * (box->h + GROUPS_GAP);
		length += box->w + gap_after(box);
		widest = fmax(widest, box->w);
	}
	frame->row_width =
		length <= ROW_WIDTH ? INFINITY : fmax(widest, fmax(ROW_WIDTH, sqrt(area * ROW_SHAPE)));
	inside = group_layout__arrange(l, frame, NULL);
	frame->w = fmax(inside.w, GROUPS_WIDTH) + 2 * GROUPS_PAD;
	frame->h = inside.h + layout__heading_height(frame->w) + GROUPS_PAD;
}

static void size_all(struct group_layout *l)
{
	for (size_t i = l->count; i-- > 0;) {
		struct group_box *box = &l->boxes[i];
		struct grain_context c;
		bool capped;

		switch (box->shape) {
		case SCENE_BOX:
			grain_graph__context(l->graph, box->context, &c);
			box->w = GROUPS_GRAIN_WIDTH;
			box->h = layout__height(l->scene->px_per_ns, c.exec_ns, &capped);
			break;
		case SCENE_SKIP:
			box->w = GROUPS_SKIP_WIDTH;
			box->h = GROUPS_SKIP_HEIGHT;
			break;
		case SCENE_OPEN:
			size_frame(l, box);
			break;
		default:
			box->w = GROUPS_WIDTH;
			box->h = GROUPS_HEIGHT;
		}
	}
}

/*
 * Finds the scale: from the drawn grains, else from all contexts that compute. It is 0 if nothing computes.
 * Returns false if out of memory.
 */
static bool find_scale(struct group_layout *l)
{
	uint64_t *durations = calloc(l->count + 1, sizeof(*durations));
	size_t count = 0;

	if (!durations)
		return false;
	for (int pass = 0; pass < 2 && !count; pass++) {
		for (size_t i = 0; i < l->count; i++) {
			struct grain_context c;

			if (l->boxes[i].shape != SCENE_BOX)
				continue;
			grain_graph__context(l->graph, l->boxes[i].context, &c);
			if (c.exec_ns && (pass || c.kind == GRAIN_TASK || c.kind == GRAIN_CHUNK))
				durations[count++] = c.exec_ns;
		}
	}
	l->scene->px_per_ns = count ? layout__scale(durations, count) : 0;
	free(durations);
	return true;
}

int layout__groups(const struct grain_graph *graph, const struct grain_groups *groups,
		   const struct layout_groups_opts *opts, struct scene *scene)
{
	struct group_layout l = {.graph = graph, .groups = groups, .opts = opts, .scene = scene};
	int r = group_layout__open(&l);

	if (r == 0 && !find_scale(&l))
		r = -ENOMEM;
	if (r == 0) {
		size_all(&l);
		r = group_layout__place(&l);
	}
	scene->aggregated = true;
	scene->groups = groups;
	scene->levels = l.levels;
	free(l.boxes);
	return r;
}
