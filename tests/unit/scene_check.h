/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a layout promises, looked for by other means than the layout's: no two
 * nodes overlap, no edge crosses another or passes a node, frames hold what is
 * in them and cross nothing else, heights are linear in time. The plane is
 * halved until few things are left in each part, and those are compared.
 */
#ifndef GRAIND_TESTS_SCENE_CHECK_H
#define GRAIND_TESTS_SCENE_CHECK_H

#include <math.h>
#include <stdlib.h>

#include "render/base/array.h"
#include "render/layout/layout.h"

#define SCENE_CURVE_STEPS 6
#define SCENE_EPSILON 1e-6
#define SCENE_FEW 24
#define SCENE_MANY 1500
#define SCENE_DEEPEST 60

/* A node, or a straight piece of an edge or of a frame's border. */
struct scene_thing {
	double x0, y0, x1, y1;		 /* a node's corners, a line's ends */
	double left, right, top, bottom; /* around it */
	uint32_t from, to;		 /* nodes at its ends; a node itself */
	bool node, wall;
};

struct scene_faults {
	unsigned overlaps, crossings, through, walls, heights;
	size_t lines;
};

struct scene_things {
	struct scene_thing *all;
	size_t count, capacity;
};

static inline void scene_things__add(struct scene_things *t, double x0, double y0, double x1, double y1,
				     uint32_t from, uint32_t to, bool node, bool wall)
{
	struct scene_thing *thing;

	if (!array__reserve((void **)&t->all, &t->capacity, t->count, sizeof(*t->all)))
		abort();
	thing = &t->all[t->count++];
	*thing = (struct scene_thing){x0,	    y0,		  x1,	y1, fmin(x0, x1), fmax(x0, x1),
				      fmin(y0, y1), fmax(y0, y1), from, to, node,	  wall};
}

static inline void scene_things__add_node(struct scene_things *t, const struct scene_node *n, uint32_t i)
{
	double left = n->x - n->w / 2, right = n->x + n->w / 2, bottom = n->y + n->h;

	if (n->shape != SCENE_OPEN) {
		scene_things__add(t, left, n->y, right, bottom, i, i, true, false);
		return;
	}
	scene_things__add(t, left, n->y, right, n->y, i, i, false, true);
	scene_things__add(t, left, bottom, right, bottom, i, i, false, true);
	scene_things__add(t, left, n->y, left, bottom, i, i, false, true);
	scene_things__add(t, right, n->y, right, bottom, i, i, false, true);
}

static inline void scene_things__add_edge(struct scene_things *t, const struct scene *scene,
					  const struct scene_edge *e)
{
	const struct scene_point *p = scene->points + e->first_point;

	for (uint32_t k = 0; !e->curved && k + 1 < e->points; k++)
		scene_things__add(t, p[k].x, p[k].y, p[k + 1].x, p[k + 1].y, e->from, e->to, false, false);
	for (uint32_t k = 0; e->curved && k + 3 < e->points; k += 3) {
		double x = p[k].x, y = p[k].y;

		for (int step = 1; step <= SCENE_CURVE_STEPS; step++) {
			double s = (double)step / SCENE_CURVE_STEPS, u = 1 - s;
			double nx = u * u * u * p[k].x + 3 * u * u * s * p[k + 1].x +
				    3 * u * s * s * p[k + 2].x + s * s * s * p[k + 3].x;
			double ny = u * u * u * p[k].y + 3 * u * u * s * p[k + 1].y +
				    3 * u * s * s * p[k + 2].y + s * s * s * p[k + 3].y;

			scene_things__add(t, x, y, nx, ny, e->from, e->to, false, false);
			x = nx;
			y = ny;
		}
	}
}

static inline double scene_thing__side(const struct scene_thing *s, double x, double y)
{
	return (s->x1 - s->x0) * (y - s->y0) - (s->y1 - s->y0) * (x - s->x0);
}

static inline bool scene_thing__crosses(const struct scene_thing *a, const struct scene_thing *b)
{
	return scene_thing__side(a, b->x0, b->y0) * scene_thing__side(a, b->x1, b->y1) < -SCENE_EPSILON &&
	       scene_thing__side(b, a->x0, a->y0) * scene_thing__side(b, a->x1, a->y1) < -SCENE_EPSILON;
}

/* Does the line pass the inside of the node? By clipping. */
static inline bool scene_thing__passes(const struct scene_thing *s, const struct scene_thing *n)
{
	double p[4] = {s->x0 - s->x1, s->x1 - s->x0, s->y0 - s->y1, s->y1 - s->y0};
	double q[4] = {s->x0 - n->left - .01, n->right - .01 - s->x0, s->y0 - n->top - .01,
		       n->bottom - .01 - s->y0};
	double t0 = 0, t1 = 1;

	for (int i = 0; i < 4; i++) {
		if (fabs(p[i]) < SCENE_EPSILON) {
			if (q[i] < 0)
				return false;
			continue;
		}
		if (p[i] < 0)
			t0 = fmax(t0, q[i] / p[i]);
		else
			t1 = fmin(t1, q[i] / p[i]);
	}
	return t0 + SCENE_EPSILON < t1;
}

