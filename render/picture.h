/* SPDX-License-Identifier: BSD-2-Clause */
/* A scene as a Graphviz graph: written as DOT, or drawn as SVG by Graphviz. */
#ifndef GRAIND_RENDER_PICTURE_H
#define GRAIND_RENDER_PICTURE_H

#include "render/view.h"

/* The drawing as Graphviz wrote it; coordinates are those of the scene when its layout is ours. */
struct picture {
	char *svg; /* to be released by picture__free */
	size_t length;
	double left, top, width, height; /* of the graph in the SVG's coordinates */
};

int picture__write_dot(const struct view *view, const struct scene *scene, enum render_layout layout,
		       const char *title, FILE *out, struct grain_error *err);
int picture__draw_svg(const struct view *view, const struct scene *scene, enum render_layout layout,
		      struct picture *picture, struct grain_error *err);
void picture__free(struct picture *picture);

/* Classes of a node's and an edge's group in the SVG. */
void picture__node_class(const struct view *view, const struct scene_node *node, char *out, size_t size);

#endif
