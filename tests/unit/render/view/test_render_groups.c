/* SPDX-License-Identifier: BSD-2-Clause */
/* What an aggregated drawing shows: levels, sums, the filter, its bound. */
#include "tests/unit/check.h"
#include "tests/unit/render_program.h"
#include "tests/unit/scene_check.h"

#define PROBLEM GRAIN_PROBLEM_PARALLEL_BENEFIT

static struct grain_graph *graph;
static struct grain_groups *groups;

static struct scene draw(uint32_t depth, bool filter, size_t max_nodes)
{
	struct grain_problem_summary summary;
	struct layout_groups_opts opts = {.open_depth = depth,
					  .problem = PROBLEM,
					  .lead = PROBLEM,
					  .filter = filter,
					  .max_nodes = max_nodes};
	struct scene scene = {0};
	struct scene_faults f;

	grain_graph__problem(graph, PROBLEM, &summary);
	opts.threshold = summary.threshold;
	CHECK(layout__groups(graph, groups, &opts, &scene) == 0, "depth %u is laid out%s", depth,
	      filter ? ", filtered" : "");
	scene__bounds(&scene);
	f = scene_check(&scene, false);
	CHECK(!f.overlaps && !f.walls && !f.crossings && !f.through && !f.heights,
	      "nothing overlaps or crosses in its %zu nodes", scene.node_count);
	return scene;
}

static size_t count(const struct scene *scene, enum scene_shape shape)
{
	size_t n = 0;

	for (size_t i = 0; i < scene->node_count; i++)
		n += scene->nodes[i].shape == shape;
	return n;
}

/* What is drawn closed, alone or as skipped must be all there is. */
static void check_sums(const struct scene *scene, const char *what)
{
	uint64_t grains = 0, flagged = 0, time = 0, all = 0;
	struct grain_problem_summary summary;

	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];

		if (n->shape != SCENE_BOX && n->shape != SCENE_CLOSED && n->shape != SCENE_SKIP)
			continue;
		grains += n->grains;
		flagged += n->flagged;
		time += n->time_ns;
	}
	for (uint32_t i = 0; i < grain_graph__context_count(graph); i++) {
		struct grain_context c;

		grain_graph__context(graph, i, &c);
		all += c.exec_ns;
	}
	grain_graph__problem(graph, PROBLEM, &summary);
	CHECK(grains == grain_graph__totals(graph)->grains, "%s: all %llu grains are in it", what,
	      (unsigned long long)grains);
	CHECK(time == all, "%s: and all of their time", what);
	CHECK(flagged == summary.grains, "%s: and all %llu with the problem", what,
	      (unsigned long long)flagged);
}

static void test_levels(void)
{
	size_t before = 0;

	for (uint32_t depth = 0; depth < 8; depth++) {
		struct scene scene = draw(depth, false, 100000);
		char what[32];

		snprintf(what, sizeof(what), "depth %u", depth);
		check_sums(&scene, what);
		CHECK(scene.levels == depth, "%u levels are open", scene.levels);
		CHECK(count(&scene, SCENE_OPEN) > before || depth == 0, "one more level opens more groups");
		if (depth == 0)
			CHECK(scene.node_count == 1 && scene.nodes[0].shape == SCENE_CLOSED &&
				      scene.nodes[0].w == 92 && scene.nodes[0].h == 40,
			      "nothing open is one box");
		before = count(&scene, SCENE_OPEN);
		scene__free(&scene);
	}
}

static void test_filter(void)
{
	struct scene all = draw(100, false, 100000), scene = draw(100, true, 100000);
	size_t without = 0, forward = 0;

	check_sums(&scene, "filtered");
	for (size_t i = 0; i < scene.node_count; i++) {
		const struct scene_node *n = &scene.nodes[i];
		struct grain_context c;

		if (n->shape == SCENE_CLOSED || n->shape == SCENE_OPEN)
			without += !n->flagged && i;
		if (n->shape != SCENE_BOX || n->flagged)
			continue;
		/* Parents stay where their families do. */
		grain_graph__context(graph, n->context, &c);
		without += grain_groups__of_context(groups, n->context) == GRAIN_NONE;
	}
	for (size_t i = 0; i < scene.edge_count; i++)
		forward += scene.edges[i].kind == SCENE_FORWARD;
	CHECK(without == 0, "filtered: no group without the problem is there");
	CHECK(count(&scene, SCENE_SKIP) > 3 && forward > 3 &&
		      count(&scene, SCENE_BOX) < count(&all, SCENE_BOX),
	      "filtered: %zu skips and %zu fast-forward edges stand for what went", count(&scene, SCENE_SKIP),
	      forward);
	CHECK(count(&all, SCENE_SKIP) == 0, "not filtered: none");
	scene__free(&all);
	scene__free(&scene);
}

static void test_bound(void)
{
	static const size_t bounds[] = {50, 120, 400};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		struct scene scene = draw(1000, false, bounds[i]),
			     heavy = draw(LAYOUT_OPEN_AUTO, false, bounds[i]);

		CHECK(scene.node_count > 5 && scene.node_count <= bounds[i],
		      "at most %zu nodes whatever is to be open: %zu", bounds[i], scene.node_count);
		check_sums(&scene, "bounded");
		CHECK(heavy.node_count > 5 && heavy.node_count <= bounds[i], "heavy groups: %zu",
		      heavy.node_count);
		check_sums(&heavy, "heavy groups");
		scene__free(&scene);
		scene__free(&heavy);
	}
}

int main(void)
{
	struct grain_error err = {{0}};

	graph = program_make(program_body, 8, 5, 0, 3, &err);
	CHECK(graph && grain_groups__new(graph, &groups) == 0, "a program %s", err.text);
	if (groups) {
		test_levels();
		test_filter();
		test_bound();
	}
	grain_groups__free(groups);
	grain_graph__free(graph);
	CHECK_DONE();
}
