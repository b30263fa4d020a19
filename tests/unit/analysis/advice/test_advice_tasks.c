/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice about small tasks: which cure, where, and what it saves. */
#include "tests/unit/advice_log.h"

#define SMALL (1u << GRAIN_ADVICE_SMALL_TASKS)

/* A task of a tree: what it does itself, and what lies below it. */
struct shape {
	int depth;		    /* levels below */
	unsigned inner, leaf, cost; /* own work, and what creating a child costs */
};

static int next_task;

static void run_tree(struct log *l, int task, const struct shape *shape, int levels)
{
	int children[2];

	log_event(l, 0, "task-begin task=%d", task);
	l->now[0] += levels ? shape->inner : shape->leaf;
	for (int i = 0; i < 2 && levels; i++) {
		children[i] = next_task++;
		log_create(l, 0, children[i], 2, shape->cost);
	}
	if (levels) {
		log_event(l, 0, "wait-begin kind=taskwait");
		for (int i = 0; i < 2; i++)
			run_tree(l, children[i], shape, levels - 1);
		log_event(l, 0, "wait-end kind=taskwait");
	}
	log_event(l, 0, "task-end task=%d", task);
}

static struct grain_graph *tree(const char *name, const struct shape *shape)
{
	struct log l;

	log_open(&l, 1);
	log_team(&l, 1);
	next_task = 2;
	log_create(&l, 0, 1, 2, shape->cost);
	log_barrier(&l, 0);
	run_tree(&l, 1, shape, shape->depth);
	log_end_team(&l, 1);
	return log_graph(&l, name, NULL);
}

/*
 * 255 tasks that do 100 ns each and cost 1000 to create. With all below it a
 * task at depth d has 2^(9-d) - 1 tasks: ten times 1000 ns are 127 of them, at
 * depth 2, where there are only 2; five times are 63, depth 3, where there are
 * 4, which is enough for one thread. Below it are 248.
 */
static void test_cutoff(void)
{
	const struct shape shape = {.depth = 7, .inner = 100, .leaf = 100, .cost = 1000};
	struct grain_graph *g = tree("cutoff", &shape);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "cutoff", SMALL);
	if (find_advice(g, "cutoff", GRAIN_ADVICE_SMALL_TASKS, &a)) {
		check_saves(&a, "cutoff", 248 * 1000);
		CHECK(a.evidence.cutoff_depth == 3, "cutoff: at depth 3");
		CHECK(a.evidence.vanish == 248 && a.evidence.grains == 128 && a.evidence.of == 255,
		      "cutoff: 248 of 255 tasks go, 128 are small leaves");
		check_near(a.evidence.median_exec_ns, 100, "cutoff: what they run");
		check_near(a.evidence.median_cost_ns, 1000, "cutoff: what they cost");
		check_worst(g, &a, "cutoff", "0.p0.0.0.0.0.0.0.0.0.0");
	}
	grain_graph__free(g);
}

/* Creation takes 5 % of the time, and all inner tasks run shorter than it; their children do the work. */
static void test_inner_tasks(void)
{
	const struct shape shape = {.depth = 6, .inner = 100, .leaf = 200000, .cost = 5000};
	struct grain_graph *g = tree("inner tasks", &shape);

	if (!g)
		return;
	CHECK(context_at(g, "0.p0.0.0").problems & 1u << GRAIN_PROBLEM_PARALLEL_BENEFIT,
	      "inner tasks: they have no benefit");
	check_kinds(g, "inner tasks", 0);
	grain_graph__free(g);
}

/* 15 tasks of 10 ns that cost 1000 each: even all of them together are not worth one. */
static void test_worthless(void)
{
	const struct shape shape = {.depth = 3, .inner = 10, .leaf = 10, .cost = 1000};
	struct grain_graph *g = tree("worthless", &shape);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "worthless", SMALL);
	if (find_advice(g, "worthless", GRAIN_ADVICE_SMALL_TASKS, &a)) {
		check_saves(&a, "worthless", 15 * 1000);
		CHECK_STR(a.text,
			  "create fewer, larger tasks: do more in each, or do the work without a task",
			  "worthless: the text");
		CHECK(a.evidence.cutoff_depth == GRAIN_NONE && a.evidence.times == 0,
		      "worthless: neither a depth nor a factor");
	}
	grain_graph__free(g);
}

