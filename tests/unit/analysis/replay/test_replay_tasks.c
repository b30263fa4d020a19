/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs of task programs against what was computed by hand. */
#include "analysis/graph/graph.h"
#include "tests/unit/graph_text.h"

static void test_fib(void)
{
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	struct grain_context c;
	struct grain_region region;

	CHECK(grain_graph__load("tests/data/fib_two_threads.log", NULL, &g, &err) == 0, "fib: loads");
	if (!g) {
		printf("# %s\n", err.text);
		return;
	}
	CHECK(grain_graph__context_count(g) == 6, "fib: six contexts");
	check_joined(g, "0", NULL, NULL);
	check_joined(g, "0.p0.0", "0", NULL);
	check_joined(g, "0.p0.s0.0", "0.p0.0", "0.p0/b0");
	check_joined(g, "0.p0.s0.0.0", "0.p0.s0.0", "0.p0.s0.0/j0");
	check_joined(g, "0.p0.s0.0.1", "0.p0.s0.0", "0.p0.s0.0/j0");
	check_times(g, "0", 0, 0, 0);
	check_times(g, "0.p0.0", 130, 0, 30);
	check_times(g, "0.p0.1", 10, 0, 270);
	check_times(g, "0.p0.s0.0", 70, 50, 90);
	check_times(g, "0.p0.s0.0.0", 100, 40, 0);
	check_times(g, "0.p0.s0.0.1", 200, 30, 0);
	check_totals(g, "fib", 510, 360);
	/* 60 of creations on the path, 100 before member 0 began, 50 + 40 + 30 of tasks. */
	CHECK(grain_graph__totals(g)->burdened_span_ns == 580, "fib: burdened span 580");
	check_near(context_at(g, "0.p0.s0.0").parallel_benefit, 70.0 / 80, "benefit of 0");
	check_near(context_at(g, "0.p0.s0.0.0").parallel_benefit, 100.0 / 85, "benefit of 0.0");
	check_near(context_at(g, "0.p0.s0.0.1").parallel_benefit, 200.0 / 75, "benefit of 0.1");
	check_near(context_at(g, "0.p0.s0.0.1").load_balance, 200.0 / 150, "balance of 0.1");
	check_near(context_at(g, "0.p0.s0.0").load_balance, 70.0 / 240, "balance of 0");
	check_near(context_at(g, "0.p0.s0.0.0").instantaneous_parallelism, 2, "parallelism of 0.0");
	check_near(context_at(g, "0.p0.s0.0.1").instantaneous_parallelism, 1, "parallelism of 0.1");
	c = context_at(g, "0.p0.s0.0.1");
	CHECK(c.critical && c.depth == 2, "fib: task 3 is critical, at depth 2");
	c = context_at(g, "0.p0.s0.0.0");
	CHECK(!c.critical && !c.incomplete, "fib: task 2 is not critical");
	CHECK(grain_graph__region_count(g) == 1, "fib: one region");
	grain_graph__region(g, 0, &region);
	CHECK(region.threads == 2 && region.tasks == 3 && region.max_active_tasks_per_thread == 2 &&
		      !region.incomplete && region.end_join != GRAIN_NONE,
	      "fib: the region");
	check_near(region.load_balance, 320.0 / 280, "balance of the region");
	grain_graph__free(g);
}

