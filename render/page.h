/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTML report: one file that needs nothing else. README.md, "Page". */
#ifndef GRAIND_RENDER_PAGE_H
#define GRAIND_RENDER_PAGE_H

#include <jansson.h>

#include "render/render.h"

/*
 * What page_template.c has: page/ put together at build time, with PAGE_TITLE
 * and PAGE_DATA where those go.
 */
extern const char page_template[];
#define PAGE_TITLE "<!--TITLE-->"
#define PAGE_DATA "<!--DATA-->"

/*
 * Lines around the source lines of definitions, as far as this process can
 * read them: [{"definition":N,"first":N,"lines":["..."]}]. NULL when memory is
 * short.
 */
json_t *page_excerpts__read(const struct grain_graph *graph);

#endif
