/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the page's drawing, which data_scene.js reads. */
#ifndef GRAIND_RENDER_PAGE_SCENE_H
#define GRAIND_RENDER_PAGE_SCENE_H

#include <jansson.h>

#include "render/page/page_columns.h"

/* The largest number of nodes, because a browser can move this many smoothly. Larger graphs are folded. */
#define PAGE_SCENE_NODES 60000

/*
 * Adds the columns. Fragments have the numbers of page_columns__fill(), which must have been called before.
 * *about gets what is not in columns. Returns 0 or -ENOMEM.
 */
int page_scene__fill(struct page_columns *columns, const struct grain_graph *graph, json_t **about);

#endif
