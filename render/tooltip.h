/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of one node, for who points at it. */
#ifndef GRAIND_RENDER_TOOLTIP_H
#define GRAIND_RENDER_TOOLTIP_H

#include "render/format.h"
#include "render/scene.h"

/* Several lines, not escaped. */
void tooltip__node(const struct grain_graph *graph, const struct scene *scene, const struct scene_node *node,
		   struct format_text *out);

/*
 * What stands on a closed group, a folded one or a skip: two short lines, the
 * second may be empty. On the frame of an open group one, not shortened.
 */
#define TOOLTIP_LABEL 80
void tooltip__group_label(const struct scene_node *node, char first[TOOLTIP_LABEL],
			  char second[TOOLTIP_LABEL]);
void tooltip__frame_label(const struct grain_graph *graph, const struct scene *scene,
			  const struct scene_node *node, struct format_text *out);

#endif
