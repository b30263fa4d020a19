/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A view decides what the colours of a picture stand for: one problem's severity, with everything else
 * dimmed, or one property. It gives each node a colour class, and the picture its headline and legend.
 */
#ifndef GRAIND_RENDER_VIEW_H
#define GRAIND_RENDER_VIEW_H

#include "render/base/format.h"
#include "render/include/render_views.h"
#include "render/scene/scene.h"

/* One colour class: a name for CSS, the fill on light and on dark ground. */
struct view_colour {
	const char *name;
	const char *light, *dark;
};
enum view_colour_index {
	VIEW_D0, /* first of the colours for definitions and threads, by rank */
	VIEW_OTHER = 10,
	VIEW_H0,	       /* first of the colours for heat: from worst to just beyond the threshold */
	VIEW_Q0 = VIEW_H0 + 4, /* first of the colours for times: from short to long */
	VIEW_IMPLICIT = VIEW_Q0 + 5,
	VIEW_DIM,
	VIEW_FORK,
	VIEW_JOIN,
	VIEW_CHUNK,
	VIEW_BOOK,
	VIEW_GROUP,
	VIEW_COLOURS
};
#define VIEW_HEAT_STEPS 4
#define VIEW_TIME_STEPS 5

const struct view_colour *view_colour__get(size_t index);
double view_colour__luminance(const char *colour); /* relative luminance of "#RRGGBB", 0 to 1 */

enum view_mark {
	VIEW_MARK_BOX,
	VIEW_MARK_WIDE, /* an outline, because what it stands for has its own colours */
	VIEW_MARK_CIRCLE,
	VIEW_MARK_RING,
	VIEW_MARK_GROUP,
	VIEW_MARK_OPEN,
	VIEW_MARK_OPEN_SIBLINGS,
	VIEW_MARK_SKIP,
	VIEW_MARK_CRITICAL,
	VIEW_MARK_ANCESTOR,
	VIEW_MARK_DEPENDENCE,
	VIEW_MARK_DISCARDED,
	VIEW_MARK_INCOMPLETE
};

struct view_legend_entry {
	enum view_mark mark;
	uint8_t colour; /* enum view_colour_index, of boxes and circles */
	char label[96];
};

#define VIEW_LEGEND_MAX 24
#define VIEW_RANKS 10 /* number of definitions or threads that have their own colour */

struct view {
	const struct grain_graph *graph;
	enum render_view view;
	enum grain_problem problem; /* GRAIN_PROBLEM_COUNT for property views */
	struct grain_problem_summary summary;
	uint32_t *definition_rank; /* per definition */
	uint32_t tids[VIEW_RANKS];
	size_t tid_count;
	bool more_tids;
	double shortest_ns, longest_ns; /* shortest and longest execution time of grains */
};

/*
 * Initializes the view. Replaces RENDER_VIEW_PROBLEM by the worst available problem view. Returns 0, -ENOMEM,
 * or -ENODATA with *err.
 */
int view__init(struct view *view, const struct grain_graph *graph, enum render_view wanted,
	       struct grain_error *err);
void view__free(struct view *view);

/* Sets the severities of single contexts, and collects what the view needs to know about the scene. */
void view__look_at(struct view *view, struct scene *scene);

uint8_t view__colour(const struct view *view, const struct scene_node *node); /* enum view_colour_index */
uint8_t view__ranked(size_t rank);
bool view__dims(const struct view *view); /* whether forks, joins and edges are dimmed, too */
/*
 * Writes the threshold as "below 1" or "above 2". With `share` below 1, writes the limit of a step of heat.
 */
void view__limit(const struct view *view, double share, char *out, size_t size);
void view__headline(const struct view *view, struct format_text *out);
size_t view__legend(const struct view *view, const struct scene *scene,
		    struct view_legend_entry entries[VIEW_LEGEND_MAX]);

#endif
