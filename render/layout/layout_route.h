/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways around nodes, for edges that are drawn over a finished layout. */
#ifndef GRAIND_RENDER_LAYOUT_ROUTE_H
#define GRAIND_RENDER_LAYOUT_ROUTE_H

#include "render/scene/scene.h"

struct route_grid;

/* Makes a grid of the scene's current nodes. NULL: out of memory. */
struct route_grid *route_grid__new(const struct scene *scene);
void route_grid__free(struct route_grid *grid); /* accepts NULL */

#define ROUTE_POINTS 8
struct route {
	struct scene_point points[ROUTE_POINTS];
	uint32_t count;
	bool curved; /* as in struct scene_edge */
	bool clear;  /* it crosses no other node */
};

/*
 * Routes an edge from the end of one node to the begin of another. It is a curve if nothing is between them.
 * Otherwise it has right angles and takes the first free channel: below the first node, above the second,
 * below both, or beside everything between them.
 */
struct route route_grid__find(const struct route_grid *grid, uint32_t from, uint32_t to);
/* Routes the edge as a curve, even if nodes are in the way. */
struct route route_grid__plain(const struct route_grid *grid, uint32_t from, uint32_t to);

#endif
