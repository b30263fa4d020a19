/* SPDX-License-Identifier: BSD-2-Clause */
/* One view of a picture, resolved: a colour for every node, headline and legend. */
#ifndef GRAIND_RENDER_LAYER_H
#define GRAIND_RENDER_LAYER_H

#include "render/view.h"

struct layer {
	struct view view;
	struct format_text headline; /* without the program's name */
	uint8_t *colours;	     /* per node of the scene: enum view_colour_index */
	bool *flagged;		     /* per node: has the view's problem */
	size_t node_count;
	struct view_legend_entry legend[VIEW_LEGEND_MAX];
	size_t legend_count;
};

/* Start from {0}. As view__init. */
int layer__init(struct layer *layer, const struct grain_graph *graph, enum render_view view,
		struct grain_error *err);
/* Looks at the scene, which must be laid out for the layer's problem. 0 or -ENOMEM. */
int layer__take(struct layer *layer, struct scene *scene);
void layer__free(struct layer *layer);

#endif
