/* SPDX-License-Identifier: BSD-2-Clause */
/* render__graph: chooses how much to draw, and says what is drawn. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/layout.h"
#include "render/svg.h"
#include "render/tree.h"

#define DEFAULT_MAX_NODES 2000
#define LEAST_MAX_NODES 50
#define MICRO "\xc2\xb5s"
#define DOT " \xc2\xb7 "

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

static const char *program(const struct grain_graph *graph)
{
	const char *exe = grain_graph__info(graph)->exe, *slash = strrchr(exe, '/');

	if (slash && slash[1])
		return slash + 1;
	return *exe ? exe : "program";
}

static void describe_facts(const struct grain_graph *graph, uint64_t job, struct format_text *out)
{
	const struct grain_info *info = grain_graph__info(graph);
	const struct grain_totals *t = grain_graph__totals(graph);

	if (job)
		format__printf(out, "job %llu" DOT, (unsigned long long)job);
	if (info->pid >= 0)
		format__printf(out, "pid %lld" DOT, (long long)info->pid);
	format__printf(out, "%u thread%s" DOT "%s grain%s" DOT "wall %s", info->threads,
		       info->threads == 1 ? "" : "s", format__count(t->grains).text,
		       t->grains == 1 ? "" : "s", format__time((double)t->wall_ns, MICRO).text);
	format__printf(out, DOT "work %s", format__time((double)t->work_ns, MICRO).text);
	format__printf(out, DOT "span %s", format__time((double)t->span_ns, MICRO).text);
	if (!isnan(t->average_parallelism))
		format__printf(out, DOT "average parallelism %s", format__ratio(t->average_parallelism).text);
}

static void describe_truth(const struct grain_graph *graph, struct format_text *out)
{
	const struct grain_info *info = grain_graph__info(graph);
	const struct grain_truth *truth = grain_graph__truth(graph);
	const struct grain_totals *t = grain_graph__totals(graph);

	format__printf(out, "Truth: %s of %s events lost" DOT "%s incomplete grain%s",
		       format__count(truth->lost).text, format__count(truth->events + truth->lost).text,
		       format__count(truth->incomplete_grains).text,
		       truth->incomplete_grains == 1 ? "" : "s");
	if (isnan(t->measuring_percent))
		format__add(out, DOT "measuring cost unknown");
	else
		format__printf(out, DOT "measuring cost %s %%", format__percent(t->measuring_percent).text);
	if (info->late)
		format__add(out, DOT "attached late");
	if (info->damaged)
		format__add(out, DOT "damaged file");
	if (info->cycles)
		format__add(out, DOT "times are cycles, each written as 1 ns");
	if (truth->conservation_violations)
		format__printf(out, DOT "%s threads do not add up",
			       format__count(truth->conservation_violations).text);
	if (*info->source)
		format__printf(out, DOT "source %s", info->source);
	if (*info->runtime)
		format__printf(out, DOT "%s", info->runtime);
}

static void describe_scene(const struct scene *scene, struct format_text *out)
{
	if (!scene->reduced)
		return;
	format__printf(out, "%s: %s nodes stand for %s%s", scene->folded ? "folded" : "reduced",
		       format__count(scene->node_count).text, format__count(scene->stands_for).text,
		       scene->folded ? DOT "boxes with numbers are groups of grains" : DOT "one box a task");
}

static int lay_out(const struct grain_graph *graph, const struct view *view, size_t max_nodes,
		   struct scene *scene)
{
	struct outline *outline = NULL;
	struct tree *tree = NULL;
	int r = outline__new(graph, &outline);

	if (r < 0)
		return r;
	if (outline->full_nodes <= max_nodes) {
		r = layout__full(outline, scene);
	} else {
		r = tree__new(outline, max_nodes, view->problem, &tree);
		if (r == 0)
			r = layout__reduced(tree, scene);
	}
	if (r == 0)
		r = layout__dependences(outline, scene);
	scene->stands_for = outline->full_nodes;
	scene__bounds(scene);
	tree__free(tree);
	outline__free(outline);
	return r;
}

static int write_svg(const struct grain_graph *graph, const struct render_opts *opts, const struct view *view,
		     const struct scene *scene, struct svg_heading *heading, FILE *out,
		     struct grain_error *err)
{
	struct picture picture = {0};
	int r;

	describe_facts(graph, opts->job, &heading->facts);
	describe_scene(scene, &heading->note);
	describe_truth(graph, &heading->truth);
	if (heading->facts.failed || heading->note.failed || heading->truth.failed)
		return fail(err, -ENOMEM);
	r = picture__draw_svg(view, scene, opts->layout, &picture, err);
	tell(opts, .8);
	if (r == 0)
		r = svg__write(view, scene, &picture, heading, opts->layout == RENDER_LAYOUT_OWN, out, err);
	picture__free(&picture);
	return r;
}

int render__graph(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		  struct grain_error *err)
{
	size_t max_nodes = opts->max_nodes ? opts->max_nodes : DEFAULT_MAX_NODES;
	struct svg_heading heading = {0};
	struct scene scene = {0};
	struct view view;
	char name[128];
	int r;

	max_nodes = max_nodes < LEAST_MAX_NODES	   ? LEAST_MAX_NODES
		    : max_nodes > RENDER_MAX_NODES ? RENDER_MAX_NODES
						   : max_nodes;
	r = view__init(&view, graph, opts->view, err);
	if (r < 0)
		return r == -ENODATA ? r : fail(err, r);
	tell(opts, 0);
	r = lay_out(graph, &view, max_nodes, &scene);
	if (r < 0) {
		r = fail(err, r);
		goto out;
	}
	tell(opts, .5);
	if (opts->layout == RENDER_LAYOUT_DOT && scene.node_count > RENDER_DOT_NODES) {
		if (err)
			snprintf(err->text, sizeof(err->text),
				 "%zu nodes are too many for Graphviz' dot; at most %d: lower the number of "
				 "nodes",
				 scene.node_count, RENDER_DOT_NODES);
		r = -E2BIG;
		goto out;
	}
	view__look_at(&view, &scene);
	format__printf(&heading.headline, "%s: ", format__clean(name, sizeof(name), program(graph), 40));
	view__headline(&view, &heading.headline);
	if (heading.headline.failed)
		r = fail(err, -ENOMEM);
	else if (opts->format == RENDER_DOT)
		r = picture__write_dot(&view, &scene, opts->layout, heading.headline.data, out, err);
	else
		r = write_svg(graph, opts, &view, &scene, &heading, out, err);
	if (r == 0)
		tell(opts, 1);
out:
	format__free(&heading.headline);
	format__free(&heading.facts);
	format__free(&heading.note);
	format__free(&heading.truth);
	scene__free(&scene);
	view__free(&view);
	return r;
}
