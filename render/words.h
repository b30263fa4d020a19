/* SPDX-License-Identifier: BSD-2-Clause */
/* The words above a picture: program, facts, what it stands for, truth line. */
#ifndef GRAIND_RENDER_WORDS_H
#define GRAIND_RENDER_WORDS_H

#include "render/svg.h"

/* *out must be empty. False when memory was short. */
bool words__describe(const struct grain_graph *graph, const struct scene *scene, uint64_t job,
		     struct svg_heading *out);
void words__free(struct svg_heading *heading);

#endif
