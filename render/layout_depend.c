/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependences over a finished layout: from the side of a predecessor's last
 * node to the facing side of its successor's first. Neighbours, as most are,
 * have nothing between them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/layout.h"

/* A picture with more of them would show nothing else. */
#define MOST_EDGES 20000
#define INSET 3.0

struct ends {
	uint32_t first, last; /* nodes of a context, GRAIN_NONE */
	bool entered, left;   /* by the critical path through a dependence */
};

static void find_ends(const struct scene *scene, struct ends *contexts, uint32_t *joins,
		      const struct outline *o)
{
	for (size_t i = 0; i <= o->contexts; i++)
		contexts[i] = (struct ends){.first = GRAIN_NONE, .last = GRAIN_NONE};
	for (size_t i = 0; i <= o->joins; i++)
		joins[i] = GRAIN_NONE;
	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];
		struct ends *e;

		if (n->shape == SCENE_JOIN && n->ref < o->joins)
			joins[n->ref] = (uint32_t)i;
		if ((n->shape != SCENE_FRAGMENT && n->shape != SCENE_BOX && n->shape != SCENE_CHUNK) ||
		    n->context >= o->contexts)
			continue;
		e = &contexts[n->context];
		if (e->first == GRAIN_NONE || n->y < scene->nodes[e->first].y)
			e->first = (uint32_t)i;
		if (e->last == GRAIN_NONE || n->y + n->h > scene->nodes[e->last].y + scene->nodes[e->last].h)
			e->last = (uint32_t)i;
	}
}

static bool add_edge(struct scene *scene, uint32_t from, uint32_t to, bool critical)
{
	const struct scene_node *a = &scene->nodes[from], *b = &scene->nodes[to];
	double side = a->x < b->x ? 1 : -1, bend = fmin(14, fabs(a->x - b->x) / 2);
	struct scene_point points[4];

	if (fabs(a->x - b->x) < 1) {
		points[0] = points[1] = (struct scene_point){a->x, a->y + a->h};
		points[2] = points[3] = (struct scene_point){b->x, b->y};
	} else {
		points[0] = (struct scene_point){a->x + side * a->w / 2, a->y + a->h - fmin(INSET, a->h / 2)};
		points[3] = (struct scene_point){b->x - side * b->w / 2, b->y + fmin(INSET, b->h / 2)};
		points[1] = (struct scene_point){points[0].x + side * bend, points[0].y};
		points[2] = (struct scene_point){points[3].x - side * bend, points[3].y};
	}
	return scene__add_edge(scene, SCENE_DEPENDENCE, critical, true, from, to, points, 4) != GRAIN_NONE;
}

/* The layouts take an edge between critical nodes for critical: not where the path takes a dependence. */
static void keep_one_path(struct scene *scene, const struct outline *o, const struct ends *contexts)
{
	for (size_t i = 0; i < scene->edge_count; i++) {
		struct scene_edge *e = &scene->edges[i];
		uint32_t from = scene->nodes[e->from].context, to = scene->nodes[e->to].context;

		if ((e->kind == SCENE_SYNCHRONIZATION || e->kind == SCENE_ANCESTOR) && from < o->contexts &&
		    contexts[from].left && contexts[from].last == e->from)
			e->critical = false;
		else if (e->kind == SCENE_CREATION && to < o->contexts && contexts[to].entered &&
			 contexts[to].first == e->to)
			e->critical = false;
	}
}

int layout__dependences(const struct outline *outline, struct scene *scene)
{
	size_t count = grain_graph__dependence_count(outline->graph), drawn = 0;
	struct ends *contexts = NULL;
	uint32_t *joins = NULL;
	int r = -ENOMEM;

	if (!count)
		return 0;
	contexts = calloc(outline->contexts + 1, sizeof(*contexts));
	joins = calloc(outline->joins + 1, sizeof(*joins));
	if (!contexts || !joins)
		goto out;
	find_ends(scene, contexts, joins, outline);
	for (size_t i = 0; i < count && drawn < MOST_EDGES; i++) {
		struct grain_dependence d;
		uint32_t from, to;

		grain_graph__dependence(outline->graph, i, &d);
		from = contexts[d.from].last;
		to = d.to == GRAIN_NONE ? joins[d.join] : contexts[d.to].first;
		if (from == GRAIN_NONE || to == GRAIN_NONE || from == to)
			continue;
		if (!add_edge(scene, from, to, d.critical))
			goto out;
		drawn++;
		if (d.critical && d.to != GRAIN_NONE) {
			contexts[d.from].left = true;
			contexts[d.to].entered = true;
		}
	}
	keep_one_path(scene, outline, contexts);
	r = 0;
out:
	free(contexts);
	free(joins);
	return r;
}
