/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/scene/scene.h"
#include "render/base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void scene__free(struct scene *scene)
{
	if (!scene)
		return;
	if (scene->nodes)
		free(scene->nodes - scene->nodes_unused);
	free(scene->edges);
	free(scene->points);
	memset(scene, 0, sizeof(*scene));
}

bool scene__put_before(struct scene *scene, const struct scene_node *nodes, size_t count, size_t expected)
{
	if (scene->node_count + count >= GRAIN_NONE)
		return false;
	if (scene->nodes_unused < count || !scene->nodes) {
		size_t unused = count + scene->node_count + expected, capacity = unused + scene->node_count;
		struct scene_node *bigger = malloc(capacity * sizeof(*bigger));

		if (!bigger)
			return false;
		if (scene->nodes) {
			memcpy(bigger + unused, scene->nodes, scene->node_count * sizeof(*bigger));
			free(scene->nodes - scene->nodes_unused);
		}
		scene->nodes = bigger + unused;
		scene->nodes_unused = unused;
		scene->node_capacity = capacity;
	}
	scene->nodes -= count;
	scene->nodes_unused -= count;
	scene->node_count += count;
	memcpy(scene->nodes, nodes, count * sizeof(*nodes));
	return true;
}

uint32_t scene__add_node(struct scene *scene, const struct scene_node *node)
{
	if (scene->node_count >= GRAIN_NONE || !array__reserve((void **)&scene->nodes, &scene->node_capacity,
							       scene->node_count, sizeof(*scene->nodes)))
		return GRAIN_NONE;
	scene->nodes[scene->node_count] = *node;
	return (uint32_t)scene->node_count++;
}

uint32_t scene__add_edge(struct scene *scene, const struct scene_edge *edge, const struct scene_point *points)
{
	size_t first = scene->point_count, past = first + edge->points;

	if (edge->from == GRAIN_NONE || edge->to == GRAIN_NONE || past >= GRAIN_NONE ||
	    !array__reserve((void **)&scene->points, &scene->point_capacity, past, sizeof(*scene->points)) ||
	    !array__reserve((void **)&scene->edges, &scene->edge_capacity, scene->edge_count,
			    sizeof(*scene->edges)))
		return GRAIN_NONE;
	memcpy(scene->points + first, points, edge->points * sizeof(*points));
	scene->point_count = past;
	scene->edges[scene->edge_count] = *edge;
	scene->edges[scene->edge_count].first_point = (uint32_t)first;
	return (uint32_t)scene->edge_count++;
}

void scene__bounds(struct scene *scene)
{
	scene->left = scene->top = INFINITY;
	scene->right = scene->bottom = -INFINITY;
	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];

		scene->left = fmin(scene->left, n->x - n->w / 2);
		scene->right =
			fmax(scene->right, n->x + n->w / 2 + (n->shape == SCENE_IDLE ? SCENE_IDLE_LABEL : 0));
		scene->top = fmin(scene->top, n->y);
		scene->bottom = fmax(scene->bottom, n->y + n->h);
	}
	for (size_t i = 0; i < scene->point_count; i++) {
		scene->left = fmin(scene->left, scene->points[i].x);
		scene->right = fmax(scene->right, scene->points[i].x);
		scene->top = fmin(scene->top, scene->points[i].y);
		scene->bottom = fmax(scene->bottom, scene->points[i].y);
	}
	if (!scene->node_count)
		scene->left = scene->top = scene->right = scene->bottom = 0;
}