static void test_items(void)
{
	struct grain_graph *g =
		graph_of_text("items", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=1\n"
						  "10 1 0 member-begin region=1 num=0\n"
						  "20 1 0 create-begin task=1 src=2 flags=deferred\n"
						  "30 1 0 create-end task=1\n"
						  "30 1 0 wait-begin kind=taskwait\n"
						  "35 1 0 task-begin task=1\n"
						  "65 1 0 task-end task=1\n"
						  "70 1 0 wait-end kind=taskwait\n"
						  "80 1 0 wait-begin kind=barrier-implicit\n"
						  "90 1 0 wait-end kind=barrier-implicit\n"
						  "90 1 0 member-end region=1 num=0\n"
						  "100 1 0 region-end region=1\n");
	static const enum grain_item_kind kinds[] = {GRAIN_FRAGMENT, GRAIN_FORK, GRAIN_JOIN, GRAIN_FRAGMENT,
						     GRAIN_JOIN};
	static const uint64_t own[] = {10, 10, 10, 10, 10};
	struct grain_context c;
	struct grain_region region;
	struct grain_join join;

	if (!g)
		return;
	c = context_at(g, "0.p0.0");
	CHECK(c.item_count == 5, "items: an empty fragment between fork and join is left out");
	for (uint32_t i = 0; i < c.item_count && i < 5; i++) {
		struct grain_item item;

		grain_graph__item(g, c.first_item + i, &item);
		CHECK(item.kind == kinds[i] && item.own_ns == own[i] && item.tid == 1, "items: item %u", i);
	}
	CHECK(grain_graph__join_count(g) == 2, "items: two joins");
	grain_graph__join(g, context_at(g, "0.p0.0.0").join, &join);
	CHECK(join.kind == GRAIN_JOIN_TASKWAIT && join.joined == 1 && join.start_ns == 30 &&
		      join.end_ns == 70,
	      "items: the taskwait");
	grain_graph__region(g, 0, &region);
	grain_graph__join(g, region.end_join, &join);
	CHECK(join.kind == GRAIN_JOIN_REGION_END && join.joined == 0 &&
		      join.waiter == context_named(g, "0.p0.0"),
	      "items: the region's end");
	check_totals(g, "items", 50, 50);
	grain_graph__free(g);
}

static void test_taskgroup(void)
{
	struct grain_graph *g =
		graph_of_text("taskgroup", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=1\n"
						      "10 1 0 member-begin region=1 num=0\n"
						      "20 1 0 group-begin\n"
						      "20 1 0 create-begin task=1 src=2 flags=deferred\n"
						      "30 1 0 create-end task=1\n"
						      "40 1 0 wait-begin kind=taskgroup\n"
						      "50 1 0 task-begin task=1\n"
						      "60 1 0 create-begin task=2 src=3 flags=deferred\n"
						      "70 1 0 create-end task=2\n"
						      "80 1 0 task-end task=1\n"
						      "80 1 0 task-begin task=2\n"
						      "180 1 0 task-end task=2\n"
						      "200 1 0 wait-end kind=taskgroup\n"
						      "205 1 0 create-begin task=3 src=2 flags=deferred\n"
						      "215 1 0 create-end task=3\n"
						      "230 1 0 wait-begin kind=taskwait\n"
						      "240 1 0 task-begin task=3\n"
						      "290 1 0 task-end task=3\n"
						      "300 1 0 wait-end kind=taskwait\n"
						      "310 1 0 wait-begin kind=barrier-implicit\n"
						      "330 1 0 wait-end kind=barrier-implicit\n"
						      "330 1 0 member-end region=1 num=0\n"
						      "340 1 0 region-end region=1\n");

	if (!g)
		return;
	check_joined(g, "0.p0.0.0", "0.p0.0", "0.p0.0/j0");
	check_joined(g, "0.p0.0.0.0", "0.p0.0.0", "0.p0.0/j0");
	check_joined(g, "0.p0.0.1", "0.p0.0", "0.p0.0/j1");
	check_times(g, "0.p0.0", 10 + 10 + 5 + 15 + 10, 0, 30 + 20 + 20);
	check_times(g, "0.p0.0.0", 20, 10, 0);
	check_times(g, "0.p0.0.0.0", 100, 10, 0);
	check_near(context_at(g, "0.p0.0.0").parallel_benefit, 20.0 / 40, "benefit in the group");
	check_near(context_at(g, "0.p0.0.0.0").parallel_benefit, 10, "benefit of the grandchild");
	check_near(context_at(g, "0.p0.0.1").parallel_benefit, 50.0 / 30, "benefit after the group");
	/* 10 before the task, 10 in it, 100 of the grandchild, then 5, 15 + 10 or 50 + 10. */
	check_totals(g, "taskgroup", 50 + 20 + 100 + 50, 10 + 10 + 100 + 5 + 50 + 10);
	grain_graph__free(g);
}

