/* SPDX-License-Identifier: BSD-2-Clause */
/* Teams: barriers, several regions and singles, nesting, and what was not seen. */
#include "tests/unit/graph_text.h"

/* Member 1 is past the first barrier and creates task 2 before member 0 has left it. */
static void test_barriers(void)
{
	struct grain_graph *g =
		graph_of_text("barriers", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
						     "5 1 0 member-begin region=1 num=0\n"
						     "5 2 1 member-begin region=1 num=1\n"
						     "10 2 1 create-begin task=1 src=2 flags=deferred\n"
						     "20 2 1 create-end task=1\n"
						     "30 1 0 wait-begin kind=barrier\n"
						     "40 2 1 wait-begin kind=barrier\n"
						     "45 1 0 task-begin task=1\n"
						     "50 1 0 create-begin task=3 src=3 flags=deferred\n"
						     "55 1 0 create-end task=3\n"
						     "60 1 0 task-end task=1\n"
						     "60 2 1 task-begin task=3\n"
						     "80 2 1 task-end task=3\n"
						     "85 2 1 wait-end kind=barrier\n"
						     "90 2 1 create-begin task=2 src=2 flags=deferred\n"
						     "95 2 1 create-end task=2\n"
						     "96 1 0 wait-end kind=barrier\n"
						     "100 1 0 wait-begin kind=barrier-implicit\n"
						     "105 1 0 task-begin task=2\n"
						     "106 2 1 wait-begin kind=barrier-implicit\n"
						     "125 1 0 task-end task=2\n"
						     "130 1 0 wait-end kind=barrier-implicit\n"
						     "130 1 0 member-end region=1 num=0\n"
						     "131 2 1 wait-end kind=barrier-implicit\n"
						     "131 2 1 member-end region=1 num=1\n"
						     "140 1 0 region-end region=1\n");
	struct grain_region region;
	struct grain_join join;

	if (!g)
		return;
	check_joined(g, "0.p0.1.0", "0.p0.1", "0.p0/b0");
	check_joined(g, "0.p0.1.0.0", "0.p0.1.0", "0.p0/b0");
	check_joined(g, "0.p0.1.1", "0.p0.1", "0.p0/b1");
	check_times(g, "0.p0.0", 25 + 4, 0, 66 - 15 + 10);
	check_times(g, "0.p0.1", 5 + 20 + 5 + 11, 0, 45 - 20 + 25);
	/* s of task 1 is what its creating member waits in that barrier: 45 - 20. */
	check_near(context_at(g, "0.p0.1.0").parallel_benefit, 10.0 / (10 + 25), "benefit of task 1");
	check_near(context_at(g, "0.p0.1.0.0").parallel_benefit, 20.0 / 5, "benefit of task 3");
	check_near(context_at(g, "0.p0.1.1").parallel_benefit, 20.0 / (5 + 25), "benefit of task 2");
	grain_graph__region(g, 0, &region);
	grain_graph__join(g, region.end_join, &join);
	CHECK(join.kind == GRAIN_JOIN_REGION_END && join.ordinal == 1 && join.joined == 1 &&
		      join.start_ns == 100 && join.end_ns == 131,
	      "barriers: the second one ends the region");
	/* Member 0's 25 or 5 + task 1's 5 + 20, or 5 + 20; then member 1's 5 + 20 of task 2, or its 5 + 11.
	 */
	check_totals(g, "barriers", 29 + 41 + 10 + 20 + 20, 30 + 5 + 20);
	grain_graph__free(g);
}

/* The same program; which member wins a single depends on `winner`. */
static struct grain_graph *two_singles(const char *name, int winner)
{
	char text[8192];
	int w = winner + 1, o = 2 - winner;

