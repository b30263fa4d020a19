/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a layout promises: no two nodes overlap, edges cross neither each other
 * nor nodes, and it takes time linear in the graph, however deep or wide.
 */
#include <math.h>
#include <time.h>

#include "render/layout.h"
#include "render/tree.h"
#include "tests/unit/check.h"
#include "tests/unit/render_program.h"

#define CURVE_STEPS 6
#define EPSILON 1e-6

struct segment {
	double x0, y0, x1, y1;
	uint32_t from, to;
};

struct faults {
	unsigned overlaps, crossings, through;
	size_t segments;
};

static size_t flatten(const struct scene *scene, struct segment **out)
{
	size_t capacity = scene->point_count * CURVE_STEPS + 1, n = 0;
	struct segment *s = malloc(capacity * sizeof(*s));

	for (size_t i = 0; s && i < scene->edge_count; i++) {
		const struct scene_edge *e = &scene->edges[i];
		const struct scene_point *p = scene->points + e->first_point;

		if (e->kind == SCENE_ANCESTOR)
			continue;
		for (uint32_t k = 0; !e->curved && k + 1 < e->points; k++)
			s[n++] = (struct segment){p[k].x, p[k].y, p[k + 1].x, p[k + 1].y, e->from, e->to};
		for (uint32_t k = 0; e->curved && k + 3 < e->points; k += 3) {
			double x = p[k].x, y = p[k].y;

			for (int step = 1; step <= CURVE_STEPS; step++) {
				double t = (double)step / CURVE_STEPS, u = 1 - t;
				double nx = u * u * u * p[k].x + 3 * u * u * t * p[k + 1].x +
					    3 * u * t * t * p[k + 2].x + t * t * t * p[k + 3].x;
				double ny = u * u * u * p[k].y + 3 * u * u * t * p[k + 1].y +
					    3 * u * t * t * p[k + 2].y + t * t * t * p[k + 3].y;

				s[n++] = (struct segment){x, y, nx, ny, e->from, e->to};
				x = nx;
				y = ny;
			}
		}
	}
	*out = s;
	return s ? n : 0;
}

static double side(const struct segment *s, double x, double y)
{
	return (s->x1 - s->x0) * (y - s->y0) - (s->y1 - s->y0) * (x - s->x0);
}

static int crosses(const struct segment *a, const struct segment *b)
{
	if (a->from == b->from || a->from == b->to || a->to == b->from || a->to == b->to)
		return 0;
	return side(a, b->x0, b->y0) * side(a, b->x1, b->y1) < -EPSILON &&
	       side(b, a->x0, a->y0) * side(b, a->x1, a->y1) < -EPSILON;
}

/* Does the segment pass the inside of the node? By clipping. */
static int passes(const struct segment *s, const struct scene_node *n)
{
	double t0 = 0, t1 = 1, p[4], q[4];
	double left = n->x - n->w / 2 + .01, right = n->x + n->w / 2 - .01, top = n->y + .01,
	       bottom = n->y + n->h - .01;

	p[0] = s->x0 - s->x1;
	q[0] = s->x0 - left;
	p[1] = s->x1 - s->x0;
	q[1] = right - s->x0;
	p[2] = s->y0 - s->y1;
	q[2] = s->y0 - top;
	p[3] = s->y1 - s->y0;
	q[3] = bottom - s->y0;
	for (int i = 0; i < 4; i++) {
		if (fabs(p[i]) < EPSILON) {
			if (q[i] < 0)
				return 0;
			continue;
		}
		if (p[i] < 0)
			t0 = fmax(t0, q[i] / p[i]);
		else
			t1 = fmin(t1, q[i] / p[i]);
	}
	return t0 + EPSILON < t1;
}

static struct faults find_faults(const struct scene *scene)
{
	struct faults f = {0};
	struct segment *s;

	f.segments = flatten(scene, &s);
	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *a = &scene->nodes[i];

		for (size_t k = i + 1; k < scene->node_count; k++) {
			const struct scene_node *b = &scene->nodes[k];

			f.overlaps += fabs(a->x - b->x) + EPSILON < (a->w + b->w) / 2 &&
				      a->y + EPSILON < b->y + b->h && b->y + EPSILON < a->y + a->h;
		}
	}
	for (size_t i = 0; i < f.segments; i++) {
		for (size_t k = i + 1; k < f.segments; k++)
			f.crossings += crosses(&s[i], &s[k]);
		for (size_t k = 0; k < scene->node_count; k++)
			f.through += k != s[i].from && k != s[i].to && passes(&s[i], &scene->nodes[k]);
	}
	free(s);
	return f;
}

static int lay_out(const struct grain_graph *graph, int reduced, size_t max_nodes, struct scene *scene,
		   double *seconds)
{
	struct outline *outline = NULL;
	struct tree *tree = NULL;
	struct timespec a, b;
	int r;

	memset(scene, 0, sizeof(*scene));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	r = outline__new(graph, &outline);
	if (r == 0 && reduced)
		r = tree__new(outline, max_nodes, GRAIN_PROBLEM_PARALLEL_BENEFIT, &tree);
	if (r == 0)
		r = reduced ? layout__reduced(tree, scene) : layout__full(outline, scene);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	if (seconds)
		*seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	tree__free(tree);
	outline__free(outline);
	return r;
}

