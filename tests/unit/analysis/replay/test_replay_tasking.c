/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile against what was computed by hand: the event streams of
 * ICPPW12 figures 1, 3, 4 and 6 to 11, and numbers as in figure 5.
 */
#include "tests/unit/graph_json.h"
#include "tests/unit/tasking_text.h"

/* Figure 1: without tasks every call is a node with its visits and its time. */
static void test_nested_calls(void)
{
	struct grain_graph *g =
		graph_of_text("figure 1", HEAD REGION "10 1 0 wait-begin kind=taskwait src=4\n"
						      "20 1 0 wait-end kind=taskwait\n"
						      "30 1 0 wait-begin kind=barrier src=7\n"
						      "60 1 0 wait-end kind=barrier\n"
						      "70 1 0 wait-begin kind=taskwait src=4\n"
						      "100 1 0 wait-end kind=taskwait\n"
						      "110 1 0 member-end region=1 num=0\n"
						      "120 1 0 region-end region=1\n");

	if (!g)
		return;
	CHECK(grain_graph__scheduling_point_count(g) == 2, "figure 1: two points");
	CHECK(grain_graph__task_construct_count(g) == 0 && grain_graph__depth_row_count(g) == 0,
	      "figure 1: no tasks");
	POINT(g, "taskwait", 40, 0, 2, 40, 0, 0, 40);
	POINT(g, "barrier", 70, 0, 1, 30, 0, 0, 30);
	CHECK(point_at(g, "barrier", 70, 0).stubs == 0, "figure 1: no stubs");
	check_barriers(g, (const uint64_t[]){30, 0, 0, 30});
	grain_graph__free(g);
}

/* Figure 3: the creation takes 1 and the barrier waits 1, not -5 and 7. */
static void test_executing_node(void)
{
	struct grain_graph *g =
		graph_of_text("figure 3", HEAD REGION "10 1 0 create-begin task=1 src=2 flags=deferred\n"
						      "20 1 0 create-end task=1\n"
						      "30 1 0 wait-begin kind=barrier src=7\n"
						      "40 1 0 task-begin task=1\n"
						      "100 1 0 task-end task=1\n"
						      "100 1 0 wait-end kind=barrier\n"
						      "110 1 0 member-end region=1 num=0\n"
						      "120 1 0 region-end region=1\n");
	struct grain_scheduling_point p;

	if (!g)
		return;
	POINT(g, "create", 20, 0, 1, 10, 0, 10, 0);
	POINT(g, "barrier", 70, 0, 1, 70, 60, 10, 0);
	p = point_at(g, "barrier", 70, 0);
	check_stub(g, &p, 20, 1, 60, 60, 60);
	grain_graph__free(g);
}

/*
 * Figure 4: task 1 waits, task 2 runs until it waits too, task 1 goes on; task
 * 2 is resumed under another node, in the barrier.
 */
static void test_suspended(void)
{
	struct grain_graph *g =
		graph_of_text("figure 4", HEAD REGION "10 1 0 create-begin task=1 src=2 flags=deferred\n"
						      "20 1 0 create-end task=1\n"
						      "30 1 0 create-begin task=2 src=3 flags=deferred\n"
						      "40 1 0 create-end task=2\n"
						      "50 1 0 wait-begin kind=barrier src=7\n"
						      "60 1 0 task-begin task=1\n"
						      "100 1 0 wait-begin kind=taskwait src=5\n"
						      "110 1 0 task-begin task=2\n"
						      "160 1 0 wait-begin kind=taskwait src=6\n"
						      "170 1 0 task-suspend task=2\n"
						      "190 1 0 wait-end kind=taskwait\n"
						      "230 1 0 task-end task=1\n"
						      "240 1 0 task-switch task=2\n"
						      "250 1 0 wait-end kind=taskwait\n"
						      "300 1 0 task-end task=2\n"
						      "320 1 0 wait-end kind=barrier\n"
						      "330 1 0 member-end region=1 num=0\n"
						      "340 1 0 region-end region=1\n");
	struct grain_task_construct c;
	struct grain_scheduling_point p;
	struct grain_region region;

	if (!g)
		return;
	check_sound(g, "figure 4");
	/* Nothing was left to begin from 110 on, and task 1 has no children. */
	POINT(g, "barrier", 70, 0, 1, 270, 230, 10, 30);
	POINT(g, "taskwait", 50, 20, 1, 90, 60, 0, 30);
	POINT(g, "taskwait", 60, 30, 1, 20, 0, 0, 20);
	p = point_at(g, "barrier", 70, 0);
	CHECK(p.stubs == 2 && p.nested_ns == 0, "figure 4: a stub for each task construct");
	check_stub(g, &p, 20, 2, 110, 50, 60);
	check_stub(g, &p, 30, 2, 120, 60, 60);
	p = point_at(g, "taskwait", 50, 20);
	check_stub(g, &p, 30, 1, 60, 60, 60);
	c = construct_at(g, 20);
	CHECK(c.instances == 1 && c.complete == 1 && c.fragments == 2 && c.switches == 1,
	      "figure 4: task 1 in two fragments");
	check_sum("figure 4: task 1, exclusive", &c.exclusive, 80, 80, 80);
	check_sum("figure 4: task 1, taskwait", &c.taskwait, 30, 30, 30);
	check_sum("figure 4: task 1, management", &c.management, 0, 0, 0);
	c = construct_at(g, 30);
	CHECK(c.fragments == 2 && c.switches == 1, "figure 4: task 2 in two fragments");
	check_sum("figure 4: task 2, exclusive", &c.exclusive, 100, 100, 100);
	check_sum("figure 4: task 2, taskwait", &c.taskwait, 20, 20, 20);
	check_sum("figure 4: task 2, all", &c.task, 120, 120, 120);
	grain_graph__region(g, 0, &region);
	CHECK(region.max_active_tasks_per_thread == 2 && c.max_concurrent == 1,
	      "figure 4: two active tasks on the thread, one of each construct");
	check_barriers(g, (const uint64_t[]){270, 230, 10, 30});
	grain_graph__free(g);
}