	snprintf(text, sizeof text,
		 GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
			    "5 1 0 member-begin region=1 num=0\n"
			    "5 2 1 member-begin region=1 num=1\n"
			    "10 %d 0 single-begin src=1 won=1\n"
			    "11 %d 0 single-begin src=1 won=0\n"
			    "11 %d 0 single-end src=1 won=0\n"
			    "20 %d 0 create-begin task=1 src=2 flags=deferred\n"
			    "25 %d 0 create-end task=1\n"
			    "30 %d 0 wait-begin kind=taskwait\n"
			    "31 %d 0 task-begin task=1\n"
			    "41 %d 0 task-end task=1\n"
			    "45 %d 0 wait-end kind=taskwait\n"
			    "46 %d 0 region-begin region=2 src=1 threads=1\n"
			    "47 %d 0 member-begin region=2 num=0\n"
			    "48 %d 0 member-end region=2 num=0\n"
			    "49 %d 0 region-end region=2\n"
			    "50 %d 0 single-end src=1 won=1\n"
			    "60 %d 0 single-begin src=1 won=1\n"
			    "61 %d 0 single-begin src=1 won=0\n"
			    "61 %d 0 single-end src=1 won=0\n"
			    "70 %d 0 create-begin task=2 src=2 flags=deferred\n"
			    "75 %d 0 create-end task=2\n"
			    "76 %d 0 single-end src=1 won=1\n"
			    "77 2 1 create-begin task=3 src=3 flags=undeferred\n"
			    "77 2 1 task-begin task=3\n"
			    "79 2 1 task-end task=3\n"
			    "79 2 1 create-end task=3\n"
			    "80 1 0 wait-begin kind=barrier-implicit\n"
			    "80 2 1 wait-begin kind=barrier-implicit\n"
			    "81 2 1 task-begin task=2\n"
			    "91 2 1 task-end task=2\n"
			    "95 1 0 wait-end kind=barrier-implicit\n"
			    "95 1 0 member-end region=1 num=0\n"
			    "95 2 1 wait-end kind=barrier-implicit\n"
			    "95 2 1 member-end region=1 num=1\n"
			    "99 1 0 region-end region=1\n"
			    "110 1 0 region-begin region=3 src=1 threads=1\n"
			    "111 1 0 member-begin region=3 num=0\n"
			    "112 1 0 member-end region=3 num=0\n"
			    "115 1 0 region-end region=3\n",
		 w, o, o, w, w, w, w, w, w, w, w, w, w, w, o, w, w, o, o, o);
	return graph_of_text(name, text);
}

static void test_singles(void)
{
	static const char *const ids[] = {"0",	       "0.p0.0",   "0.p0.1", "0.p0.s0.0", "0.p0.s0.p0.0",
					  "0.p0.s1.0", "0.p0.1.0", "0.p1.0"};

	for (int winner = 0; winner < 2; winner++) {
		struct grain_graph *g = two_singles(winner ? "singles won by 1" : "singles won by 0", winner);

		if (!g)
			return;
		CHECK(grain_graph__context_count(g) == 8, "singles: eight contexts");
		for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
			context_at(g, ids[i]);
		check_joined(g, "0.p0.s0.0", winner ? "0.p0.1" : "0.p0.0",
			     winner ? "0.p0.1/j0" : "0.p0.0/j0");
		check_joined(g, "0.p0.s1.0", winner ? "0.p0.0" : "0.p0.1", "0.p0/b0");
		check_sound(g, "singles");
		grain_graph__free(g);
	}
}

