/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The render library: a grain graph in, pictures and text for people out.
 * Everything that comes from the observed program is escaped. One thread at a
 * time: Graphviz keeps global state.
 */
#ifndef GRAIND_RENDER_H
#define GRAIND_RENDER_H

#include "analysis/grain.h"
#include "analysis/grain_whatif.h"

enum render_format { RENDER_SVG, RENDER_DOT };

enum render_layout {
	RENDER_LAYOUT_OWN, /* linear time, any size */
	RENDER_LAYOUT_DOT, /* Graphviz' dot; refused above RENDER_DOT_NODES nodes */
};
#define RENDER_DOT_NODES 1500
#define RENDER_MAX_NODES 200000 /* of a picture, whatever is asked for */

/*
 * What colours stand for. Problem views: severity, the rest dimmed. Property
 * views: the property's value.
 */
enum render_view {
	RENDER_VIEW_PROBLEM, /* the worst available problem view */
	RENDER_VIEW_PARALLEL_BENEFIT,
	RENDER_VIEW_LOAD_BALANCE,
	RENDER_VIEW_WORK_DEVIATION,
	RENDER_VIEW_INSTANTANEOUS_PARALLELISM,
	RENDER_VIEW_SCATTER,
	RENDER_VIEW_MEMORY_HIERARCHY_UTILIZATION,
	RENDER_VIEW_CACHE_MISS_RATIO,
	RENDER_VIEW_DEFINITION,
	RENDER_VIEW_THREAD,
	RENDER_VIEW_NODE, /* NUMA node */
	RENDER_VIEW_TIME,
	RENDER_VIEW_COUNT
};

struct render_opts {
	enum render_format format;
	enum render_view view;
	uint64_t job;	  /* for the title; 0 = none */
	size_t max_nodes; /* full graph up to here, then reductions; 0 = 2000; 50 at least */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
	enum render_layout layout;
	/* Further views of the same SVG, 1 << enum render_view each; links lead to them. */
	uint32_t more_views;
	bool all_views; /* those of them that have nothing to show are left out, not an error */
	/* Aggregated: groups as boxes, the first open_depth levels of them open. */
	bool groups;
	uint32_t open_depth; /* RENDER_OPEN_AUTO: the heavy groups */
	bool filter;	     /* aggregated, without what has not the problem of the view */
};
#define RENDER_OPEN_AUTO UINT32_MAX

/* "parallel_benefit" -> view; -EINVAL for an unknown name. */
int render_view__parse(const char *name, enum render_view *out);
const char *render_view__name(enum render_view view);
/*
 * "all", or names with commas between them, the first of which is shown at
 * first: fills view, more_views and all_views. -EINVAL with *err naming the unknown.
 */
int render_views__parse(const char *list, struct render_opts *opts, struct grain_error *err);

/* Writes the picture; 0 or a negative errno with *err filled. */
int render__graph(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		  struct grain_error *err);

/* Writes the HTML report; of *opts it takes view, job and progress. As render__graph. */
int render__page(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		 struct grain_error *err);

/*
 * A report by the name of its format: svg, dot, html, or what the analysis
 * or export.h writes: json, csv, folded, graphml, groups, perfetto. As render__graph;
 * -EINVAL for another name.
 */
int render__report(const struct grain_graph *graph, const char *format, const struct render_opts *opts,
		   FILE *out, struct grain_error *err);
bool render_report__has_format(const char *format);

/*
 * Loads all that drawing needs but the graph, for a process that is to open no
 * files afterwards: Graphviz' plugins. Not for RENDER_LAYOUT_DOT, whose text
 * takes fonts. 0 or a negative errno.
 */
int render__prepare(void);

struct render_text_opts {
	unsigned columns; /* 0 = 80 */
	bool colour;
	bool unicode; /* bars of block characters; else of ASCII */
	uint64_t job; /* 0 = none */
	/* What to answer besides the usual what-ifs. */
	const struct grain_whatif_question *questions;
	size_t question_count;
};

/* The text summary: verdict in the first five lines, then tables. */
int render__summary(const struct grain_graph *graph, const struct render_text_opts *opts, FILE *out);

#endif
