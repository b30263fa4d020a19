/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of one node, for who points at it. */
#ifndef GRAIND_RENDER_TOOLTIP_H
#define GRAIND_RENDER_TOOLTIP_H

#include "render/format.h"
#include "render/scene.h"

/* Several lines, not escaped. */
void tooltip__node(const struct grain_graph *graph, const struct scene_node *node, struct format_text *out);

/* Two short lines for a group: how many grains, how much time. */
void tooltip__group_label(const struct scene_node *node, char first[32], char second[32]);

#endif
