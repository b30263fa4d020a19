/* SPDX-License-Identifier: BSD-2-Clause */
/* The finished SVG: Graphviz' drawing with title, truth line, legend, style and tool-tips. */
#ifndef GRAIND_RENDER_SVG_H
#define GRAIND_RENDER_SVG_H

#include "render/picture.h"

struct svg_heading {
	struct format_text headline, facts, note, truth; /* not escaped; an empty note takes no line */
};

int svg__write(const struct view *view, const struct scene *scene, const struct picture *picture,
	       const struct svg_heading *heading, bool own_layout, FILE *out, struct grain_error *err);

#endif
