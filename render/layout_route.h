/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways around nodes, for edges that are drawn over a finished layout. */
#ifndef GRAIND_RENDER_LAYOUT_ROUTE_H
#define GRAIND_RENDER_LAYOUT_ROUTE_H

#include "render/scene.h"

struct route_grid;

/* The nodes of the scene as they are now. NULL when memory is short. */
struct route_grid *route_grid__new(const struct scene *scene);
void route_grid__free(struct route_grid *grid); /* accepts NULL */

#define ROUTE_POINTS 8
struct route {
	struct scene_point points[ROUTE_POINTS];
	uint32_t count;
	bool curved; /* as of struct scene_edge */
	bool clear;  /* passes no other node */
};

/*
 * From the end of one node to the beginning of the other: a curve where
 * nothing is between them, else right angles through the first free channel
 * beneath the one or above the other, beneath both, or beside all between.
 */
struct route route_grid__find(const struct route_grid *grid, uint32_t from, uint32_t to);
/* The curve, whatever is between them. */
struct route route_grid__plain(const struct route_grid *grid, uint32_t from, uint32_t to);

#endif
