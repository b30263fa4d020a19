/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The finished SVG: the marks of nodes and edges, with titles, truth line, legends, style, links and
 * tool-tips. If there are several views, each is a layer. The link #view-NAME shows it. Without a link, the
 * first layer is shown.
 */
#ifndef GRAIND_RENDER_SVG_H
#define GRAIND_RENDER_SVG_H

#include "render/view/layer.h"
#include "render/svg/picture.h"

#define SVG_SHARES_MOST 16

/* A part of the bar below the title. */
struct svg_share {
	double share; /* of the bar's width */
	const char *colour;
};

struct svg_heading {
	struct format_text losses; /* what the bar shows, in words; empty: there is no bar */
	struct svg_share shares[SVG_SHARES_MOST];
	size_t share_count;
	struct format_text program, facts, note, part,
		truth; /* not escaped; an empty note or part gets no line */
};

struct svg_job {
	const struct grain_graph *graph;
	const struct scene *scene;
	const struct picture *picture;
	const struct layer *layers;
	size_t layer_count; /* at least 1; the first layer is shown first */
	const struct svg_heading *heading;
	bool own_layout;
};

int svg__write(const struct svg_job *job, FILE *out, struct grain_error *err);

#endif
