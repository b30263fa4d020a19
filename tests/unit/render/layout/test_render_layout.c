/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a layout promises (scene_check.h), on random, deep and wide programs,
 * and that it takes time linear in the graph.
 */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <time.h>

#include "render/scene/tree.h"
#include "tests/unit/check.h"
#include "tests/unit/render_program.h"
#include "tests/unit/scene_check.h"

enum shape { FULL, REDUCED, GROUPS };
static const char *const shapes[] = {"full", "reduced", "aggregated"};

static int lay_out(const struct grain_graph *graph, enum shape shape, size_t max_nodes, struct scene *scene,
		   double *seconds)
{
	const struct layout_groups_opts opts = {.open_depth = 100000,
						.problem = GRAIN_PROBLEM_PARALLEL_BENEFIT,
						.threshold = 1,
						.lead = GRAIN_PROBLEM_COUNT,
						.max_nodes = max_nodes};
	struct grain_groups *groups = NULL;
	struct outline *outline = NULL;
	struct tree *tree = NULL;
	struct timespec a, b;
	int r = shape == GROUPS ? grain_groups__new(graph, &groups) : 0;

	memset(scene, 0, sizeof(*scene));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	if (r == 0)
		r = outline__new(graph, &outline);
	if (r == 0 && shape == REDUCED)
		r = tree__new(outline, max_nodes, GRAIN_PROBLEM_PARALLEL_BENEFIT, &tree);
	if (r == 0)
		r = shape == REDUCED  ? layout__reduced(tree, scene)
		    : shape == GROUPS ? layout__groups(graph, groups, &opts, scene)
				      : layout__full(outline, scene);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	if (seconds)
		*seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	scene__bounds(scene);
	tree__free(tree);
	outline__free(outline);
	grain_groups__free(groups);
	return r;
}

static void add(struct scene_faults *sum, const struct scene_faults *f)
{
	sum->overlaps += f->overlaps;
	sum->crossings += f->crossings;
	sum->through += f->through;
	sum->walls += f->walls;
	sum->heights += f->heights;
	sum->lines += f->lines;
}

static void check_none(const struct scene_faults *f, const char *what, bool nested)
{
	CHECK(f->overlaps == 0 && f->walls == 0, "%s: no nodes overlap, no frame is crossed (%u, %u)", what,
	      f->overlaps, f->walls);
	CHECK(f->heights == 0, "%s: heights are linear in time between floor and cap (%u are not)", what,
	      f->heights);
	if (!nested)
		return;
	CHECK(f->crossings == 0, "%s: no edges cross (%u of %zu lines)", what, f->crossings, f->lines);
	CHECK(f->through == 0, "%s: no edge passes a node (%u)", what, f->through);
}

static void test_random(enum shape shape, unsigned depth, unsigned seeds, unsigned least, int escapes)
{
	struct scene_faults sum = {0};
	unsigned programs = 0, biggest = 0, failed = 0;
	char what[80];

	snprintf(what, sizeof(what), "%s layout, %s, up to depth %u", shapes[shape],
		 escapes ? "with tasks left for the barrier" : "nested", depth);
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct grain_error err = {{0}};
		struct grain_graph *graph =
			program_make(program_body, depth, seed, escapes, 1 + seed % 4, &err);
		struct scene scene;
		struct scene_faults f;

		if (!graph) {
			failed++;
			printf("# %s\n", err.text);
			continue;
		}
		if (grain_graph__context_count(graph) < 4000) {
			failed += lay_out(graph, shape, 100000, &scene, NULL) != 0;
			f = scene_check(&scene, false);
			add(&sum, &f);
			biggest = scene.node_count > biggest ? (unsigned)scene.node_count : biggest;
			programs++;
			scene__free(&scene);
		}
		grain_graph__free(graph);
	}
	CHECK(failed == 0 && programs > seeds / 2 && biggest > least, "%s: %u programs up to %u nodes", what,
	      programs, biggest);
	check_none(&sum, what, !escapes);
}

static void test_extreme(enum shape shape, const char *name, void (*work)(struct program *, unsigned))
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(work, 10000, 3, 0, 2, &err);
	struct scene_faults f = {0};
	struct scene scene = {0};
	char what[80];
	int r = graph ? lay_out(graph, shape, 1000000, &scene, NULL) : -1;

	snprintf(what, sizeof(what), "%s layout of 10,000 %s tasks", shapes[shape], name);
	if (r == 0)
		f = scene_check(&scene, false);
	CHECK(r == 0 && scene.node_count > (shape == GROUPS ? 500 : 10000), "%s: %zu nodes", what,
	      scene.node_count);
	check_none(&f, what, true);
	scene__free(&scene);
	grain_graph__free(graph);
}

