/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/view/layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int layer__init(struct layer *layer, const struct grain_graph *graph, enum render_view view,
		struct grain_error *err)
{
	int r = view__init(&layer->view, graph, view, err);

	if (r == 0)
		view__headline(&layer->view, &layer->headline);
	return r == 0 && layer->headline.failed ? -ENOMEM : r;
}

int layer__take(struct layer *layer, struct scene *scene)
{
	bool dims = view__dims(&layer->view);

	layer->colours = calloc(scene->node_count + 1, sizeof(*layer->colours));
	layer->flagged = calloc(scene->node_count + 1, sizeof(*layer->flagged));
	if (!layer->colours || !layer->flagged)
		return -ENOMEM;
	layer->node_count = scene->node_count;
	view__look_at(&layer->view, scene);
	for (size_t i = 0; i < scene->node_count; i++) {
		layer->colours[i] = view__colour(&layer->view, &scene->nodes[i]);
		layer->flagged[i] =
			dims && scene->nodes[i].severity > 0 && scene->nodes[i].shape != SCENE_OPEN;
	}
	layer->legend_count = view__legend(&layer->view, scene, layer->legend);
	return 0;
}

void layer__free(struct layer *layer)
{
	view__free(&layer->view);
	format__free(&layer->headline);
	free(layer->colours);
	free(layer->flagged);
	memset(layer, 0, sizeof(*layer));
}
