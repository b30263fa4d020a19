/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of small programs, by hand: who is in them, what they say, what is left of them when filtered. */
#include "tests/unit/groups_text.h"

#define LOOP_HEAD GRAPH_HEAD "@source 4 file=a.c line=40 func=main kind=loop\n"

static void check_group(const struct grain_graph *g, const struct grain_groups *groups, const char *name,
			uint32_t members, uint64_t strength, uint64_t grains, uint64_t exec, uint64_t create)
{
	struct grain_group it = group_at(g, groups, name);

	CHECK(it.members == members && it.strength == strength && it.grains == grains && it.exec_ns == exec &&
		      it.create_ns == create,
	      "%s: strength (%u, %llu), %llu grains, exec %llu, create %llu", name, members,
	      (unsigned long long)strength, (unsigned long long)grains, (unsigned long long)exec,
	      (unsigned long long)create);
	if (it.strength != strength || it.exec_ns != exec || it.create_ns != create)
		printf("# got (%u, %llu), %llu grains, exec %llu, create %llu\n", it.members,
		       (unsigned long long)it.strength, (unsigned long long)it.grains,
		       (unsigned long long)it.exec_ns, (unsigned long long)it.create_ns);
}

static void check_problem(const struct grain_graph *g, const struct grain_groups *groups, const char *name,
			  enum grain_problem problem, double value, uint64_t flagged, const char *worst)
{
	struct grain_group it = group_at(g, groups, name);
	const double values[] = {it.parallel_benefit, it.load_balance,
				 it.work_deviation,   it.instantaneous_parallelism,
				 it.scatter,	      it.memory_hierarchy_utilization,
				 it.cache_miss_ratio};
	char id[64] = "none";

	check_near(values[problem], value, name);
	if (it.worst[problem] != GRAIN_NONE)
		grain_graph__context_id(g, it.worst[problem], id, sizeof id);
	CHECK_STR(id, worst, "%s: problem %d: the worst", name, problem);
	CHECK(it.problem_grains[problem] == flagged && (it.problems >> problem & 1) == (flagged > 0),
	      "%s: problem %d: %llu grains", name, problem, (unsigned long long)flagged);
}