/* The checker itself: what is moved onto another, crosses one or has a wrong height is found. */
static void test_checker(enum shape shape)
{
	struct grain_error err;
	struct grain_graph *graph = program_make(program_body, 4, 5, 0, 2, &err);
	struct scene scene = {0};
	struct scene_faults before = {0}, after = {0};

	if (graph && lay_out(graph, shape, 100000, &scene, NULL) == 0 && scene.node_count > 40) {
		uint32_t last = (uint32_t)scene.node_count - 1, from = scene.edges[0].from;

		before = scene_check(&scene, false);
		for (size_t i = 0; i < scene.node_count; i++) {
			struct scene_node *n = &scene.nodes[i];

			if (n->shape == SCENE_BOX || n->shape == SCENE_FRAGMENT) {
				n->h += 5;
				break;
			}
		}
		for (size_t i = 1; i < scene.edge_count; i++) {
			struct scene_edge *e = &scene.edges[i];

			if (i % 3 == 0)
				scene.points[e->first_point + e->points - 1].y += 150;
			scene.points[e->first_point].x -= 31;
		}
		for (uint32_t i = last; i > 0; i--) {
			if (scene.nodes[i].shape == SCENE_OPEN || i == from)
				continue;
			scene.nodes[i].x = scene.nodes[from].x;
			scene.nodes[i].y = scene.nodes[from].y;
			break;
		}
		after = scene_check(&scene, false);
	}
	CHECK(before.lines && !before.overlaps && after.overlaps, "%s: overlaps of a broken layout are found",
	      shapes[shape]);
	CHECK(!(before.crossings + before.through + before.walls) && after.crossings + after.through &&
		      (shape != GROUPS || after.walls),
	      "%s: crossings of a broken layout are found", shapes[shape]);
	CHECK(!before.heights && after.heights, "%s: a wrong height is found", shapes[shape]);
	scene__free(&scene);
	grain_graph__free(graph);
}

/* More nodes than were expected, and more at once than there is room for. */
static void test_put_before(void)
{
	struct scene_node nodes[40];
	struct scene scene = {0};
	uint32_t next = 1000, wrong = 0;
	bool ok = true;

	for (uint32_t count = 1; ok && count <= 40; count++) {
		memset(nodes, 0, sizeof(nodes));
		for (uint32_t i = count; i-- > 0;)
			nodes[i].context = next--;
		ok = scene__put_before(&scene, nodes, count, count % 3);
	}
	for (uint32_t i = 0; i < scene.node_count; i++)
		wrong += scene.nodes[i].context != next + 1 + i;
	CHECK(ok && scene.node_count == 820 && !wrong, "nodes are put before others (%u of %zu are wrong)",
	      wrong, scene.node_count);
	scene__free(&scene);
}

static double seconds_for(void (*work)(struct program *, unsigned), unsigned tasks, enum shape shape)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(work, tasks, 1, 0, 2, &err);
	double best = INFINITY;

	if (!graph)
		printf("# %s\n", err.text);
	for (int i = 0; graph && i < 3; i++) {
		struct scene scene;
		double seconds = INFINITY;

		if (lay_out(graph, shape, 1000000, &scene, &seconds) == 0)
			best = fmin(best, seconds);
		scene__free(&scene);
	}
	grain_graph__free(graph);
	return best;
}

/* Of what the sanitizers add to every access no time tells anything. */
#ifdef __SANITIZE_ADDRESS__
#define TELLS_TIMES false
#else
#define TELLS_TIMES true
#endif

static void test_linear(const char *name, void (*work)(struct program *, unsigned), enum shape shape)
{
	double small = seconds_for(work, 5000, shape), large = seconds_for(work, 160000, shape);

	/*
	 * 32 times the tasks, and up to five times as long for each once they do not fit into caches.
	 * A quadratic layout would take 1,024 times as long.
	 */
	CHECK(isfinite(small) && isfinite(large) && large < 5 * 32 * fmax(small, 1e-4),
	      "%s layout of a %s program is linear (%.1f ms for 5,000 tasks, %.1f ms for 160,000)",
	      shapes[shape], name, small * 1e3, large * 1e3);
}

static void test_bounds(void)
{
	static const struct {
		const char *name;
		void (*work)(struct program *, unsigned);
		unsigned argument;
	} programs[] = {{"deep", program_chain, 100000},
			{"wide", program_flat, 100000},
			{"bushy", program_body, 9}};
	static const size_t bounds[] = {50, 200, 2000};

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct grain_error err = {{0}};
		struct grain_graph *graph =
			program_make(programs[i].work, programs[i].argument, 5, 0, 2, &err);

		if (!graph)
			printf("# %s\n", err.text);
		for (size_t k = 0; k < sizeof(bounds) / sizeof(*bounds); k++) {
			struct scene scene = {0};
			uint64_t grains = 0;
			int r = graph ? lay_out(graph, REDUCED, bounds[k], &scene, NULL) : -1;

			for (size_t n = 0; n < scene.node_count; n++)
				if (scene.nodes[n].shape == SCENE_BOX || scene.nodes[n].shape == SCENE_GROUP)
					grains += scene.nodes[n].grains;
			CHECK(r == 0 && scene.node_count > 4 && scene.node_count <= bounds[k],
			      "a %s program is drawn with %zu of at most %zu nodes", programs[i].name,
			      scene.node_count, bounds[k]);
			CHECK(graph && grains == grain_graph__totals(graph)->grains,
			      "they stand for all %llu grains", (unsigned long long)grains);
			scene__free(&scene);
		}
		grain_graph__free(graph);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* What a layout has used stays: the quickest one asks the kernel for no memory, which is dear on
	 * some. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	for (int shape = FULL; shape <= GROUPS; shape++) {
		test_random((enum shape)shape, 4, 40, 150, 0);
		test_random((enum shape)shape, 4, 40, 150, 1);
		test_random((enum shape)shape, 10, 12, 2000, 0);
		test_extreme((enum shape)shape, "nested", program_chain);
		test_extreme((enum shape)shape, "sibling", program_flat);
		test_checker((enum shape)shape);
		if (TELLS_TIMES) {
			test_linear("deep", program_chain, (enum shape)shape);
			test_linear("wide", program_flat, (enum shape)shape);
		}
	}
	test_put_before();
	test_bounds();
	CHECK_DONE();
}
