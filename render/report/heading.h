/* SPDX-License-Identifier: BSD-2-Clause */
/* The words above a picture: program, facts, which part of the graph is drawn, truth line. */
#ifndef GRAIND_RENDER_HEADING_H
#define GRAIND_RENDER_HEADING_H

#include "render/svg/svg.h"

/* Fills *out, which must be empty. Returns false if out of memory. */
bool heading__describe(const struct grain_graph *graph, const struct scene *scene, uint64_t job,
		       struct svg_heading *out);
void heading__free(struct svg_heading *heading);

#endif
