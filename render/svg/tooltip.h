/* SPDX-License-Identifier: BSD-2-Clause */
/* The tooltip of a node. */
#ifndef GRAIND_RENDER_TOOLTIP_H
#define GRAIND_RENDER_TOOLTIP_H

#include "render/base/format.h"
#include "render/scene/scene.h"

/* Adds the lines of a node's tooltip, not escaped. */
void tooltip__node(const struct grain_graph *graph, const struct scene *scene, const struct scene_node *node,
		   struct format_text *out);

/*
 * Adds the label of a group. For closed or folded groups and skips: two short lines; the second may be empty.
 * For the frame of an open group: one line that is not shortened.
 */
#define TOOLTIP_LABEL 80
void tooltip__group_label(const struct scene_node *node, char first[TOOLTIP_LABEL],
			  char second[TOOLTIP_LABEL]);
void tooltip__frame_label(const struct grain_graph *graph, const struct scene *scene,
			  const struct scene_node *node, struct format_text *out);

#endif