/* Figures 6 to 11: two tasks of one construct, the second in the first one's taskwait. */
static const char two_instances[] = HEAD REGION "10 1 0 create-begin task=1 src=2 flags=deferred\n"
						"20 1 0 create-end task=1\n"
						"30 1 0 create-begin task=2 src=2 flags=deferred\n"
						"40 1 0 create-end task=2\n"
						"50 1 0 wait-begin kind=barrier src=7\n"
						"60 1 0 task-begin task=1\n"
						"100 1 0 wait-begin kind=taskwait src=5\n"
						"120 1 0 task-begin task=2\n"
						"170 1 0 task-end task=2\n"
						"180 1 0 wait-end kind=taskwait\n"
						"230 1 0 task-end task=1\n"
						"250 1 0 wait-end kind=barrier\n"
						"260 1 0 member-end region=1 num=0\n"
						"270 1 0 region-end region=1\n";

static void test_two_instances(void)
{
	struct grain_graph *g = graph_of_text("figure 11", two_instances);
	struct grain_task_construct c;
	struct grain_scheduling_point p;

	if (!g)
		return;
	check_sound(g, "figure 11");
	POINT(g, "create", 20, 0, 2, 20, 0, 20, 0);
	POINT(g, "barrier", 70, 0, 1, 200, 170, 10, 20);
	POINT(g, "taskwait", 50, 20, 1, 80, 50, 0, 30);
	p = point_at(g, "barrier", 70, 0);
	check_stub(g, &p, 20, 3, 170, 50, 60);
	p = point_at(g, "taskwait", 50, 20);
	check_stub(g, &p, 20, 1, 50, 50, 50);
	c = construct_at(g, 20);
	CHECK(c.instances == 2 && c.fragments == 3 && c.switches == 1 && c.max_concurrent == 2,
	      "figure 11: two instances, three fragments, both active at once");
	check_sum("figure 11: exclusive", &c.exclusive, 140, 50, 90);
	check_near(c.exclusive.mean, 70, "figure 11: mean");
	check_near(c.exclusive.stddev, 20, "figure 11: standard deviation");
	check_sum("figure 11: inclusive", &c.inclusive, 140, 50, 90);
	check_sum("figure 11: create", &c.create, 0, 0, 0);
	check_sum("figure 11: taskwait", &c.taskwait, 30, 0, 30);
	check_sum("figure 11: management", &c.management, 0, 0, 0);
	check_sum("figure 11: all", &c.task, 170, 50, 120);
	grain_graph__free(g);
}

