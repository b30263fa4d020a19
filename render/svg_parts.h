/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of an SVG, each added to the text of the whole. */
#ifndef GRAIND_RENDER_SVG_PARTS_H
#define GRAIND_RENDER_SVG_PARTS_H

#include "render/svg.h"

#define SVG_MARGIN 28.0
#define SVG_LETTER .54 /* mean width of a letter, in its size */
#define SVG_STRONG_LETTER .66

struct svg_writer {
	const struct svg_job *job;
	struct format_text out;
	double scale, width; /* wide pictures get larger letters */
};

void svg_style__add(const struct svg_job *job, struct format_text *out);
/* Title, facts, truth line and legend of one layer; returns where they end. */
double svg_heading__add(struct svg_writer *w, size_t layer);
/* Edges, and nodes with what is written on them, in the scene's coordinates. 0 or -ENOMEM. */
int svg_nodes__add(struct svg_writer *w);

/*
 * The view that a link to a node shows: where the first is that of a problem
 * which the node does not have, the next whose problem it has; else the first.
 */
size_t svg__own_layer(const struct svg_job *job, size_t node);
/* Whether a layer, not the first, is that of any node. */
bool svg__has_own(const struct svg_job *job, size_t layer);

/* The class of a colour in a layer: "c_d0" in the first, "v1_d0" in the second. */
struct svg_class {
	char text[16];
};
struct svg_class svg__class(size_t layer, uint8_t colour);

#endif
