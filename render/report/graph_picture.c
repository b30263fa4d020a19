/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws a graph: chooses how much of it is drawn, and in which views. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/layout/layout.h"
#include "render/svg/svg.h"
#include "render/scene/tree.h"
#include "render/report/heading.h"

#define DEFAULT_MAX_NODES 2000
#define LEAST_MAX_NODES 50
/* Graphviz does not draw larger pictures: it takes five times as long for the same marks. */
#define GRAPHVIZ_MAX_NODES 10000

/* The state while one graph is drawn for several views. */
struct drawing {
	const struct grain_graph *graph;
	const struct render_opts *opts;
	size_t max_nodes;
	struct outline *outline;
	struct grain_groups *groups; /* NULL: not aggregated */
	struct layer layers[RENDER_VIEW_COUNT];
	size_t layer_count;
	struct scene scene;
};

static void tell(const struct render_opts *opts, double done)
{
	if (opts->progress)
		opts->progress(opts->progress_ctx, done);
}

static int fail(struct grain_error *err, int code)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "cannot draw the graph: %s", strerror(-code));
	return code;
}

static bool is_aggregated(const struct render_opts *opts)
{
	return opts->groups || opts->filter;
}

/* Lays out the graph with the severities of a view's problem. The structure is the same for all views. */
static int lay_out(struct drawing *d, const struct view *view, struct scene *scene)
{
	struct tree *tree = NULL;
	int r;

	if (d->groups) {
		struct layout_groups_opts opts = {.open_depth = d->opts->open_depth == RENDER_OPEN_AUTO
									? LAYOUT_OPEN_AUTO
									: d->opts->open_depth,
						  .problem = view->problem,
						  .threshold = view->summary.threshold,
						  .lead = d->layers[0].view.problem,
						  .filter = d->opts->filter,
						  .max_nodes = d->max_nodes};

		r = layout__groups(d->graph, d->groups, &opts, scene);
	} else if (d->outline->full_nodes <= d->max_nodes) {
		r = layout__full(d->outline, scene);
	} else {
		r = tree__new(d->outline, d->max_nodes, view->problem, &tree);
		if (r == 0)
			r = layout__reduced(tree, scene);
	}
	if (r == 0 && !d->groups)
		r = layout__dependences(d->outline, scene);
	scene->stands_for = d->outline->full_nodes;
	scene__bounds(scene);
	tree__free(tree);
	return r;
}

/*
 * Takes a further layer. The graph has the severities of single contexts; the layout has those of folded
 * ones. Returns 0 or a negative errno.
 */
static int take_more(struct drawing *d, struct layer *layer)
{
	struct scene again = {0};
	int r;

	if (!view__dims(&layer->view) || !(d->scene.reduced || d->scene.aggregated))
		return layer__take(layer, &d->scene);
	r = lay_out(d, &layer->view, &again);
	if (r == 0)
		r = again.node_count == d->scene.node_count ? layer__take(layer, &again) : -EIO;
	scene__free(&again);
	return r;
}

static int start(struct drawing *d, struct grain_error *err)
{
	const struct render_opts *opts = d->opts;
	int r = layer__init(&d->layers[0], d->graph, opts->view, err);

	d->layer_count = 1;
	if (r < 0)
		return r == -ENODATA ? r : fail(err, r);
	if (opts->filter && !view__dims(&d->layers[0].view)) {
		if (err)
			snprintf(err->text, sizeof(err->text),
				 "the view %s shows no problem to filter for; choose another view",
				 render_view__name(d->layers[0].view.view));
		return -EINVAL;
	}
	for (int v = RENDER_VIEW_PROBLEM + 1; opts->format == RENDER_SVG && v < RENDER_VIEW_COUNT; v++) {
		struct layer *layer = &d->layers[d->layer_count];

		if (!(opts->more_views & 1u << v) || v == (int)d->layers[0].view.view)
			continue;
		r = layer__init(layer, d->graph, (enum render_view)v, err);
		if (r == 0) {
			d->layer_count++;
			continue;
		}
		layer__free(layer);
		if (r != -ENODATA)
			return fail(err, r);
		if (!opts->all_views)
			return r;
	}
	r = outline__new(d->graph, &d->outline);
	if (r == 0 && is_aggregated(opts))
		r = grain_groups__new(d->graph, &d->groups);
	return r < 0 ? fail(err, r) : 0;
}

