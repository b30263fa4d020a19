/* SPDX-License-Identifier: BSD-2-Clause */
/* One view of a picture, ready to draw: a colour for each node, a headline and a legend. */
#ifndef GRAIND_RENDER_LAYER_H
#define GRAIND_RENDER_LAYER_H

#include "render/view/view.h"

struct layer {
	struct view view;
	struct format_text headline; /* without the program's name */
	uint8_t *colours;	     /* per node of the scene: enum view_colour_index */
	bool *flagged;		     /* per node: whether it has the view's problem */
	size_t node_count;
	struct view_legend_entry legend[VIEW_LEGEND_MAX];
	size_t legend_count;
};

/* Makes the layer of a view. Start from {0}. Errors are as for view__init(). */
int layer__init(struct layer *layer, const struct grain_graph *graph, enum render_view view,
		struct grain_error *err);
/*
 * Takes colours and marks from the scene. The scene must be laid out for the layer's problem. Returns 0 or
 * -ENOMEM.
 */
int layer__take(struct layer *layer, struct scene *scene);
void layer__free(struct layer *layer);

#endif
