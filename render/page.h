/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTML report: one file that needs nothing else. README.md, "Page". */
#ifndef GRAIND_RENDER_PAGE_H
#define GRAIND_RENDER_PAGE_H

#include <jansson.h>

#include "render/page_columns.h"
#include "render/render.h"

/*
 * What page_template.c has: page/ put together at build time, with PAGE_TITLE
 * and PAGE_DATA where those go.
 */
extern const char page_template[];
#define PAGE_TITLE "<!--TITLE-->"
#define PAGE_DATA "<!--DATA-->"

#define PAGE_VERSION 3
#define PAGE_MOST_ROWS 1000  /* of a list of the summary */
#define PAGE_MOST_BYTES 4000 /* of a text from the observed program */

/*
 * The summary as `grainctl summary --json`, bounded: of long lists the rows
 * with the most time, and how many there are as NAME_in_all; of long texts
 * the beginning. NULL when memory is short.
 */
json_t *page_summary__read(const struct grain_graph *graph, uint64_t job);
/* The same of the summary's text: one object, without spaces between its parts. */
json_t *page_summary__bound(const char *text);

/* What the page is about and what the columns do not say; takes `scene` over. NULL when memory is short. */
json_t *page_report__make(const struct grain_graph *graph, const struct render_opts *opts,
			  const struct page_columns *columns, const char *title, json_t *scene);

/*
 * Lines around the source lines of definitions, as far as this process can
 * read them: [{"definition":N,"first":N,"lines":["..."]}]. NULL when memory is
 * short.
 */
json_t *page_excerpts__read(const struct grain_graph *graph);

#endif