static void test_json(void)
{
	struct grain_graph *g = graph_of_text("json", two_instances);
	json_t *root, *row;

	if (!g)
		return;
	root = summary_of(g);
	row = json_array_get(json_object_get(root, "definitions"), 0);
	check_json(row, "inclusive_ns", "{\"sum\":140,\"mean\":70,\"min\":50,\"max\":90,\"stddev\":20}",
		   "json");
	check_json(row, "creating_ns", "{\"sum\":0,\"mean\":0,\"min\":0,\"max\":0,\"stddev\":0}", "json");
	check_json(row, "taskwait_ns", "{\"sum\":30,\"mean\":15,\"min\":0,\"max\":30,\"stddev\":15}", "json");
	check_json(row, "management_ns", "{\"sum\":0,\"mean\":0,\"min\":0,\"max\":0,\"stddev\":0}", "json");
	check_json(row, "task_ns", "{\"sum\":170,\"mean\":85,\"min\":50,\"max\":120,\"stddev\":35}", "json");
	check_json(row, "fragments", "3", "json");
	check_json(row, "switches", "1", "json");
	check_json(row, "max_concurrent", "2", "json");
	check_json(json_array_get(json_object_get(root, "regions"), 0), "barriers",
		   "{\"time_ns\":200,\"executing_ns\":170,\"management_ns\":10,\"idle_ns\":20}", "json");
	row = json_array_get(json_object_get(root, "scheduling_points"), 1);
	check_json(row, "kind", "\"taskwait\"", "json");
	check_json(row, "source", "\"a.c:50\"", "json");
	check_json(row, "caller_source", "\"a.c:20\"", "json");
	check_json(row, "in_task", "true", "json");
	check_json(row, "visits", "1", "json");
	check_json(row, "time_ns", "80", "json");
	check_json(row, "executing_ns", "50", "json");
	check_json(row, "management_ns", "0", "json");
	check_json(row, "idle_ns", "30", "json");
	check_json(row, "nested_ns", "0", "json");
	check_json(json_array_get(json_object_get(row, "stubs"), 0), "fragments", "1", "json");
	row = json_array_get(json_object_get(root, "task_depths"), 0);
	check_json(row, "depth", "1", "json");
	check_json(row, "instances", "2", "json");
	check_json(row, "task_ns", "{\"sum\":170,\"mean\":85,\"min\":50,\"max\":120,\"stddev\":35}", "json");
	json_decref(root);
	grain_graph__free(g);
}

/* As figure 5: 216 s in the barrier, 113 s of it tasks: 51.5 s their own, 25.8 s creating, 35.7 s waiting. */
static void test_barrier_of_two(void)
{
	static const char text[] = HEAD "90000000000 1 0 region-begin region=1 src=1 threads=2\n"
					"90000000000 1 0 member-begin region=1 num=0\n"
					"90000000000 2 1 member-begin region=1 num=1\n"
					"91000000000 1 0 create-begin task=1 src=2 flags=deferred\n"
					"92000000000 1 0 create-end task=1\n"
					"92000000000 1 0 create-begin task=2 src=2 flags=deferred\n"
					"93000000000 1 0 create-end task=2\n"
					"100000000000 1 0 wait-begin kind=barrier src=7\n"
					"100000000000 2 1 wait-begin kind=barrier src=7\n"
					"104000000000 1 0 task-begin task=1\n"
					"105000000000 2 1 task-begin task=2\n"
					"114000000000 1 0 create-begin task=3 src=2 flags=deferred\n"
					"115000000000 2 1 create-begin task=4 src=2 flags=deferred\n"
					"125000000000 2 1 create-end task=4\n"
					"125000000000 2 1 wait-begin kind=taskwait src=5\n"
					"129800000000 1 0 create-end task=3\n"
					"129800000000 1 0 wait-begin kind=taskwait src=5\n"
					"135000000000 2 1 task-begin task=4\n"
					"136900000000 1 0 task-begin task=3\n"
					"143000000000 2 1 task-end task=4\n"
					"149900000000 1 0 task-end task=3\n"
					"154500000000 2 1 wait-end kind=taskwait\n"
					"157000000000 1 0 wait-end kind=taskwait\n"
					"158000000000 2 1 task-end task=2\n"
					"164000000000 1 0 task-end task=1\n"
					"208000000000 1 0 wait-end kind=barrier\n"
					"208000000000 2 1 wait-end kind=barrier\n"
					"208000000000 2 1 member-end region=1 num=1\n"
					"209000000000 1 0 member-end region=1 num=0\n"
					"210000000000 1 0 region-end region=1\n";
	struct grain_graph *g = graph_of_text("figure 5", text);
	struct grain_scheduling_point p;
	struct grain_task_construct c;

	if (!g)
		return;
	check_sound(g, "figure 5");
	/* Tasks could be begun until 105 and from 114 to 136.9. */
	POINT(g, "barrier", 70, 0, 2, 216000000000, 113000000000, 9000000000, 94000000000);
	check_barriers(g, (const uint64_t[]){216000000000, 113000000000, 9000000000, 94000000000});
	p = point_at(g, "barrier", 70, 0);
	/* The longest: task 1 from 104 to 136.9; the shortest: task 4 from 135 to 143. */
	check_stub(g, &p, 20, 6, 113000000000, 8000000000, 32900000000);
	c = construct_at(g, 20);
	CHECK(c.exclusive.sum == 51500000000 && c.create.sum == 25800000000 &&
		      c.taskwait.sum == 35700000000 && c.task.sum == 113000000000,
	      "figure 5: 51.5 s exclusive, 25.8 s creating, 35.7 s waiting");
	/* Of the waits what is before 136.9: 10 of task 2, 7.1 of task 1. */
	CHECK(c.management.sum == 25800000000 + 10000000000 + 7100000000, "figure 5: 42.9 s management");
	/* Task 1 with task 3, and task 2 with task 4, once more. */
	CHECK(c.inclusive.sum == 51500000000 + 21000000000, "figure 5: inclusive");
	grain_graph__free(g);
}

