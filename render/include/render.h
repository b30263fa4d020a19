/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The render library makes pictures and text of a grain graph. Everything that comes from the observed
 * program is escaped. Only one thread at a time may use it, because Graphviz has global state.
 */
#ifndef GRAIND_RENDER_H
#define GRAIND_RENDER_H

#include "analysis/include/grain.h"
#include "render/include/render_text.h"
#include "render/include/render_views.h"

enum render_format { RENDER_SVG, RENDER_DOT };

enum render_layout {
	RENDER_LAYOUT_OWN, /* takes linear time, for graphs of any size */
	RENDER_LAYOUT_DOT, /* Graphviz' dot; fails above RENDER_DOT_NODES nodes */
};
#define RENDER_DOT_NODES 1500
#define RENDER_MAX_NODES 200000 /* the largest number of nodes in a picture, whatever max_nodes says */

struct render_opts {
	enum render_format format;
	enum render_view view;
	uint64_t job;	  /* job number for the title; 0: none */
	size_t max_nodes; /* a larger graph is reduced; 0: 2000; at least 50 */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
	enum render_layout layout;
	/* Further views in the same SVG, with links to them: bits 1 << enum render_view. */
	uint32_t more_views;
	bool all_views; /* leave out a view that has nothing to show; without this, such a view is an error */
	/* Aggregated: groups are boxes. The first open_depth levels of groups are open. */
	bool groups;
	uint32_t open_depth; /* RENDER_OPEN_AUTO: the heavy groups */
	bool filter;	     /* if aggregated: leave out members without the view's problem */
	/*
	 * Reads lines `first` to `last` of a file that the recording names, for the excerpts of a page.
	 * Writes at most `size` bytes to `text`, each line with its end. Returns their number, or a negative
	 * errno. NULL: the page has no excerpts.
	 */
	ssize_t (*read_source)(void *ctx, const char *path, uint32_t first, uint32_t last, char *text,
			       size_t size);
	void *read_source_ctx;
};
#define RENDER_OPEN_AUTO UINT32_MAX

/*
 * Parses "all", or names separated by commas. The first view is the one that is shown first. Sets view,
 * more_views and all_views. -EINVAL: *err names the unknown view.
 */
int render_views__parse(const char *list, struct render_opts *opts, struct grain_error *err);

/* Writes the picture. Returns 0, or a negative errno with *err set. */
int render__graph(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		  struct grain_error *err);

/*
 * Writes the HTML report. Uses view, job, progress and read_source of *opts. Returns 0, or a negative errno
 * with *err set.
 */
int render__page(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		 struct grain_error *err);

/*
 * Writes a report in the named format: svg, dot, html, or a format of the analysis or of render_export.h
 * (json, csv, folded, graphml, groups, perfetto). Errors are as for render__graph(). -EINVAL: unknown format.
 */
int render__report(const struct grain_graph *graph, const char *format, const struct render_opts *opts,
		   FILE *out, struct grain_error *err);
bool render_report__has_format(const char *format);

/*
 * Loads everything that drawing needs except the graph: Graphviz' plugins. For a process that must not open
 * files later. This is not enough for RENDER_LAYOUT_DOT, which needs fonts for its text. Returns 0 or a
 * negative errno.
 */
int render__prepare(void);

#endif