/* MCC16 figures 1b to 1d: a task with two children, made in a single of two threads. */
static void test_fib(void)
{
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	struct grain_groups *groups;
	struct grain_group it;

	CHECK(grain_graph__load("tests/data/fib_two_threads.log", NULL, &g, &err) == 0, "fib: loads");
	groups = groups_of(g, "fib");
	if (!groups)
		return;
	check_tree(g, groups, "fib",
		   "(f 0 (r (f 0.p0.0 (s (f 0.p0.s0.0 (s 0.p0.s0.0.0 0.p0.s0.0.1)))) 0.p0.1))");
	check_group(g, groups, "siblings 0.p0.s0.0 0.p0.s0.0/j0", 2, 2, 2, 300, 70);
	check_group(g, groups, "family 0.p0.s0.0", 2, 4, 3, 370, 120);
	check_group(g, groups, "siblings 0.p0.0 0.p0/b0", 1, 5, 3, 370, 120);
	check_group(g, groups, "family 0.p0.0", 2, 7, 3, 500, 120);
	check_group(g, groups, "region 0.p0", 2, 9, 3, 510, 120);
	check_group(g, groups, "family 0", 2, 11, 3, 510, 120);
	CHECK(groups_wrong(g, groups) == 0, "fib: sums are kept");
	/* 100 / 85 and 200 / 75; the parent 70 / 80. */
	check_problem(g, groups, "siblings 0.p0.s0.0 0.p0.s0.0/j0", GRAIN_PROBLEM_PARALLEL_BENEFIT,
		      100.0 / 85, 0, "0.p0.s0.0.0");
	check_problem(g, groups, "family 0.p0.s0.0", GRAIN_PROBLEM_PARALLEL_BENEFIT, 70.0 / 80, 1,
		      "0.p0.s0.0");
	check_problem(g, groups, "family 0", GRAIN_PROBLEM_PARALLEL_BENEFIT, 70.0 / 80, 1, "0.p0.s0.0");
	check_problem(g, groups, "family 0", GRAIN_PROBLEM_LOAD_BALANCE, 200.0 / 150, 2, "0.p0.s0.0.0");
	/* One of the children runs alone for a while, their parent does at first. */
	check_problem(g, groups, "siblings 0.p0.s0.0 0.p0.s0.0/j0", GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
		      1, 1, "0.p0.s0.0.1");
	check_problem(g, groups, "region 0.p0", GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, 1, 2, "0.p0.s0.0");
	check_problem(g, groups, "family 0", GRAIN_PROBLEM_SCATTER, NAN, 0, "none");
	check_problem(g, groups, "family 0", GRAIN_PROBLEM_WORK_DEVIATION, NAN, 0, "none");
	it = group_at(g, groups, "siblings 0.p0.s0.0 0.p0.s0.0/j0");
	CHECK(it.start_ns == 1380 && it.end_ns == 1580 && it.critical,
	      "fib: from the first's begin to the last's end");
	it = group_at(g, groups, "family 0");
	CHECK(it.definition == context_at(g, "0.p0.s0.0").definition,
	      "fib: the task's 370 are more than the region's 140");
	CHECK(grain_groups__root(groups) == group_named(g, groups, "family 0"),
	      "fib: the initial task's family is the root");
	check_path(g, groups, "siblings 0.p0.s0.0 0.p0.s0.0/j0", 200, "01");
	/* 20 + 10, then 200 while 30 go by, then 10. */
	check_path(g, groups, "family 0.p0.s0.0", 240, "11");
	check_path(g, groups, "family 0.p0.0", 360, "11");
	check_path(g, groups, "region 0.p0", 360, "10");
	/* The initial task has no time, but the path begins in it. */
	check_path(g, groups, "family 0", 360, "11");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/*
 * What each parent's joins make of its children: two taskwaits, one barrier,
 * and nothing; grandchildren that an ancestor's taskgroup joins.
 */
static void test_joins(void)
{
	struct grain_graph *g =
		graph_of_text("joins", GRAPH_HEAD
			      "0 1 0 create-begin task=1 src=2 flags=undeferred\n0 1 0 task-begin task=1\n"
			      "5 1 0 task-end task=1\n5 1 0 create-end task=1\n"
			      "6 1 0 wait-begin kind=taskwait\n6 1 0 wait-end kind=taskwait\n"
			      "6 1 0 group-begin\n"
			      "6 1 0 create-begin task=2 src=2 flags=undeferred\n6 1 0 task-begin task=2\n"
			      "7 1 0 create-begin task=3 src=3 flags=undeferred\n7 1 0 task-begin task=3\n"
			      "17 1 0 task-end task=3\n17 1 0 create-end task=3\n"
			      "18 1 0 create-begin task=4 src=3 flags=undeferred\n18 1 0 task-begin task=4\n"
			      "38 1 0 task-end task=4\n38 1 0 create-end task=4\n"
			      "40 1 0 task-end task=2\n40 1 0 create-end task=2\n"
			      "41 1 0 create-begin task=5 src=2 flags=undeferred\n41 1 0 task-begin task=5\n"
			      "44 1 0 task-end task=5\n44 1 0 create-end task=5\n"
			      "44 1 0 wait-begin kind=taskgroup\n44 1 0 wait-end kind=taskgroup\n"
			      "45 1 0 create-begin task=6 src=2 flags=undeferred\n45 1 0 task-begin task=6\n"
			      "47 1 0 task-end task=6\n47 1 0 create-end task=6\n48 1 0 thread-end\n");
	struct grain_groups *groups = groups_of(g, "joins");

	if (!groups)
		return;
	check_tree(g, groups, "joins", "(f 0 (s 0.0) (s (f 0.1 (s 0.1.0 0.1.1)) 0.2) (s 0.3))");
	check_joined(g, "0.3", "0", NULL);
	check_group(g, groups, "siblings 0.1 0/j1", 2, 2, 2, 30, 0);
	check_group(g, groups, "siblings 0 0/j1", 2, 6, 4, 37, 0);
	check_group(g, groups, "siblings 0", 1, 1, 1, 2, 0);
	/* 1 before, 1 between, 2 after the children of 10 and 20. */
	check_path(g, groups, "siblings 0.1 0/j1", 20, "01");
	check_path(g, groups, "family 0.1", 22, "11");
	check_path(g, groups, "siblings 0 0/j1", 22, "10");
	/* The first's 5 are more than the 1 to its join, the last's 2 more than the 1 after it. */
	check_path(g, groups, "family 0", 5 + 22 + 1 + 2, "1111");
	CHECK(groups_wrong(g, groups) == 0, "joins: sums are kept");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/* A task that reads what the first writes, and one that does not: 10 then 15, or 20. */
static void test_dependences(void)
{
	struct grain_graph *g = graph_of_text(
		"dependences", GRAPH_HEAD
		"0 1 0 create-begin task=1 src=2 flags=deferred\n0 1 0 depend task=1 addr=1 kind=out\n"
		"1 1 0 create-end task=1\n"
		"1 1 0 create-begin task=2 src=2 flags=deferred\n1 1 0 depend task=2 addr=1 kind=in\n"
		"2 1 0 create-end task=2\n"
		"2 1 0 create-begin task=3 src=2 flags=deferred\n3 1 0 create-end task=3\n"
		"3 1 0 wait-begin kind=taskwait\n"
		"3 1 0 task-begin task=1\n13 1 0 task-end task=1\n"
		"13 1 0 task-begin task=2\n28 1 0 task-end task=2\n"
		"28 1 0 task-begin task=3\n48 1 0 task-end task=3\n"
		"48 1 0 wait-end kind=taskwait\n50 1 0 thread-end\n");
	struct grain_groups *groups = groups_of(g, "dependences");

	if (!groups)
		return;
	check_path(g, groups, "siblings 0 0/j0", 25, "110");
	check_path(g, groups, "family 0", 27, "11");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/*
 * A loop of four chunks on two threads, which the second enters first and in
 * which a task is made; then a region inside the region. Members are in the
 * program's order, not in that of execution.
 */
static void test_regions(void)
{
	struct grain_graph *g = graph_of_text(
		"regions", LOOP_HEAD
		"0 1 0 region-begin region=1 src=1 threads=2\n"
		"10 2 1 member-begin region=1 num=1\n10 1 0 member-begin region=1 num=0\n"
		"20 2 1 loop-begin loop=7 src=4\n"
		"20 1 0 loop-begin loop=7 src=4 sched=dynamic lower=0 upper=15 step=1 chunk=4\n"
		"22 2 1 chunk-begin loop=7 lower=4 upper=7\n22 1 0 chunk-begin loop=7 lower=0 upper=3\n"
		"24 2 1 create-begin task=1 src=2 flags=undeferred\n24 2 1 task-begin task=1\n"
		"40 2 1 task-end task=1\n40 2 1 create-end task=1\n"
		"42 2 1 chunk-end loop=7\n45 2 1 chunk-begin loop=7 lower=8 upper=11\n"
		"52 1 0 chunk-end loop=7\n55 1 0 chunk-begin loop=7 lower=12 upper=15\n"
		"65 1 0 chunk-end loop=7\n65 2 1 chunk-end loop=7\n"
		"66 1 0 loop-end loop=7\n66 1 0 wait-begin kind=barrier-implicit\n"
		"68 2 1 loop-end loop=7\n68 2 1 wait-begin kind=barrier-implicit\n"
		"70 1 0 wait-end kind=barrier-implicit\n70 2 1 wait-end kind=barrier-implicit\n"
		"72 2 1 region-begin region=2 src=1 threads=1\n72 2 1 member-begin region=2 num=0\n"
		"79 2 1 member-end region=2 num=0\n79 2 1 region-end region=2\n"
		"80 1 0 wait-begin kind=barrier-implicit\n80 2 1 wait-begin kind=barrier-implicit\n"
		"80 1 0 wait-end kind=barrier-implicit\n80 2 1 wait-end kind=barrier-implicit\n"
		"80 1 0 member-end region=1 num=0\n80 2 1 member-end region=1 num=1\n"
		"80 1 0 region-end region=1\n");
	struct grain_groups *groups = groups_of(g, "regions");
	struct grain_group it;

	if (!groups)
		return;
	check_tree(g, groups, "regions",
		   "(f 0 (r 0.p0.0 (f 0.p0.1 (r 0.p0.1.p0.0)) (s 0.p0/l0[0,3] (f 0.p0/l0[4,7] (s "
		   "0.p0/l0[4,7].0)) "
		   "0.p0/l0[8,11] 0.p0/l0[12,15])))");
	/* Chunks of 30 and 10, of 4 with the task's 16, and of 20. */
	check_group(g, groups, "siblings 0.p0/l0", 4, 4 + 2 + 1, 5, 30 + 10 + 4 + 16 + 20, 0);
	it = group_at(g, groups, "siblings 0.p0/l0");
	CHECK(it.context == context_named(g, "0") && it.join == context_at(g, "0.p0/l0[0,3]").join &&
		      it.join != GRAIN_NONE && it.region == GRAIN_NONE,
	      "regions: the loop's context is that of the region, its join the loop's");
	it = group_at(g, groups, "region 0.p0.1.p0");
	CHECK(it.context == context_named(g, "0.p0.1") && it.region == 1, "regions: the inner one's context");
	/* The chunks of a thread one after the other: 30 + 10 against 4 + 20. */
	check_path(g, groups, "siblings 0.p0/l0", 40, "1001");
	check_path(g, groups, "family 0.p0/l0[4,7]", 2 + 16, "11");
	/* 10, the loop, 10 with 2 and 1 around the inner region in it. */
	check_path(g, groups, "family 0", 10 + 40 + 2 + 7 + 1, "11");
	CHECK(groups_wrong(g, groups) == 0, "regions: sums are kept");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/* Loops outside of regions, counting down, and one of unsigned bounds; a task after them. */
static void test_loop_order(void)
{
	struct grain_graph *g = graph_of_text(
		"order", LOOP_HEAD
		"0 1 0 loop-begin loop=1 src=4 lower=9 upper=0 step=-1 chunk=5\n"
		"1 1 0 chunk-begin loop=1 lower=4 upper=0\n2 1 0 chunk-end loop=1\n"
		"3 1 0 chunk-begin loop=1 lower=9 upper=5\n4 1 0 chunk-end loop=1\n5 1 0 loop-end loop=1\n"
		"5 1 0 loop-begin loop=2 src=4 unsigned=1 lower=0 upper=18446744073709551615\n"
		"6 1 0 chunk-begin loop=2 lower=9223372036854775808 upper=18446744073709551615\n"
		"7 1 0 chunk-end loop=2\n8 1 0 chunk-begin loop=2 lower=0 upper=7\n9 1 0 chunk-end loop=2\n"
		"9 1 0 loop-end loop=2\n10 1 0 create-begin task=1 src=2 flags=undeferred\n10 1 0 task-begin "
		"task=1\n11 1 0 task-end task=1\n11 1 0 create-end task=1\n12 1 0 thread-end\n");
	struct grain_groups *groups = groups_of(g, "order");

	if (!groups)
		return;
	check_tree(g, groups, "order",
		   "(f 0 (s 0/l0[9,5] 0/l0[4,0]) (s 0/l1[0,7] "
		   "0/l1[9223372036854775808,18446744073709551615]) (s 0.0))");
	CHECK(groups_wrong(g, groups) == 0, "order: sums are kept");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/* The runtime's own task is no member; what it makes is its parent's, in the order of the iterations. */
static void test_taskloop(void)
{
	struct grain_graph *g = graph_of_text(
		"taskloop", GRAPH_HEAD
		"3 1 0 group-begin\n"
		"10 1 0 create-begin task=20 src=3 flags=taskloop,split\n11 1 0 create-end task=20\n"
		"12 1 0 create-begin task=12 src=3 flags=taskloop\n"
		"12 1 0 task-bounds task=12 taskloop=5 lower=0 upper=1\n13 1 0 create-end task=12\n"
		"24 2 1 task-begin task=20\n"
		"25 2 1 create-begin task=10 src=3 flags=taskloop\n"
		"25 2 1 task-bounds task=10 taskloop=5 lower=6 upper=7\n26 2 1 create-end task=10\n"
		"27 2 1 create-begin task=11 src=3 flags=taskloop\n"
		"27 2 1 task-bounds task=11 taskloop=5 lower=4 upper=5\n28 2 1 create-end task=11\n"
		"29 2 1 task-end task=20\n20 1 0 wait-begin kind=taskgroup\n"
		"30 3 1 task-begin task=10\n33 3 1 task-end task=10\n34 3 1 task-begin task=11\n"
		"41 3 1 task-end task=11\n42 3 1 task-begin task=12\n45 3 1 task-end task=12\n"
		"46 1 0 wait-end kind=taskgroup\n46 1 0 thread-end\n");
	struct grain_groups *groups = groups_of(g, "taskloop");

	if (!groups)
		return;
	/* The other threads' initial tasks ran nothing but tasks. */
	check_tree(g, groups, "taskloop", "(f 0 (s 0.0 0.1 0.2))");
	check_group(g, groups, "siblings 0 0/j0", 3, 3, 3, 3 + 7 + 3, 1 + 1 + 1);
	/* The runtime's task: made in 1, ran for 3. */
	CHECK(group_at(g, groups, "family 0").exec_ns == grain_graph__totals(g)->work_ns,
	      "taskloop: the runtime's task is in the sum");
	CHECK(grain_groups__of_context(groups, context_named(g, "0.t0")) ==
		      group_named(g, groups, "family 0"),
	      "taskloop: it is of its parent's family");
	check_path(g, groups, "siblings 0 0/j0", 7, "010");
	CHECK(group_at(g, groups, "family 0").members == 2, "taskloop: it is no member");
	check_path(g, groups, "family 0", grain_graph__totals(g)->span_ns, "11");
	CHECK(groups_wrong(g, groups) == 0, "taskloop: counts are kept");
	grain_groups__free(groups);
	grain_graph__free(g);
}

/* What has no parent is in the root: two threads' initial tasks, a task that was running before. */
static void test_orphans(void)
{
	struct grain_graph *g =
		graph_of_text("orphans",
			      GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=1\n"
					 "1 1 0 member-begin region=1 num=0\n"
					 "9 1 0 member-end region=1 num=0\n10 1 0 region-end region=1\n"
					 "20 2 0 region-begin region=2 src=1 threads=1\n"
					 "21 2 0 member-begin region=2 num=0\n"
					 "22 2 0 create-begin task=7 src=2 flags=deferred\n"
					 "23 2 0 create-end task=7\n"
					 "29 2 0 member-end region=2 num=0\n30 2 0 region-end region=2\n");
	struct grain_groups *groups = groups_of(g, "orphans");
	struct grain_group it;

	if (!groups)
		return;
	check_tree(g, groups, "orphans", "(p (f 0 (r 0.p0.0)) (f 1 (r (f 1.p0.0 (s 1.p0.0.0)))))");
	it = group_at(g, groups, "program");
	CHECK(it.grains == 1 && it.context == GRAIN_NONE && it.exec_ns == grain_graph__totals(g)->work_ns,
	      "orphans: the root holds them all");
	/* It never began: a member of its group, nothing more. */
	it = group_at(g, groups, "siblings 1.p0.0 1.p0/b0");
	CHECK(it.members == 1 && it.grains == 1 && it.start_ns == 0 && it.end_ns == 0 && it.problems == 0 &&
		      isnan(it.parallel_benefit) && isnan(it.instantaneous_parallelism),
	      "orphans: an incomplete grain has no part in metrics");
	check_path(g, groups, "siblings 1.p0.0 1.p0/b0", 0, "0");
	CHECK(groups_wrong(g, groups) == 0, "orphans: sums are kept");
	grain_groups__free(groups);
	grain_graph__free(g);

	g = graph_of_text(
		"alone", GRAPH_HEAD
		"5 1 0 wait-begin kind=taskyield\n7 1 0 wait-end kind=taskyield\n12 1 0 thread-end\n");
	groups = groups_of(g, "alone");
	if (groups) {
		check_tree(g, groups, "alone", "(p 0)");
		check_path(g, groups, "program", 5, "1");
	}
	grain_groups__free(groups);
	grain_graph__free(g);

	g = graph_of_text("nothing", GRAPH_HEAD "0 1 0 thread-begin\n5 1 0 thread-end\n");
	groups = groups_of(g, "nothing");
	if (groups) {
		check_tree(g, groups, "nothing", "(p)");
		check_path(g, groups, "program", 0, "");
		CHECK(groups_wrong(g, groups) == 0, "nothing: no sums");
	}
	grain_groups__free(groups);
	grain_graph__free(g);
	grain_groups__free(NULL);
}

/* A task that was cancelled before it began is a member and a grain, with nothing to measure. */
static void test_discarded(void)
{
	struct grain_graph *g =
		graph_of_text("discarded",
			      GRAPH_HEAD "0 1 0 thread-begin\n2 1 0 group-begin\n"
					 "5 1 0 create-begin task=2 src=2 flags=deferred\n"
					 "6 1 0 create-end task=2\n"
					 "6 1 0 create-begin task=1 src=2 flags=deferred\n"
					 "8 1 0 create-end task=1\n8 1 0 wait-begin kind=taskgroup\n"
					 "9 1 0 task-begin task=1\n12 1 0 cancel kind=taskgroup point=0\n"
					 "13 1 0 task-end task=1\n14 1 0 task-discard task=2\n"
					 "21 1 0 wait-end kind=taskgroup\n23 1 0 thread-end\n");
	struct grain_groups *groups = groups_of(g, "discarded");

	if (!groups)
		return;
	check_group(g, groups, "siblings 0 0/j0", 2, 2, 2, 4, 1 + 2);
	check_problem(g, groups, "siblings 0 0/j0", GRAIN_PROBLEM_PARALLEL_BENEFIT, 4.0 / (2 + 9), 1, "0.1");
	check_path(g, groups, "siblings 0 0/j0", 4, "01");
	CHECK(group_at(g, groups, "siblings 0 0/j0").start_ns == 9, "discarded: it has no begin");
	CHECK(groups_wrong(g, groups) == 0, "discarded: sums are kept");
	grain_groups__free(groups);
	grain_graph__free(g);
}

static void check_filtered(const struct grain_groups *groups, uint32_t group, enum grain_problem problem,
			   const char *expected)
{
	struct grain_filtered out[16];
	size_t n = grain_groups__filter(groups, group, problem, out, 16);
	char text[256] = "";

	for (size_t i = 0; i < n && i < 16; i++) {
		size_t at = strlen(text);

		if (out[i].fast_forward)
			snprintf(text + at, sizeof text - at, "%u+%u:%llu,%llu ", out[i].first_skipped,
				 out[i].skipped, (unsigned long long)out[i].skipped_grains,
				 (unsigned long long)out[i].skipped_exec_ns);
		else
			snprintf(text + at, sizeof text - at, "%c%u ", out[i].member.is_group ? 'g' : 'c',
				 out[i].member.index);
	}
	CHECK_STR(text, expected, "filtered for problem %d", problem);
}

/*
 * Six tasks one after the other, with 10 to create each: the third, the fourth
 * and the child of the fifth are not worth it.
 */
static void test_filter(void)
{
	static const int lengths[] = {50, 40, 5, 3, 30, 20};
	char text[4096] = GRAPH_HEAD, expected[128];
	struct grain_groups *groups;
	struct grain_graph *g;
	uint32_t siblings, path[8];
	int now = 0;

	for (int i = 0; i < 6; i++) {
		sprintf(text + strlen(text), "%d 1 0 create-begin task=%d src=2 flags=undeferred\n", now, i);
		sprintf(text + strlen(text), "%d 1 0 task-begin task=%d\n", now += 10, i);
		if (i == 4)
			sprintf(text + strlen(text),
				"%d 1 0 create-begin task=9 src=3 flags=undeferred\n%d 1 0 task-begin "
				"task=9\n"
				"%d 1 0 task-end task=9\n%d 1 0 create-end task=9\n"
				"%d 1 0 wait-begin kind=taskwait\n%d 1 0 wait-end kind=taskwait\n",
				now, now + 4, now + 6, now + 6, now + 6, now + 6),
				now += 6;
		sprintf(text + strlen(text), "%d 1 0 task-end task=%d\n", now += lengths[i], i);
		sprintf(text + strlen(text), "%d 1 0 create-end task=%d\n", now, i);
	}
	sprintf(text + strlen(text), "%d 1 0 wait-begin kind=taskwait\n%d 1 0 wait-end kind=taskwait\n", now,
		now);
	g = graph_of_text("filter", text);
	groups = groups_of(g, "filter");
	if (!groups)
		return;
	siblings = group_named(g, groups, "siblings 0 0/j0");
	snprintf(expected, sizeof expected, "0+2:2,90 c%u c%u g%u 5+1:1,20 ", context_named(g, "0.2"),
		 context_named(g, "0.3"), group_named(g, groups, "family 0.4"));
	check_filtered(groups, siblings, GRAIN_PROBLEM_PARALLEL_BENEFIT, expected);
	check_filtered(groups, siblings, GRAIN_PROBLEM_WORK_DEVIATION, "0+6:7,150 ");
	/* The first is the longest of all: every one of them has the imbalance. */
	CHECK(grain_groups__filter(groups, siblings, GRAIN_PROBLEM_LOAD_BALANCE, NULL, 0) == 6,
	      "filtered: nothing is written without room");
	CHECK(grain_groups__path(groups, siblings, path, 8) == 2 && path[0] == grain_groups__root(groups) &&
		      path[1] == siblings,
	      "the way from the root to a group");
	path[2] = GRAIN_NONE;
	CHECK(grain_groups__path(groups, group_named(g, groups, "siblings 0.4 0.4/j0"), path, 2) == 4 &&
		      path[0] == grain_groups__root(groups) && path[1] == siblings && path[2] == GRAIN_NONE,
	      "its first part where there is not more room");
	grain_groups__free(groups);
	grain_graph__free(g);
}

int main(void)
{
	test_fib();
	test_joins();
	test_dependences();
	test_regions();
	test_loop_order();
	test_taskloop();
	test_orphans();
	test_discarded();
	test_filter();
	CHECK_DONE();
}
