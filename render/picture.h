/* SPDX-License-Identifier: BSD-2-Clause */
/* A scene as a Graphviz graph: written as DOT, or its marks drawn as SVG by Graphviz. */
#ifndef GRAIND_RENDER_PICTURE_H
#define GRAIND_RENDER_PICTURE_H

#include "render/view.h"

/* Where in the text the marks of one node or edge are. */
struct picture_span {
	size_t at, length;
};

/* The marks of every node and edge as SVG; coordinates are those of the scene when its layout is ours. */
struct picture {
	char *text; /* to be released by picture__free, as all here */
	struct picture_span *nodes, *edges;
	double left, top, width, height; /* of the graph in the SVG's coordinates */
};

int picture__write_dot(const struct view *view, const struct scene *scene, enum render_layout layout,
		       const char *title, FILE *out, struct grain_error *err);
int picture__draw_svg(const struct view *view, const struct scene *scene, enum render_layout layout,
		      struct picture *picture, struct grain_error *err);
/* The same, written here: what Graphviz draws of our positions, several times faster. */
int picture__write_marks(const struct scene *scene, struct picture *picture, struct grain_error *err);
void picture__free(struct picture *picture);

/* What a node is, for its class in SVG and DOT: shape, colour, marks. */
void picture__node_class(const struct scene_node *node, uint8_t colour, bool flagged, char *out, size_t size);
const char *picture__edge_class(enum scene_edge_kind kind);

/* `from` moved towards `to` by at most `by` and half the way: where a round corner begins. */
struct scene_point picture__towards(struct scene_point from, struct scene_point to, double by);
#define PICTURE_CORNER 6.0

#endif