/* A taskwait inside a group joins direct children; the group's end the rest. */
static void test_wait_in_group(void)
{
	struct grain_graph *g = graph_of_text("wait in group",
					      GRAPH_HEAD "0 1 0 group-begin\n"
							 "10 1 0 create-begin task=1 src=2 flags=undeferred\n"
							 "11 1 0 task-begin task=1\n"
							 "12 1 0 create-begin task=2 src=2 flags=deferred\n"
							 "13 1 0 create-end task=2\n"
							 "15 1 0 task-end task=1\n"
							 "16 1 0 create-end task=1\n"
							 "20 1 0 wait-begin kind=taskwait\n"
							 "22 1 0 wait-end kind=taskwait\n"
							 "30 1 0 create-begin task=3 src=2 flags=deferred\n"
							 "35 1 0 create-end task=3\n"
							 "40 1 0 wait-begin kind=taskgroup\n"
							 "45 1 0 task-begin task=2\n"
							 "55 1 0 task-end task=2\n"
							 "56 1 0 task-begin task=3\n"
							 "66 1 0 task-end task=3\n"
							 "70 1 0 wait-end kind=taskgroup\n"
							 "75 1 0 create-begin task=4 src=2 flags=deferred\n"
							 "80 1 0 create-end task=4\n"
							 "85 1 0 task-begin task=4\n"
							 "95 1 0 task-end task=4\n"
							 "99 1 0 thread-end\n");
	struct grain_context c;

	if (!g)
		return;
	check_joined(g, "0.0", "0", "0/j0");
	check_joined(g, "0.0.0", "0.0", "0/j1");
	check_joined(g, "0.1", "0", "0/j1");
	check_joined(g, "0.2", "0", NULL);
	c = context_at(g, "0.0");
	CHECK(c.undeferred, "wait in group: task 1 is undeferred");
	check_times(g, "0.0", 3, 2, 0);
	check_times(g, "0", 10 + 4 + 8 + 5 + 5 + 5 + 4, 0, 2 + 10);
	check_sound(g, "wait in group");
	CHECK(grain_graph__truth(g)->incomplete_grains == 0, "wait in group: all complete");
	grain_graph__free(g);
}

static void test_nested_waits(void)
{
	struct grain_graph *g =
		graph_of_text("nested waits", GRAPH_HEAD
			      "0 1 0 create-begin task=1 src=2 flags=deferred\n"
			      "10 1 0 create-end task=1\n"
			      "10 1 0 create-begin task=2 src=2 flags=deferred\n"
			      "20 1 0 create-end task=2\n"
			      "30 1 0 wait-begin kind=taskwait\n"
			      "40 1 0 task-begin task=1\n"
			      "50 1 0 create-begin task=3 src=3 flags=deferred\n"
			      "60 1 0 create-end task=3\n"
			      "70 1 0 wait-begin kind=taskwait\n"
			      "72 1 0 task-begin task=2\n" /* a task that this wait does not wait for */
			      "90 1 0 task-end task=2\n"
			      "95 1 0 task-begin task=3\n"
			      "115 1 0 task-end task=3\n"
			      "120 1 0 wait-end kind=taskwait\n"
			      "130 1 0 task-end task=1\n"
			      "150 1 0 wait-end kind=taskwait\n"
			      "160 1 0 thread-end\n");

	if (!g)
		return;
	check_times(g, "0", 10 + 10, 0, 30);
	check_times(g, "0.0", 10 + 10 + 10, 10, 12);
	check_times(g, "0.1", 18, 10, 0);
	check_times(g, "0.0.0", 20, 10, 0);
	check_joined(g, "0.0.0", "0.0", "0.0/j0");
	check_joined(g, "0.1", "0", "0/j0");
	check_near(context_at(g, "0.1").parallel_benefit, 18.0 / 25, "benefit of 0.1");
	check_near(context_at(g, "0.0").load_balance, 30.0 / ((40 + 18) / 2.0), "balance of 0.0");
	check_totals(g, "nested waits", 20 + 30 + 18 + 20, 10 + 20 + 10 + 10);
	grain_graph__free(g);
}

