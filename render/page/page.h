/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTML report: one file that needs no other file. PAGE.md, "Page", describes it. */
#ifndef GRAIND_RENDER_PAGE_H
#define GRAIND_RENDER_PAGE_H

#include <jansson.h>

#include "render/page/page_columns.h"
#include "render/include/render.h"

/* The page as the build makes it from ui/. PAGE_TITLE and PAGE_DATA stand in the places of title and data. */
extern const char page_template[];
#define PAGE_TITLE "<!--TITLE-->"
#define PAGE_DATA "<!--DATA-->"

#define PAGE_VERSION 3
#define PAGE_MOST_ROWS 1000  /* most rows of a list in the summary */
#define PAGE_MOST_BYTES 4000 /* most bytes of a text of the observed program */

/*
 * The summary as in `grainctl summary --json`, but with a limited size. A long list has only the rows with
 * the most time, and its full length as NAME_in_all. Long texts are cut. NULL: out of memory.
 */
json_t *page_summary__read(const struct grain_graph *graph, uint64_t job);
/* As page_summary__read(), from the summary's text: one object without spaces between its parts. */
json_t *page_summary__bound(const char *text);

/*
 * Makes the part of the page's data that is not in columns. Takes ownership of `scene`. NULL: out of memory.
 */
json_t *page_report__make(const struct grain_graph *graph, const struct render_opts *opts,
			  const struct page_columns *columns, const char *title, json_t *scene);

/*
 * Uses opts->read_source to read the lines around the source lines of definitions:
 * [{"definition":N,"first":N,"lines":["..."]}]. NULL: out of memory.
 */
json_t *page_excerpts__read(const struct grain_graph *graph, const struct render_opts *opts);

#endif