/* A task whose predecessors run cannot be begun: waiting meanwhile is idle. */
static void test_dependences(void)
{
	struct grain_graph *g =
		graph_of_text("dependences",
			      HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
				   "0 1 0 member-begin region=1 num=0\n0 2 1 member-begin region=1 num=1\n"
				   "0 2 1 wait-begin kind=barrier-implicit src=7\n"
				   "10 1 0 create-begin task=1 src=2 flags=deferred\n"
				   "10 1 0 depend task=1 addr=1 kind=out\n"
				   "20 1 0 create-end task=1\n"
				   "20 1 0 create-begin task=2 src=2 flags=deferred\n"
				   "20 1 0 depend task=2 addr=1 kind=in\n"
				   "30 1 0 create-end task=2\n"
				   "30 1 0 create-begin task=3 src=3 flags=undeferred\n"
				   "30 1 0 task-begin task=3\n"
				   "60 1 0 task-end task=3\n"
				   "60 1 0 create-end task=3\n"
				   "60 1 0 wait-begin kind=taskwait src=4\n"
				   "70 1 0 task-begin task=1\n"
				   "120 1 0 task-end task=1\n"
				   "140 1 0 task-begin task=2\n"
				   "150 1 0 task-end task=2\n"
				   "160 1 0 wait-end kind=taskwait\n"
				   "160 1 0 wait-begin kind=barrier-implicit src=7\n"
				   "200 1 0 wait-end kind=barrier-implicit\n"
				   "200 2 1 wait-end kind=barrier-implicit\n"
				   "200 2 1 member-end region=1 num=1\n"
				   "200 1 0 member-end region=1 num=0\n"
				   "210 1 0 region-end region=1\n");
	struct grain_scheduling_point p;

	if (!g)
		return;
	check_sound(g, "dependences");
	/* Task 1 could be begun from 10 to 70, task 2 from 120 to 140; task 3 by no other thread. */
	POINT(g, "barrier-implicit", 70, 0, 2, 240, 0, 80, 160);
	POINT(g, "taskwait", 40, 0, 1, 100, 60, 30, 10);
	POINT(g, "create", 20, 0, 2, 20, 0, 20, 0);
	POINT(g, "create", 30, 0, 1, 30, 30, 0, 0);
	p = point_at(g, "create", 30, 0);
	check_stub(g, &p, 30, 1, 30, 30, 30);
	grain_graph__free(g);
}