static void test_untied(void)
{
	struct grain_graph *g =
		graph_of_text("untied", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
						   "10 1 0 member-begin region=1 num=0\n"
						   "10 2 1 member-begin region=1 num=1\n"
						   "10 2 1 wait-begin kind=barrier-implicit\n"
						   "20 1 0 create-begin task=1 src=2 flags=untied,deferred\n"
						   "30 1 0 create-end task=1\n"
						   "30 1 0 wait-begin kind=barrier-implicit\n"
						   "40 1 0 task-begin task=1\n"
						   "50 1 0 create-begin task=2 src=3 flags=deferred\n"
						   "60 1 0 create-end task=2\n"
						   "65 2 1 task-begin task=2\n"
						   "70 1 0 wait-begin kind=taskwait\n"
						   "165 2 1 task-end task=2\n"
						   "170 2 1 task-switch task=1\n"
						   "180 2 1 wait-end kind=taskwait\n"
						   "220 2 1 task-end task=1\n"
						   "230 2 1 wait-end kind=barrier-implicit\n"
						   "230 2 1 member-end region=1 num=1\n"
						   "231 1 0 wait-end kind=barrier-implicit\n"
						   "231 1 0 member-end region=1 num=0\n"
						   "240 1 0 region-end region=1\n");
	struct grain_context c;
	struct grain_item first, last;

	if (!g)
		return;
	check_times(g, "0.p0.0.0", 10 + 10 + 40, 10, 100 + 10);
	check_times(g, "0.p0.0", 10, 0, 201 - 130);
	check_times(g, "0.p0.1", 0, 0, 220 - 100 - 50);
	check_joined(g, "0.p0.0.0.0", "0.p0.0.0", "0.p0.0.0/j0");
	c = context_at(g, "0.p0.0.0");
	grain_graph__item(g, c.first_item, &first);
	grain_graph__item(g, c.first_item + c.item_count - 1, &last);
	CHECK(first.tid == 1 && last.tid == 2 && last.kind == GRAIN_FRAGMENT,
	      "untied: fragments on two threads");
	check_totals(g, "untied", 10 + 60 + 100, 10 + 10 + 100 + 40);
	grain_graph__free(g);
}

/* A nanosecond too many in one item of a graph is found, and the thread named. */
static void test_conservation(void)
{
	struct grain_graph *g =
		graph_of_text("conservation", GRAPH_HEAD "0 7 0 thread-begin\n"
							 "10 7 0 create-begin task=0 src=2 flags=undeferred\n"
							 "10 7 0 task-begin task=0\n"
							 "40 7 0 task-end task=0\n"
							 "50 7 0 create-end task=0\n"
							 "60 7 0 thread-end\n");

	if (!g)
		return;
	CHECK(grain_graph__truth(g)->conservation_violations == 0, "conservation: holds");
	for (size_t i = 0; i < g->item_count; i++) {
		g->items[i].own_ns++;
		g->truth.conservation_violations = 0;
		CHECK(graph__check_conservation(g) == 0 && g->truth.conservation_violations == 1 &&
			      strcmp(g->violation,
				     "thread 7: its parts sum to 61 ns of 60 ns that it was observed") == 0,
		      "conservation: broken in item %zu", i);
		g->items[i].own_ns--;
	}
	grain_graph__free(g);
}

int main(void)
{
	test_fib();
	test_items();
	test_taskgroup();
	test_wait_in_group();
	test_nested_waits();
	test_untied();
	test_conservation();
	CHECK_DONE();
}
