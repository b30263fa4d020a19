/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The finished SVG: the marks of nodes and edges with titles, truth line,
 * legends, style, links and tool-tips. Of several views each is a layer,
 * reached by the link #view-NAME; without a link the first is shown.
 */
#ifndef GRAIND_RENDER_SVG_H
#define GRAIND_RENDER_SVG_H

#include "render/layer.h"
#include "render/picture.h"

struct svg_heading {
	struct format_text program, facts, note, part,
		truth; /* not escaped; an empty note or part takes no line */
};

struct svg_job {
	const struct grain_graph *graph;
	const struct scene *scene;
	const struct picture *picture;
	const struct layer *layers;
	size_t layer_count; /* at least 1; the first is what is shown at first */
	const struct svg_heading *heading;
	bool own_layout;
};

int svg__write(const struct svg_job *job, FILE *out, struct grain_error *err);

#endif