/* What a thread could begin: in a taskwait children, at a taskgroup's end its tasks, in a barrier all. */
static void test_awaited(void)
{
	struct grain_graph *g =
		graph_of_text("awaited",
			      HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
				   "0 1 0 member-begin region=1 num=0\n0 2 1 member-begin region=1 num=1\n"
				   "0 2 1 wait-begin kind=barrier src=7\n"
				   "10 1 0 create-begin task=1 src=2 flags=deferred\n"
				   "10 1 0 create-end task=1\n"
				   "10 1 0 group-begin\n"
				   "20 1 0 create-begin task=2 src=2 flags=deferred\n"
				   "20 1 0 create-end task=2\n"
				   "30 1 0 wait-begin kind=taskgroup src=4\n"
				   "40 2 1 task-begin task=2\n"
				   "60 2 1 create-begin task=3 src=3 flags=deferred\n"
				   "60 2 1 create-end task=3\n"
				   "70 1 0 task-begin task=3\n"
				   "70 2 1 wait-begin kind=taskwait src=5\n"
				   "80 1 0 create-begin task=4 src=3 flags=deferred\n"
				   "80 1 0 create-end task=4\n"
				   "100 1 0 task-end task=3\n"
				   "110 2 1 task-begin task=4\n"
				   "120 2 1 task-end task=4\n"
				   "130 2 1 wait-end kind=taskwait\n"
				   "130 2 1 task-end task=2\n"
				   "140 1 0 wait-end kind=taskgroup\n"
				   "150 1 0 wait-begin kind=taskwait src=6\n"
				   "170 1 0 task-begin task=1\n"
				   "180 1 0 task-end task=1\n"
				   "190 1 0 wait-end kind=taskwait\n"
				   "190 1 0 wait-begin kind=barrier src=7\n"
				   "200 1 0 wait-end kind=barrier\n200 2 1 wait-end kind=barrier\n"
				   "200 2 1 member-end region=1 num=1\n"
				   "200 1 0 member-end region=1 num=0\n"
				   "210 1 0 region-end region=1\n");

	if (!g)
		return;
	check_sound(g, "awaited");
	/* From 30 to 70 and from 100 to 140: task 2 until 40, task 3 from 60, task 4 until 110; 1 is not in
	 * it. */
	POINT(g, "taskgroup", 40, 0, 1, 110, 30, 30, 50);
	/* From 70 to 110 and 120 to 130: its only child has begun; task 4 is a grandchild. */
	POINT(g, "taskwait", 50, 20, 1, 60, 10, 0, 50);
	POINT(g, "taskwait", 60, 0, 1, 40, 10, 20, 10);
	/* From 0 to 40 and 130 to 200; 190 to 200: task 1 from 10 to 170. */
	POINT(g, "barrier", 70, 0, 2, 210, 90, 70, 50);
	grain_graph__free(g);
}

/* Of an incomplete child no sum is made, and none of its parent that needs it. */
static void test_incomplete(void)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_load_opts opts = {.keep_going = true};
	struct grain_graph *g = NULL;
	struct grain_task_construct c;
	struct grain_barriers b;
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs(HEAD REGION
	      "10 1 0 create-begin task=1 src=2 flags=deferred\n20 1 0 create-end task=1\n"
	      "20 1 0 wait-begin kind=barrier src=7\n30 1 0 task-begin task=1\n"
	      "40 1 0 create-begin task=2 src=2 flags=deferred\n50 1 0 create-end task=2\n"
	      "60 1 0 task-end task=1\n70 1 0 task-begin task=2\n80 1 0 lost count=3 cause=ring-full\n",
	      f);
	fclose(f);
	CHECK(grain_graph__load(path, &opts, &g, NULL) == 0, "incomplete: loads");
	unlink(path);
	if (!g)
		return;
	c = construct_at(g, 20);
	CHECK(c.instances == 2 && c.complete == 1 && c.exclusive.sum == 20 && c.create.sum == 10,
	      "incomplete: one of two tasks counts");
	CHECK(c.inclusive.sum == 0, "incomplete: no inclusive time without the child's");
	CHECK(!grain_graph__region_barriers(g, 0, &b), "incomplete: no split of the region's barriers");
	grain_graph__free(g);
}

/* Where most times follow from durations, nobody knows when a task could be begun. */
static void test_derived(void)
{
	char text[sizeof two_instances + 64];
	struct grain_graph *g;
	struct grain_barriers b;
	json_t *root, *row;

	snprintf(text, sizeof text, "grain-log 1\n@capture times=derived\n%s",
		 strchr(two_instances, '\n') + 1);
	g = graph_of_text("derived", text);
	if (!g)
		return;
	root = summary_of(g);
	row = json_array_get(json_object_get(root, "definitions"), 0);
	check_json(row, "taskwait_ns", "{\"sum\":30,\"mean\":15,\"min\":0,\"max\":30,\"stddev\":15}",
		   "derived");
	check_json(row, "management_ns", "null", "derived");
	check_json(row, "switches", "null", "derived");
	check_json(row, "max_concurrent", "null", "derived");
	check_json(root, "scheduling_points", "null", "derived");
	check_json(json_array_get(json_object_get(root, "regions"), 0), "barriers", "null", "derived");
	CHECK(grain_graph__scheduling_point_count(g) == 0 && !grain_graph__region_barriers(g, 0, &b) &&
		      !construct_at(g, 20).scheduled,
	      "derived: what depends on the order is absent");
	json_decref(root);
	grain_graph__free(g);
}

int main(void)
{
	test_nested_calls();
	test_executing_node();
	test_suspended();
	test_two_instances();
	test_json();
	test_barrier_of_two();
	test_dependences();
	test_awaited();
	test_incomplete();
	test_derived();
	CHECK_DONE();
}