static void test_nested(void)
{
	struct grain_graph *g =
		graph_of_text("nested", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=1\n"
						   "10 1 0 member-begin region=1 num=0\n"
						   "20 1 0 create-begin task=1 src=2 flags=deferred\n"
						   "25 1 0 create-end task=1\n"
						   "30 1 0 wait-begin kind=barrier-implicit\n"
						   "40 1 0 task-begin task=1\n"
						   "50 1 0 region-begin region=2 src=1 threads=2\n"
						   "60 1 0 member-begin region=2 num=0\n"
						   "60 2 1 member-begin region=2 num=1\n"
						   "70 2 1 create-begin task=2 src=3 flags=deferred\n"
						   "75 2 1 create-end task=2\n"
						   "80 1 0 wait-begin kind=barrier-implicit\n"
						   "80 2 1 wait-begin kind=barrier-implicit\n"
						   "90 1 0 task-begin task=2\n"
						   "110 1 0 task-end task=2\n"
						   "120 1 0 wait-end kind=barrier-implicit\n"
						   "120 1 0 member-end region=2 num=0\n"
						   "130 1 0 region-end region=2\n"
						   "135 2 1 wait-end kind=barrier-implicit\n"
						   "135 2 1 member-end region=2 num=1\n"
						   "140 1 0 task-end task=1\n"
						   "150 1 0 wait-end kind=barrier-implicit\n"
						   "150 1 0 member-end region=1 num=0\n"
						   "160 1 0 region-end region=1\n");
	struct grain_region inner;

	if (!g)
		return;
	check_joined(g, "0.p0.0.0", "0.p0.0", "0.p0/b0");
	check_joined(g, "0.p0.0.0.p0.1", "0.p0.0.0", NULL);
	check_joined(g, "0.p0.0.0.p0.1.0", "0.p0.0.0.p0.1", "0.p0.0.0.p0/b0");
	check_times(g, "0.p0.0.0", 20, 5, 0);
	check_times(g, "0.p0.0.0.p0.1", 15, 0, 55);
	CHECK(context_at(g, "0.p0.0.0.p0.1.0").depth == 2, "nested: the outer task counts for its depth");
	grain_graph__region(g, 1, &inner);
	CHECK(inner.tasks == 1 && inner.threads == 2 && !inner.incomplete && inner.end_ns == 130,
	      "nested: the inner region");
	grain_graph__region(g, 0, &inner);
	CHECK(inner.tasks == 2, "nested: the outer region has the inner one's task too");
	/* 15 of member 0, 10 of the task, member 0's 20 or 10 + 20 of task 2, 10 of the task. */
	check_totals(g, "nested", 15 + 20 + 20 + 15 + 20, 10 + 10 + 10 + 20 + 10);
	grain_graph__free(g);
}

/* Observation began inside a region: what it made before is unknown, the next region is exact. */
static void test_late(void)
{
	struct grain_graph *g =
		graph_of_text("late",
			      "grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2\n"
			      "@source 2 file=a.c line=20 func=f kind=task\n"
			      "10 2 1 member-begin region=9 num=1\n"
			      "20 2 1 task-begin task=7\n"
			      "30 2 1 create-begin task=8 src=2 flags=deferred\n"
			      "35 2 1 create-end task=8\n"
			      "40 2 1 task-end task=7\n"
			      "41 2 1 task-begin task=8\n"
			      "61 2 1 task-end task=8\n"
			      "70 2 1 member-end region=9 num=1\n"
			      "100 1 0 region-begin region=1 threads=2\n"
			      "110 1 0 member-begin region=1 num=0\n"
			      "110 2 1 member-begin region=1 num=1\n"
			      "120 1 0 create-begin task=1 src=2 flags=deferred\n"
			      "125 1 0 create-end task=1\n"
			      "130 1 0 wait-begin kind=taskwait\n"
			      "135 1 0 task-begin task=1\n"
			      "145 1 0 task-end task=1\n"
			      "150 1 0 wait-end kind=taskwait\n"
			      "160 1 0 wait-begin kind=barrier-implicit\n"
			      "160 2 1 wait-begin kind=barrier-implicit\n"
			      "170 1 0 wait-end kind=barrier-implicit\n"
			      "170 1 0 member-end region=1 num=0\n"
			      "170 2 1 wait-end kind=barrier-implicit\n"
			      "170 2 1 member-end region=1 num=1\n"
			      "180 1 0 region-end region=1\n");
	struct grain_context c;
	struct grain_region region;

	if (!g)
		return;
	c = context_at(g, "?0");
	CHECK(c.kind == GRAIN_IMPLICIT && c.incomplete && c.parent == GRAIN_NONE, "late: the unseen member");
	c = context_at(g, "?1");
	CHECK(c.kind == GRAIN_TASK && c.incomplete && c.parent == GRAIN_NONE,
	      "late: a body without creation");
	check_near(c.parallel_benefit, NAN, "late: benefit of it");
	check_near(c.instantaneous_parallelism, NAN, "late: parallelism of it");
	check_joined(g, "?1.0", "?1", NULL);
	check_joined(g, "0.p0.0.0", "0.p0.0", "0.p0.0/j0");
	c = context_at(g, "0.p0.0.0");
	CHECK(!c.incomplete && c.exec_ns == 10, "late: the task of the next region is complete");
	grain_graph__region(g, 0, &region);
	CHECK(!region.incomplete, "late: the next region is complete");
	CHECK(grain_graph__truth(g)->incomplete_grains == 1, "late: one incomplete grain");
	check_sound(g, "late");
	grain_graph__free(g);
}