static inline void scene_check__pair(const struct scene_thing *a, const struct scene_thing *b,
				     struct scene_faults *f)
{
	if (a->right < b->left || b->right < a->left || a->bottom < b->top || b->bottom < a->top ||
	    a->from == b->from || a->from == b->to || a->to == b->from || a->to == b->to)
		return;
	if (a->node && b->node)
		f->overlaps += a->left + SCENE_EPSILON < b->right && b->left + SCENE_EPSILON < a->right &&
			       a->top + SCENE_EPSILON < b->bottom && b->top + SCENE_EPSILON < a->bottom;
	else if (a->node || b->node) {
		const struct scene_thing *line = a->node ? b : a, *node = a->node ? a : b;

		if (scene_thing__passes(line, node))
			*(line->wall ? &f->walls : &f->through) += 1;
	} else if (scene_thing__crosses(a, b)) {
		*(a->wall || b->wall ? &f->walls : &f->crossings) += 1;
	}
}

struct scene_area {
	double left, right, top, bottom;
};

static inline bool scene_check__is_in(const struct scene_thing *s, const struct scene_area *area)
{
	return s->right >= area->left && s->left <= area->right && s->bottom >= area->top &&
	       s->top <= area->bottom;
}

/* Both halves of the area; what lies on the line between them is in both. */
static inline size_t scene_check__halve(const struct scene_things *t, const uint32_t *list, size_t count,
					const struct scene_area *area, bool wide, struct scene_area half[2])
{
	size_t both = 0;

	half[0] = half[1] = *area;
	if (wide)
		half[0].right = half[1].left = (area->left + area->right) / 2;
	else
		half[0].bottom = half[1].top = (area->top + area->bottom) / 2;
	for (size_t i = 0; i < count; i++)
		both += (size_t)scene_check__is_in(&t->all[list[i]], &half[0]) +
			(size_t)scene_check__is_in(&t->all[list[i]], &half[1]);
	return both;
}

static inline void scene_check__part(const struct scene_things *t, const uint32_t *list, size_t count,
				     struct scene_area area, int depth, struct scene_faults *f)
{
	struct scene_area wide[2], high[2];
	size_t by_width = scene_check__halve(t, list, count, &area, true, wide),
	       by_height = scene_check__halve(t, list, count, &area, false, high);
	size_t best = by_width < by_height ? by_width : by_height, n;
	uint32_t *half;

	/* Where long lines lie side by side, halving gives two parts as full as the whole. */
	if (count <= SCENE_FEW || depth > SCENE_DEEPEST || best > count + count * 2 / 5 ||
	    (count <= SCENE_MANY && best > count + count / 8)) {
		for (size_t i = 0; i < count; i++)
			for (size_t k = i + 1; k < count; k++)
				scene_check__pair(&t->all[list[i]], &t->all[list[k]], f);
		return;
	}
	half = malloc(count * sizeof(*half));
	if (!half)
		abort();
	for (int side = 0; side < 2; side++) {
		const struct scene_area *part = by_width < by_height ? &wide[side] : &high[side];

		n = 0;
		for (size_t i = 0; i < count; i++)
			if (scene_check__is_in(&t->all[list[i]], part))
				half[n++] = list[i];
		scene_check__part(t, half, n, *part, depth + 1, f);
	}
	free(half);
}

static inline unsigned scene_check__heights(const struct scene *scene)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];
		double height = (double)n->time_ns * scene->px_per_ns;

		if (n->shape != SCENE_FRAGMENT && n->shape != SCENE_CHUNK && n->shape != SCENE_BOX)
			continue;
		wrong += fabs(fmax(LAYOUT_HEIGHT_FLOOR, fmin(LAYOUT_HEIGHT_CAP, height)) - n->h) > .01;
		wrong += n->capped != (height > LAYOUT_HEIGHT_CAP);
	}
	return wrong;
}

/* Of what is drawn over the rest, dependences and joins by ancestors, only those of `also` count. */
static inline struct scene_faults scene_check(const struct scene *scene, bool also_dependences)
{
	struct scene_faults f = {.heights = scene_check__heights(scene)};
	struct scene_things t = {0};
	uint32_t *list;

	for (uint32_t i = 0; i < scene->node_count; i++)
		scene_things__add_node(&t, &scene->nodes[i], i);
	for (size_t i = 0; i < scene->edge_count; i++) {
		size_t before = t.count;

		if (scene->edges[i].kind == SCENE_ANCESTOR ||
		    (scene->edges[i].kind == SCENE_DEPENDENCE && !also_dependences))
			continue;
		scene_things__add_edge(&t, scene, &scene->edges[i]);
		f.lines += t.count - before;
	}
	list = malloc((t.count + 1) * sizeof(*list));
	if (!list)
		abort();
	for (uint32_t i = 0; i < t.count; i++)
		list[i] = i;
	scene_check__part(&t, list, t.count,
			  (struct scene_area){scene->left - 1, scene->right + 1, scene->top - 1,
					      scene->bottom + 1},
			  0, &f);
	free(list);
	free(t.all);
	return f;
}

#endif
