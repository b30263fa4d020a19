/* SPDX-License-Identifier: BSD-2-Clause */
/* The drawing of the graph in the report's page: columns that page/data_scene.js reads. */
#ifndef GRAIND_RENDER_PAGE_SCENE_H
#define GRAIND_RENDER_PAGE_SCENE_H

#include <jansson.h>

#include "render/page_columns.h"

/* More are not drawn but folded: what a browser moves smoothly. */
#define PAGE_SCENE_NODES 60000

/*
 * Adds the columns; fragments are numbered as in those of page_columns__fill,
 * which must have been called. *about has what the columns do not say. 0 or
 * -ENOMEM.
 */
int page_scene__fill(struct page_columns *columns, const struct grain_graph *graph, json_t **about);

#endif