static int look(struct drawing *d, struct grain_error *err)
{
	int r = lay_out(d, &d->layers[0].view, &d->scene);

	for (size_t i = 1; r == 0 && i < d->layer_count; i++)
		r = take_more(d, &d->layers[i]);
	/* This view comes last because it leaves its severities in the scene. */
	if (r == 0)
		r = layer__take(&d->layers[0], &d->scene);
	if (r < 0)
		return fail(err, r);
	if (d->opts->layout == RENDER_LAYOUT_DOT && d->scene.node_count > RENDER_DOT_NODES) {
		if (err)
			snprintf(err->text, sizeof(err->text),
				 "%zu nodes are too many for Graphviz' dot; at most %d: lower the number of "
				 "nodes",
				 d->scene.node_count, RENDER_DOT_NODES);
		return -E2BIG;
	}
	if (d->opts->layout == RENDER_LAYOUT_DOT && d->groups) {
		if (err)
			snprintf(err->text, sizeof(err->text), "Graphviz' dot cannot draw groups in groups");
		return -EINVAL;
	}
	return 0;
}

static int write(struct drawing *d, const struct svg_heading *heading, FILE *out, struct grain_error *err)
{
	struct picture picture = {0};
	struct svg_job job = {.graph = d->graph,
			      .scene = &d->scene,
			      .picture = &picture,
			      .layers = d->layers,
			      .layer_count = d->layer_count,
			      .heading = heading,
			      .own_layout = d->opts->layout == RENDER_LAYOUT_OWN};
	int r;

	if (d->opts->format == RENDER_DOT) {
		struct format_text title = {0};

		format__printf(&title, "%s: %s", heading->program.data, d->layers[0].headline.data);
		r = title.failed ? fail(err, -ENOMEM)
				 : picture__write_dot(&d->layers[0].view, &d->scene, d->opts->layout,
						      title.data, out, err);
		format__free(&title);
		return r;
	}
	if (job.own_layout && d->scene.node_count > GRAPHVIZ_MAX_NODES)
		r = picture__write_marks(&d->scene, &picture, err);
	else
		r = picture__draw_svg(&d->layers[0].view, &d->scene, d->opts->layout, &picture, err);
	tell(d->opts, .8);
	if (r == 0)
		r = svg__write(&job, out, err);
	picture__free(&picture);
	return r;
}

int render__graph(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		  struct grain_error *err)
{
	size_t max_nodes = opts->max_nodes ? opts->max_nodes : DEFAULT_MAX_NODES;
	struct drawing d = {.graph = graph,
			    .opts = opts,
			    .max_nodes = max_nodes < LEAST_MAX_NODES	? LEAST_MAX_NODES
					 : max_nodes > RENDER_MAX_NODES ? RENDER_MAX_NODES
									: max_nodes};
	struct svg_heading heading = {0};
	int r;

	tell(opts, 0);
	r = start(&d, err);
	if (r == 0)
		r = look(&d, err);
	tell(opts, .5);
	if (r == 0 && !heading__describe(graph, &d.scene, opts->job, &heading))
		r = fail(err, -ENOMEM);
	if (r == 0)
		r = write(&d, &heading, out, err);
	if (r == 0)
		tell(opts, 1);
	heading__free(&heading);
	scene__free(&d.scene);
	for (size_t i = 0; i < d.layer_count; i++)
		layer__free(&d.layers[i]);
	outline__free(d.outline);
	grain_groups__free(d.groups);
	return r;
}