static void test_lost(void)
{
	struct grain_graph *g =
		graph_of_text("lost", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=1\n"
						 "10 1 0 member-begin region=1 num=0\n"
						 "20 1 0 create-begin task=1 src=2 flags=deferred\n"
						 "25 1 0 create-end task=1\n"
						 "26 1 0 create-begin task=2 src=2 flags=deferred\n"
						 "29 1 0 create-end task=2\n"
						 "30 1 0 wait-begin kind=barrier-implicit\n"
						 "40 1 0 task-begin task=1\n"
						 "50 1 0 lost count=3 cause=ring-full\n"
						 "60 1 0 task-end task=1\n"
						 "65 1 0 task-begin task=2\n"
						 "75 1 0 task-end task=2\n"
						 "80 1 0 wait-end kind=barrier-implicit\n"
						 "80 1 0 member-end region=1 num=0\n"
						 "90 1 0 region-end region=1\n"
						 "95 1 0 create-begin task=3 src=2 flags=deferred\n"
						 "96 1 0 create-end task=3\n");
	const struct grain_truth *t;
	struct grain_region region;
	struct grain_context c;

	if (!g)
		return;
	t = grain_graph__truth(g);
	CHECK(t->lost == 3 && t->incomplete_grains == 2 && t->incomplete_regions == 1 && t->never_begun == 1,
	      "lost: counted");
	CHECK(context_at(g, "0.p0.0.0").incomplete, "lost: the task that ran is incomplete");
	c = context_at(g, "0.p0.0.1");
	CHECK(!c.incomplete, "lost: the later task is complete");
	check_near(c.load_balance, NAN, "lost: balance of its siblings");
	c = context_at(g, "0.0");
	CHECK(c.incomplete && c.item_count == 0, "lost: a task that never began has no fragments");
	grain_graph__region(g, 0, &region);
	CHECK(region.incomplete, "lost: the region is incomplete");
	check_sound(g, "lost");
	grain_graph__free(g);
}

