/* SPDX-License-Identifier: BSD-2-Clause */
/* The layouts of teams: loops in columns per thread (PPOPP16 figure 3), and regions in regions. */
#include <stdarg.h>
#include <unistd.h>

#include "render/scene/tree.h"
#include "tests/unit/check.h"
#include "tests/unit/scene_check.h"

#define THREADS 4
#define CHUNKS 60
#define TASKS 5

struct clock {
	FILE *log;
	unsigned long long now;
	int tid;
	unsigned random;
};

static void say(struct clock *c, unsigned after, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct clock *c, unsigned after, const char *format, ...)
{
	va_list args;

	c->random = c->random * 1103515245u + 12345u;
	c->now += after + (after ? (c->random >> 16) % after : 0);
	fprintf(c->log, "%llu %d %d ", c->now, c->tid, c->tid % 8);
	va_start(args, format);
	vfprintf(c->log, format, args);
	va_end(args);
	fputc('\n', c->log);
}

static void tasks(struct clock *c, int first)
{
	for (int i = first; i < first + TASKS; i++) {
		say(c, 100, "create-begin task=%d src=2 flags=deferred", i);
		say(c, 50, "create-end task=%d", i);
	}
	say(c, 40, "wait-begin kind=taskwait");
	for (int i = first; i < first + TASKS; i++) {
		say(c, 30, "task-begin task=%d", i);
		say(c, 2000, "task-end task=%d", i);
	}
	say(c, 30, "wait-end kind=taskwait");
}

static void leave(struct clock *c, int region, int member, unsigned long long end)
{
	say(c, 40, "wait-begin kind=barrier-implicit");
	c->now = end;
	say(c, 0, "wait-end kind=barrier-implicit");
	say(c, 0, "member-end region=%d num=%d", region, member);
}

/* Member m: its chunks of a loop, then a region of two in which both create tasks. */
static void run_member(FILE *log, int m, bool loops, bool regions)
{
	struct clock c = {.log = log, .now = 2000, .tid = 100 + m, .random = 77u * (unsigned)m + 5};
	int inner = 1 + m;

	say(&c, 10, "member-begin region=0 num=%d", m);
	if (loops) {
		say(&c, 50, "loop-begin loop=0 src=1 sched=dynamic lower=0 upper=%d step=1 chunk=1",
		    CHUNKS - 1);
		for (int i = m; i < CHUNKS; i += THREADS) {
			say(&c, 20, "chunk-begin loop=0 lower=%d upper=%d", i, i);
			say(&c, 3000, "chunk-end loop=0");
		}
		say(&c, 20, "loop-end loop=0");
	}
	if (regions) {
		struct clock other = c;

		other.tid = 200 + m;
		say(&c, 50, "region-begin region=%d src=0 threads=2", inner);
		say(&c, 20, "member-begin region=%d num=0", inner);
		tasks(&c, 1000 * m);
		say(&other, 200, "member-begin region=%d num=1", inner);
		tasks(&other, 1000 * m + 100);
		leave(&other, inner, 1, 400000);
		leave(&c, inner, 0, 400000);
		say(&c, 20, "region-end region=%d", inner);
	}
	leave(&c, 0, m, 500000);
}

static struct grain_graph *run(bool loops, bool regions)
{
	char path[] = "/tmp/graind-loops.XXXXXX";
	struct grain_error err = {{0}};
	struct grain_graph *graph = NULL;
	int fd = mkstemp(path);
	FILE *log = fd < 0 ? NULL : fdopen(fd, "w");

	if (!log)
		return NULL;
	fprintf(log,
		"grain-log 1\n@machine host=n cores=8 sockets=1 kernel=6\n"
		"@process pid=7 uid=1 exe=/a cmd=a runtime=libgomp threads=%d\n"
		"@source 0 file=a.c line=1 func=f kind=parallel\n@source 1 file=a.c line=2 func=f kind=loop\n"
		"@source 2 file=a.c line=3 func=f kind=task\n1500 100 4 region-begin region=0 src=0 "
		"threads=%d\n",
		THREADS, THREADS);
	for (int m = 0; m < THREADS; m++)
		run_member(log, m, loops, regions);
	fprintf(log, "500100 100 4 region-end region=0\n500200 100 4 thread-end\n");
	fclose(log);
	if (grain_graph__load(path, NULL, &graph, &err))
		printf("# %s\n", err.text);
	unlink(path);
	return graph;
}

static void check(const struct scene *scene, const char *layout, const char *program)
{
	struct scene_faults f = scene_check(scene, false);

	CHECK(f.lines > 2 && !f.overlaps && !f.walls && !f.crossings && !f.through && !f.heights,
	      "%s layout of %s: nothing overlaps or crosses (%zu nodes; %u %u %u %u %u)", layout, program,
	      scene->node_count, f.overlaps, f.walls, f.crossings, f.through, f.heights);
}

/* Every thread's chunks stand below each other, and those of two threads never do. */
static void check_columns(const struct scene *scene)
{
	double x[THREADS];
	size_t chunks = 0, astray = 0;

	for (int i = 0; i < THREADS; i++)
		x[i] = NAN;
	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];
		int thread = (int)n->tid - 100;

		if (n->shape != SCENE_CHUNK || thread < 0 || thread >= THREADS)
			continue;
		chunks++;
		if (isnan(x[thread]))
			x[thread] = n->x;
		astray += fabs(n->x - x[thread]) > .01;
	}
	for (int i = 1; i < THREADS; i++)
		astray += !(fabs(x[i] - x[i - 1]) > LAYOUT_CHUNK_WIDTH);
	CHECK(chunks == CHUNKS && !astray, "the %zu chunks stand in one column a thread", chunks);
}

static void test(bool loops, bool regions, const char *program)
{
	const struct layout_groups_opts opts = {.open_depth = 100,
						.problem = GRAIN_PROBLEM_COUNT,
						.lead = GRAIN_PROBLEM_COUNT,
						.max_nodes = 10000};
	struct grain_graph *graph = run(loops, regions);
	struct scene full = {0}, reduced = {0}, open = {0};
	struct grain_groups *groups = NULL;
	struct outline *outline = NULL;
	struct tree *tree = NULL;

	CHECK(graph && outline__new(graph, &outline) == 0 && grain_groups__new(graph, &groups) == 0 &&
		      tree__new(outline, 10000, GRAIN_PROBLEM_COUNT, &tree) == 0,
	      "%s is loaded", program);
	if (tree) {
		CHECK(layout__full(outline, &full) == 0 && layout__reduced(tree, &reduced) == 0 &&
			      layout__groups(graph, groups, &opts, &open) == 0,
		      "%s is laid out", program);
		scene__bounds(&full);
		scene__bounds(&reduced);
		scene__bounds(&open);
		check(&full, "full", program);
		check(&reduced, "reduced", program);
		check(&open, "aggregated", program);
		if (loops)
			check_columns(&full);
	}
	scene__free(&full);
	scene__free(&reduced);
	scene__free(&open);
	tree__free(tree);
	grain_groups__free(groups);
	outline__free(outline);
	grain_graph__free(graph);
}

int main(void)
{
	test(true, false, "a loop");
	test(false, true, "regions in a region");
	test(true, true, "a loop and regions in a region");
	CHECK_DONE();
}
