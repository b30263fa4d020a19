/* SPDX-License-Identifier: BSD-2-Clause */
/* Dependences are drawn around nodes, not over them. */
#include <unistd.h>

#include "render/scene/tree.h"
#include "tests/unit/check.h"
#include "tests/unit/random_run.h"
#include "tests/unit/scene_check.h"

struct sums {
	size_t graphs, dependences;
	unsigned through, failed;
};

static void add(const struct grain_graph *graph, int reduced, struct sums *sums)
{
	struct outline *outline = NULL;
	struct scene scene = {0};
	struct tree *tree = NULL;
	unsigned before, through;
	size_t edges = 0;
	int r = outline__new(graph, &outline);

	if (r == 0 && reduced)
		r = tree__new(outline, 100000, GRAIN_PROBLEM_COUNT, &tree);
	if (r == 0)
		r = reduced ? layout__reduced(tree, &scene) : layout__full(outline, &scene);
	scene__bounds(&scene);
	before = scene_check(&scene, false).through;
	if (r == 0)
		r = layout__dependences(outline, &scene);
	sums->failed += r != 0;
	scene__bounds(&scene);
	through = scene_check(&scene, true).through - before;
	for (size_t i = 0; i < scene.edge_count; i++)
		edges += scene.edges[i].kind == SCENE_DEPENDENCE;
	sums->graphs += edges > 0;
	sums->dependences += edges;
	sums->through += through;
	scene__free(&scene);
	tree__free(tree);
	outline__free(outline);
}

int main(void)
{
	for (int reduced = 0; reduced < 2; reduced++) {
		const char *layout = reduced ? "reduced" : "full";
		struct grain_graph *graph = NULL;
		struct sums golden = {0}, random = {0};

		CHECK(grain_graph__load("tests/data/constructs_two_threads.log", NULL, &graph, NULL) == 0,
		      "the log loads");
		if (graph)
			add(graph, reduced, &golden);
		grain_graph__free(graph);
		CHECK(golden.dependences == 6 && !golden.failed && !golden.through,
		      "%s: none of 6 dependences passes a node", layout);
		for (uint32_t seed = 1; seed <= 60; seed++) {
			char *text = run_program(seed, 1 + (int)seed % MAX_THREADS, seed);

			graph = load_text(text);
			if (graph)
				add(graph, reduced, &random);
			grain_graph__free(graph);
			free(text);
		}
		CHECK(random.graphs > 20 && random.dependences > 300 && !random.through && !random.failed,
		      "%s: none of the %zu dependences of %zu random programs does (%u)", layout,
		      random.dependences, random.graphs, random.through);
	}
	CHECK_DONE();
}