static void test_loop(void)
{
	struct grain_graph *g =
		graph_of_text("loop", GRAPH_HEAD
			      "@source 4 file=a.c line=40 func=main kind=loop\n"
			      "0 1 0 region-begin region=1 src=1 threads=2\n"
			      "10 1 0 member-begin region=1 num=0\n"
			      "10 2 1 member-begin region=1 num=1\n"
			      "20 1 0 loop-begin loop=1 src=4 sched=dynamic lower=0 upper=5 step=1 chunk=2\n"
			      "20 2 1 loop-begin loop=1 src=4 sched=dynamic lower=0 upper=5 step=1 chunk=2\n"
			      "25 1 0 chunk-begin loop=1 lower=0 upper=1\n"
			      "26 2 1 chunk-begin loop=1 lower=2 upper=3\n"
			      "45 1 0 chunk-end loop=1\n"
			      "48 1 0 chunk-begin loop=1 lower=4 upper=5\n"
			      "88 1 0 chunk-end loop=1\n"
			      "90 1 0 loop-end loop=1\n"
			      "90 1 0 wait-begin kind=barrier-implicit\n"
			      "66 2 1 chunk-end loop=1\n"
			      "70 2 1 loop-end loop=1\n"
			      "70 2 1 wait-begin kind=barrier-implicit\n"
			      "96 1 0 wait-end kind=barrier-implicit\n"
			      "98 2 1 wait-end kind=barrier-implicit\n"
			      "100 1 0 wait-begin kind=barrier-implicit\n"
			      "100 2 1 wait-begin kind=barrier-implicit\n"
			      "110 1 0 wait-end kind=barrier-implicit\n"
			      "110 2 1 wait-end kind=barrier-implicit\n"
			      "110 1 0 member-end region=1 num=0\n"
			      "110 2 1 member-end region=1 num=1\n"
			      "120 1 0 region-end region=1\n");
	struct grain_context c;
	struct grain_join join;

	if (!g)
		return;
	CHECK(grain_graph__totals(g)->chunks == 3, "loop: three chunks");
	check_joined(g, "0.p0/l0[0,1]", "0.p0.0", "0.p0/b0");
	check_joined(g, "0.p0/l0[2,3]", "0.p0.1", "0.p0/b0");
	c = context_at(g, "0.p0/l0[4,5]");
	CHECK(c.kind == GRAIN_CHUNK && c.exec_ns == 40, "loop: the longest chunk");
	grain_graph__join(g, c.join, &join);
	CHECK(join.kind == GRAIN_JOIN_LOOP && join.joined == 3, "loop: its join");
	/* Book-keeping 3, the member's wait of 6 shared by its two chunks. */
	check_near(c.parallel_benefit, 40.0 / (3 + 3), "loop: benefit of the second chunk");
	check_near(context_at(g, "0.p0/l0[2,3]").parallel_benefit, 40.0 / (6 + 28),
		   "loop: benefit of member 1's");
	check_near(c.load_balance, 40.0 / 50, "loop: longest chunk against the median chain");
	/* 10, member 0's chunks or member 1's, then 4 or 2. */
	check_totals(g, "loop", 10 + 4 + 10 + 2 + 20 + 40 + 40, 10 + 60 + 4);
	grain_graph__free(g);
}

/* A league whose two teams take turns on thread 1: logically parallel, one join ends both. */
static void test_teams_in_turn(void)
{
	struct grain_graph *g =
		graph_of_text("in turn", GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2 kind=teams\n"
						    "5 1 0 member-begin region=1 num=0\n"
						    "10 1 0 create-begin task=1 src=2 flags=undeferred\n"
						    "10 1 0 task-begin task=1\n"
						    "30 1 0 task-end task=1\n"
						    "30 1 0 create-end task=1\n"
						    "35 1 0 wait-begin kind=barrier-implicit\n"
						    "35 1 0 wait-end kind=barrier-implicit\n"
						    "35 1 0 member-end region=1 num=0\n"
						    "35 1 0 member-begin region=1 num=1\n"
						    "85 1 0 wait-begin kind=barrier-implicit\n"
						    "85 1 0 wait-end kind=barrier-implicit\n"
						    "85 1 0 member-end region=1 num=1\n"
						    "90 1 0 region-end region=1\n"
						    "100 1 0 sample ip=0x1\n");
	struct grain_region region;
	struct grain_join join;

	if (!g)
		return;
	CHECK(!context_at(g, "0").incomplete && !context_at(g, "0.p0.0").incomplete &&
		      !context_at(g, "0.p0.1").incomplete,
	      "in turn: nothing is incomplete");
	check_joined(g, "0.p0.0.0", "0.p0.0", "0.p0/b0");
	check_times(g, "0.p0.0", 10, 0, 0);
	check_times(g, "0.p0.1", 50, 0, 0);
	grain_graph__region(g, 0, &region);
	CHECK(region.threads == 2 && !region.incomplete, "in turn: two members");
	grain_graph__join(g, region.end_join, &join);
	CHECK(join.kind == GRAIN_JOIN_REGION_END && join.ordinal == 0 && join.start_ns == 35 &&
		      join.end_ns == 85,
	      "in turn: one join");
	check_totals(g, "in turn", 90, 10 + 50);
	grain_graph__free(g);
}

int main(void)
{
	test_barriers();
	test_singles();
	test_nested();
	test_late();
	test_lost();
	test_loop();
	test_teams_in_turn();
	CHECK_DONE();
}
