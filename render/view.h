/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A view decides what the colours of a picture stand for: the severity of one
 * problem with everything else dimmed, or one property. It gives every node a
 * colour class, and the picture its headline and legend.
 */
#ifndef GRAIND_RENDER_VIEW_H
#define GRAIND_RENDER_VIEW_H

#include "render/format.h"
#include "render/render.h"
#include "render/scene.h"

/* One colour class: a name for CSS, the fill on light and on dark ground. */
struct view_colour {
	const char *name;
	const char *light, *dark;
};
size_t view_colour__count(void);
const struct view_colour *view_colour__get(size_t index);
const char *view_colour__light(const char *name);

enum view_mark {
	VIEW_MARK_BOX,
	VIEW_MARK_WIDE, /* an outline: what it stands for has other colours */
	VIEW_MARK_CIRCLE,
	VIEW_MARK_LINE,
	VIEW_MARK_RING,
	VIEW_MARK_DASHED,
	VIEW_MARK_GROUP
};

struct view_legend_entry {
	enum view_mark mark;
	const char *colour; /* class */
	char label[96];
};

#define VIEW_LEGEND_MAX 24
#define VIEW_RANKS 10 /* definitions or threads with a colour of their own */

struct view {
	const struct grain_graph *graph;
	enum render_view view;
	enum grain_problem problem; /* GRAIN_PROBLEM_COUNT in property views */
	struct grain_problem_summary summary;
	uint32_t *definition_rank; /* per definition */
	uint32_t tids[VIEW_RANKS];
	size_t tid_count;
	bool more_tids;
	double shortest_ns, longest_ns; /* of grains */
};

/* Resolves RENDER_VIEW_PROBLEM to the worst available problem view. -ENOMEM, or -ENODATA and *err. */
int view__init(struct view *view, const struct grain_graph *graph, enum render_view wanted,
	       struct grain_error *err);
void view__free(struct view *view);

/* Fills in severity of single contexts and collects what the view needs of the scene. */
void view__look_at(struct view *view, struct scene *scene);

const char *view__colour(const struct view *view, const struct scene_node *node);
bool view__dims(const struct view *view); /* forks, joins and edges too */
void view__headline(const struct view *view, struct format_text *out);
size_t view__legend(const struct view *view, const struct scene *scene,
		    struct view_legend_entry entries[VIEW_LEGEND_MAX]);

#endif
