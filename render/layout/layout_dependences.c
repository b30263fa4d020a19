/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws dependences over a finished layout: from the last node of the predecessor to the first node of the
 * successor, around the nodes in between.
 */
#include <errno.h>
#include <stdlib.h>

#include "render/layout/layout.h"
#include "render/layout/layout_route.h"

/* At most this many dependences are drawn. With more, the picture would show nothing else. */
#define MOST_EDGES 20000
/* At most this many dependences are led around nodes. Nobody can follow more. */
#define MOST_ROUTED 5000

struct ends {
	uint32_t first, last; /* first and last node of a context, GRAIN_NONE: none */
	bool entered, left;   /* the critical path enters or leaves it through a dependence */
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

static bool add_edge(struct scene *scene, const struct route_grid *grid, uint32_t from, uint32_t to,
		     bool critical, bool routed)
{
	struct route r = routed ? route_grid__find(grid, from, to) : route_grid__plain(grid, from, to);
	struct scene_edge edge = {.kind = SCENE_DEPENDENCE,
				  .critical = critical,
				  .curved = r.curved,
				  .from = from,
				  .to = to,
				  .points = r.count};

	return scene__add_edge(scene, &edge, r.points) != GRAIN_NONE;
}

/*
 * Removes marks from edges that the critical path does not take. A layout marks each edge between two
 * critical nodes, but the path may take a dependence instead.
 */
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
	struct route_grid *grid = NULL;
	struct ends *contexts = NULL;
	uint32_t *joins = NULL;
	int r = -ENOMEM;

	if (!count)
		return 0;
	contexts = calloc(outline->contexts + 1, sizeof(*contexts));
	joins = calloc(outline->joins + 1, sizeof(*joins));
	grid = route_grid__new(scene);
	if (!contexts || !joins || !grid)
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
		if (!add_edge(scene, grid, from, to, d.critical, drawn < MOST_ROUTED))
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
	route_grid__free(grid);
	free(contexts);
	free(joins);
	return r;
}
