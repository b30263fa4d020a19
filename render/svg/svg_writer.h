/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers of the parts of an SVG. All of them add to the same text. */
#ifndef GRAIND_RENDER_SVG_PARTS_H
#define GRAIND_RENDER_SVG_PARTS_H

#include "render/svg/svg.h"

#define SVG_MARGIN 28.0
#define SVG_LETTER .54 /* mean width of a letter / its size */
#define SVG_STRONG_LETTER .66

struct svg_writer {
	const struct svg_job *job;
	struct format_text out;
	double scale, width; /* wide pictures get larger letters */
};

void svg_style__add(const struct svg_job *job, struct format_text *out);
/* Adds title, facts, truth line and legend of one layer. Returns the y at which they end. */
double svg_heading__add(struct svg_writer *w, size_t layer);
/* Adds edges, and nodes with their texts, in the scene's coordinates. Returns 0 or -ENOMEM. */
int svg_nodes__add(struct svg_writer *w);

/*
 * Returns the layer that a link to a node shows. This is the first layer. But if it shows a problem that the
 * node does not have, this is the next layer whose problem the node has.
 */
size_t svg__own_layer(const struct svg_job *job, size_t node);
/* Whether `layer`, which is not the first one, is the own layer of some node. */
bool svg__has_own(const struct svg_job *job, size_t layer);

/* The class of a colour in a layer: "c_d0" in the first, "v1_d0" in the second. */
struct svg_class {
	char text[16];
};
struct svg_class svg__class(size_t layer, uint8_t colour);

#endif