/* Ten nested tasks, each of which makes three small leaves, a large one, and the next. */
static void test_mixed_sizes(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;
	int task = 1;

	log_open(&l, 1);
	log_team(&l, 1);
	log_create(&l, 0, task, 2, 1000);
	log_barrier(&l, 0);
	for (int level = 0; level < 10; level++) {
		log_event(&l, 0, "task-begin task=%d", task);
		for (int i = 1; i <= (level < 9 ? 5 : 4); i++)
			log_create(&l, 0, task + i, 2, 1000);
		log_event(&l, 0, "wait-begin kind=taskwait");
		for (int i = 1; i <= 4; i++)
			log_task(&l, 0, task + i, i < 4 ? 50 : 100000);
		task += 5;
	}
	for (int level = 10; level-- > 0;) {
		task -= 5;
		log_event(&l, 0, "wait-end kind=taskwait");
		log_event(&l, 0, "task-end task=%d", task);
	}
	log_end_team(&l, 1);
	g = log_graph(&l, "mixed sizes", NULL);
	if (!g)
		return;
	check_kinds(g, "mixed sizes", SMALL);
	if (find_advice(g, "mixed sizes", GRAIN_ADVICE_SMALL_TASKS, &a)) {
		check_saves(&a, "mixed sizes", 30 * 1000);
		CHECK_STR(a.text,
			  "create a task only where there is enough to do, about 10.0 us of it (an if clause "
			  "or a "
			  "test on the size of the work before the directive): small and large ones are at "
			  "every "
			  "depth",
			  "mixed sizes: the text");
		CHECK(a.evidence.vanish == 30 && a.evidence.of == 50, "mixed sizes: 30 of 50 go");
	}
	grain_graph__free(g);
}

/*
 * Two threads; each creates 200 tasks in turn and executes them, 40 ns of work
 * for 100 ns of creation. 25 times as much makes creation a tenth; 400 tasks
 * leave room for 50. 24/25 of 40 us go, from two threads.
 */
static void test_merge(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 400; i++)
		log_create(&l, i % 2, i + 1, 2, 100);
	log_barrier(&l, 0);
	log_barrier(&l, 1);
	for (int i = 0; i < 400; i++)
		log_task(&l, i % 2, i + 1, 40);
	log_end_team(&l, 1);
	g = log_graph(&l, "merge", NULL);
	if (!g)
		return;
	check_kinds(g, "merge", SMALL);
	if (find_advice(g, "merge", GRAIN_ADVICE_SMALL_TASKS, &a)) {
		check_saves(&a, "merge", 400 * 100 * 24 / 25 / 2);
		CHECK(a.evidence.times == 25 && a.evidence.vanish == 384, "merge: 25 in one, 384 go");
		CHECK_STR(a.text,
			  "create fewer, larger tasks: give each about 25 times as much to do (a loop inside "
			  "the "
			  "task, or taskloop with grainsize)",
			  "merge: the text");
	}
	grain_graph__free(g);
}

/* The same with 24 tasks: 8 must stay, so that 3 times as much is all. */
static void test_merge_few(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 24; i++)
		log_create(&l, i % 2, i + 1, 2, 100);
	log_barrier(&l, 0);
	log_barrier(&l, 1);
	for (int i = 0; i < 24; i++)
		log_task(&l, i % 2, i + 1, 40);
	log_end_team(&l, 1);
	g = log_graph(&l, "few to merge", NULL);
	if (!g)
		return;
	if (find_advice(g, "few to merge", GRAIN_ADVICE_SMALL_TASKS, &a)) {
		check_saves(&a, "few to merge", 24 * 100 * 2 / 3 / 2);
		CHECK(a.evidence.times == 3, "few to merge: 3 in one");
	}
	grain_graph__free(g);
}

/* All tasks lack benefit, which takes one part in a thousand of the time. */
static void test_cheap(void)
{
	struct grain_graph *g;
	struct grain_problem_summary p;
	struct log l;

	log_open(&l, 1);
	log_team(&l, 1);
	for (int i = 0; i < 10; i++)
		log_create(&l, 0, i + 1, 2, 100);
	l.now[0] += 1000000;
	log_barrier(&l, 0);
	for (int i = 0; i < 10; i++)
		log_task(&l, 0, i + 1, 50);
	log_end_team(&l, 1);
	g = log_graph(&l, "cheap", NULL);
	if (!g)
		return;
	grain_graph__problem(g, GRAIN_PROBLEM_PARALLEL_BENEFIT, &p);
	CHECK(p.percent == 100, "cheap: all are flagged");
	check_kinds(g, "cheap", 0);
	grain_graph__free(g);
}

int main(void)
{
	test_cutoff();
	test_inner_tasks();
	test_worthless();
	test_mixed_sizes();
	test_merge();
	test_merge_few();
	test_cheap();
	CHECK_DONE();
}
