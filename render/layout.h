/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear-time layouts of a grain graph. Grain graphs of nested programs are
 * series-parallel, so positions follow from the structure and nothing crosses;
 * README.md describes both.
 */
#ifndef GRAIND_RENDER_LAYOUT_H
#define GRAIND_RENDER_LAYOUT_H

#include "render/outline.h"
#include "render/scene.h"

struct tree;

/* Points; the distances at which nothing touches. */
#define LAYOUT_FORK_RADIUS 4.2
#define LAYOUT_JOIN_RADIUS 4.6
#define LAYOUT_FRAGMENT_WIDTH 10.0
#define LAYOUT_CHUNK_WIDTH 26.0
#define LAYOUT_HEIGHT_FLOOR 3.0
#define LAYOUT_HEIGHT_CAP 96.0
#define LAYOUT_HEIGHT_P90 22.0

/* Every fragment, fork and join: columns hung to the right. The scene must be empty. */
int layout__full(const struct outline *outline, struct scene *scene);

/* One box a context or group, symmetric. The scene must be empty. */
int layout__reduced(const struct tree *tree, struct scene *scene);

#define LAYOUT_OPEN_AUTO UINT32_MAX
struct layout_groups_opts {
	uint32_t open_depth;	    /* levels of groups; LAYOUT_OPEN_AUTO: the heavy ones */
	enum grain_problem problem; /* shown; GRAIN_PROBLEM_COUNT for none */
	double threshold;	    /* its */
	enum grain_problem lead; /* decides what is drawn, whatever is shown; GRAIN_PROBLEM_COUNT for none */
	bool filter;		 /* members without it are taken out */
	size_t max_nodes;	 /* what has no room stays closed */
};
/* Letters of a frame's heading, and its height: wide frames get larger ones, to be read when all is in view.
 */
double layout__heading_letters(double width);
double layout__heading_height(double width);
/* Groups as frames and boxes. The scene must be empty; it keeps `groups`. 0 or -ENOMEM. */
int layout__groups(const struct grain_graph *graph, const struct grain_groups *groups,
		   const struct layout_groups_opts *opts, struct scene *scene);

/* Adds the edges of dependences between what is drawn. 0 or -ENOMEM. */
int layout__dependences(const struct outline *outline, struct scene *scene);

/* Points per nanosecond that draw the 90th percentile of `durations` (reordered) with LAYOUT_HEIGHT_P90. */
double layout__scale(uint64_t *durations, size_t count);
double layout__height(double px_per_ns, uint64_t ns, bool *capped);

#endif
