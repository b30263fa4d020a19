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
#define RENDER_MAX_NODES 50000 /* of a picture, whatever is asked for */

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
};

/* "parallel_benefit" -> view; -EINVAL for an unknown name. */
int render_view__parse(const char *name, enum render_view *out);
const char *render_view__name(enum render_view view);

/* Writes the picture; 0 or a negative errno with *err filled. */
int render__graph(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		  struct grain_error *err);

/* Writes the HTML report; of *opts it takes view, job and progress. As render__graph. */
int render__page(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		 struct grain_error *err);

struct render_text_opts {
	unsigned columns; /* 0 = 80 */
	bool colour;
	uint64_t job; /* 0 = none */
	/* What to answer besides the usual what-ifs. */
	const struct grain_whatif_question *questions;
	size_t question_count;
};

/* The text summary: verdict in the first five lines, then tables. */
int render__summary(const struct grain_graph *graph, const struct render_text_opts *opts, FILE *out);

#endif