static void test_random(int reduced, int escapes)
{
	const char *name = reduced ? "reduced" : "full",
		   *what = escapes ? "with tasks left for the barrier" : "nested";
	struct faults sum = {0};
	unsigned programs = 0, biggest = 0, failed = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct grain_error err = {{0}};
		struct grain_graph *graph = program_make(program_body, 4, seed, escapes, 1 + seed % 4, &err);
		struct scene scene;
		struct faults f;

		if (!graph) {
			failed++;
			printf("# %s\n", err.text);
			continue;
		}
		/* The checks are quadratic: leave the largest programs out. */
		if (grain_graph__context_count(graph) < (reduced ? 100 : 250)) {
			failed += lay_out(graph, reduced, 100000, &scene, NULL) != 0;
			f = find_faults(&scene);
			sum.overlaps += f.overlaps;
			sum.crossings += f.crossings;
			sum.through += f.through;
			sum.segments += f.segments;
			biggest = scene.node_count > biggest ? (unsigned)scene.node_count : biggest;
			programs++;
			scene__free(&scene);
		}
		grain_graph__free(graph);
	}
	CHECK(failed == 0, "%s layout, %s: every program is laid out", name, what);
	CHECK(programs >= 15 && biggest > 80 && sum.segments > 1000,
	      "%s layout, %s: %u programs up to %u nodes", name, what, programs, biggest);
	CHECK(sum.overlaps == 0, "%s layout, %s: no nodes overlap (%u)", name, what, sum.overlaps);
	if (!escapes) {
		CHECK(sum.crossings == 0, "%s layout, %s: no edges cross (%u of %zu segments)", name, what,
		      sum.crossings, sum.segments);
		CHECK(sum.through == 0, "%s layout, %s: no edge passes a node (%u)", name, what, sum.through);
	}
}

/* The checker itself: a node moved onto another and one moved away are found. */
static void test_checker(void)
{
	struct grain_error err;
	struct grain_graph *graph = program_make(program_flat, 12, 1, 0, 2, &err);
	struct scene scene = {0};
	struct faults before = {0}, after = {0};

	if (graph && lay_out(graph, 0, 100000, &scene, NULL) == 0 && scene.node_count > 8) {
		before = find_faults(&scene);
		for (size_t i = 0; i < scene.edge_count; i++)
			if (scene.edges[i].kind == SCENE_CREATION)
				scene.points[scene.edges[i].first_point + 1].x -= 30;
		scene.nodes[4].x = scene.nodes[7].x;
		scene.nodes[4].y = scene.nodes[7].y;
		after = find_faults(&scene);
	}
	CHECK(!before.overlaps && after.overlaps, "the checker finds overlaps in a broken layout");
	CHECK(!(before.crossings + before.through) && after.crossings + after.through,
	      "the checker finds crossings in a broken layout");
	scene__free(&scene);
	grain_graph__free(graph);
}

static double seconds_for(void (*work)(struct program *, unsigned), unsigned tasks, int reduced)
{
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(work, tasks, 1, 0, 2, &err);
	double best = INFINITY;

	if (!graph)
		printf("# %s\n", err.text);
	for (int i = 0; graph && i < 3; i++) {
		struct scene scene;
		double seconds = INFINITY;

		if (lay_out(graph, reduced, 1000000, &scene, &seconds) == 0)
			best = fmin(best, seconds);
		scene__free(&scene);
	}
	grain_graph__free(graph);
	return best;
}

static void test_linear(const char *name, void (*work)(struct program *, unsigned), int reduced)
{
	double small = seconds_for(work, 5000, reduced), large = seconds_for(work, 40000, reduced);

	/* Eight times the tasks: a quadratic layout would take 64 times as long. */
	CHECK(isfinite(small) && isfinite(large) && large < 24 * fmax(small, 1e-3),
	      "%s layout of a %s program is linear (%.1f ms for 5,000 tasks, %.1f ms for 40,000)",
	      reduced ? "reduced" : "full", name, small * 1e3, large * 1e3);
}

static void test_bounds(void)
{
	static const struct {
		const char *name;
		void (*work)(struct program *, unsigned);
		unsigned argument;
	} shapes[] = {{"deep", program_chain, 100000},
		      {"wide", program_flat, 100000},
		      {"bushy", program_body, 9}};
	static const size_t bounds[] = {50, 200, 2000};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct grain_error err = {{0}};
		struct grain_graph *graph = program_make(shapes[i].work, shapes[i].argument, 5, 0, 2, &err);

		if (!graph)
			printf("# %s\n", err.text);
		for (size_t k = 0; k < sizeof(bounds) / sizeof(*bounds); k++) {
			struct scene scene = {0};
			uint64_t grains = 0;
			int r = graph ? lay_out(graph, 1, bounds[k], &scene, NULL) : -1;

			for (size_t n = 0; n < scene.node_count; n++)
				if (scene.nodes[n].shape == SCENE_BOX || scene.nodes[n].shape == SCENE_GROUP)
					grains += scene.nodes[n].grains;
			CHECK(r == 0 && scene.node_count > 4 && scene.node_count <= bounds[k],
			      "a %s program is drawn with %zu of at most %zu nodes", shapes[i].name,
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
	test_random(0, 0);
	test_random(0, 1);
	test_random(1, 0);
	test_random(1, 1);
	test_checker();
	test_linear("deep", program_chain, 0);
	test_linear("wide", program_flat, 0);
	test_linear("deep", program_chain, 1);
	test_linear("wide", program_flat, 1);
	test_bounds();
	CHECK_DONE();
}
