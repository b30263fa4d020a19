/* SPDX-License-Identifier: BSD-2-Clause */
/* A scene as a Graphviz graph: written as DOT, or its marks drawn as SVG by Graphviz. */
#ifndef GRAIND_RENDER_PICTURE_H
#define GRAIND_RENDER_PICTURE_H

#include "render/include/render.h"
#include "render/view/view.h"

/* The place of one node's or edge's marks in the text. */
struct picture_span {
	size_t at, length;
};

/* The marks of all nodes and edges as SVG. If the layout is ours, the coordinates are those of the scene. */
struct picture {
	char *text; /* picture__free() frees this and everything else here */
	struct picture_span *nodes, *edges;
	double left, top, width, height; /* bounds of the graph in the SVG's coordinates */
};

int picture__write_dot(const struct view *view, const struct scene *scene, enum render_layout layout,
		       const char *title, FILE *out, struct grain_error *err);
int picture__draw_svg(const struct view *view, const struct scene *scene, enum render_layout layout,
		      struct picture *picture, struct grain_error *err);
/* Writes the same marks without Graphviz. This is several times faster. */
int picture__write_marks(const struct scene *scene, struct picture *picture, struct grain_error *err);
void picture__free(struct picture *picture);

/* Adds the properties of a node to its class in SVG and DOT: shape, colour, marks. */
void picture__node_class(const struct scene_node *node, uint8_t colour, bool flagged, char *out, size_t size);
const char *picture__edge_class(enum scene_edge_kind kind);

/*
 * Returns where a round corner begins: `from`, moved towards `to` by at most `by` and at most half of the
 * way.
 */
struct scene_point picture__towards(struct scene_point from, struct scene_point to, double by);
#define PICTURE_CORNER 6.0

#endif
