/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts of a grain graph that take linear time. Grain graphs of nested programs are series-parallel. So
 * positions follow from the structure, and no edges cross. render/README.md describes the layouts.
 */
#ifndef GRAIND_RENDER_LAYOUT_H
#define GRAIND_RENDER_LAYOUT_H

#include "render/scene/outline.h"
#include "render/scene/scene.h"

struct tree;

/* Sizes in points. At these sizes, nodes do not touch. */
#define LAYOUT_FORK_RADIUS 4.2
#define LAYOUT_JOIN_RADIUS 4.6
#define LAYOUT_FRAGMENT_WIDTH 10.0
#define LAYOUT_CHUNK_WIDTH 26.0
#define LAYOUT_HEIGHT_FLOOR 3.0
#define LAYOUT_HEIGHT_CAP 96.0
#define LAYOUT_HEIGHT_P90 22.0

/*
 * Draws every fragment, fork and join in columns. The children of a column are to its right. The scene must
 * be empty. Returns 0 or -ENOMEM.
 */
int layout__full(const struct outline *outline, struct scene *scene);

/* Draws one box for each context or group, symmetrically. The scene must be empty. Returns 0 or -ENOMEM. */
int layout__reduced(const struct tree *tree, struct scene *scene);

#define LAYOUT_OPEN_AUTO UINT32_MAX
struct layout_groups_opts {
	uint32_t open_depth;	    /* levels of open groups; LAYOUT_OPEN_AUTO: the heavy groups */
	enum grain_problem problem; /* the problem that is shown; GRAIN_PROBLEM_COUNT: none */
	double threshold;	    /* its threshold */
	enum grain_problem lead;    /* the problem that decides what is drawn, even if another one is shown;
				       GRAIN_PROBLEM_COUNT: none */
	bool filter;		    /* leave out members without the problem `lead` */
	size_t max_nodes;	    /* groups stay closed if they would exceed this */
};
/*
 * The size of the letters in a frame's heading. Wide frames get larger letters, so that they can be read when
 * the whole picture is shown.
 */
double layout__heading_letters(double width);
double layout__heading_height(double width);
/*
 * Draws groups as frames and boxes. The scene must be empty. The scene keeps a pointer to `groups`. Returns 0
 * or -ENOMEM.
 */
int layout__groups(const struct grain_graph *graph, const struct grain_groups *groups,
		   const struct layout_groups_opts *opts, struct scene *scene);

/* Adds edges for dependences between nodes that are drawn. Returns 0 or -ENOMEM. */
int layout__dependences(const struct outline *outline, struct scene *scene);

/*
 * Returns the scale in points per nanosecond at which the 90th percentile of `durations` is LAYOUT_HEIGHT_P90
 * high. Reorders durations.
 */
double layout__scale(uint64_t *durations, size_t count);
double layout__height(double px_per_ns, uint64_t ns, bool *capped);

#endif
