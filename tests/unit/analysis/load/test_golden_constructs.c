/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole graphs, every node and every edge, of small programs that have one
 * construct each, by hand. What the other graph tests check of the same
 * constructs in part is not repeated.
 */
#include "tests/unit/brute_force.h"
#include "tests/unit/graph_json.h"

#define HEAD                                                                                                 \
	GRAPH_HEAD "@source 4 file=a.c line=40 func=main kind=loop\n"                                        \
		   "@source 5 file=a.c line=50 func=main kind=sections\n"
#define ALONE "0 1 0 region-begin region=1 src=1 threads=1\n0 1 0 member-begin region=1 num=0\n"
#define PAIR                                                                                                 \
	"0 1 0 region-begin region=1 src=1 threads=2\n0 1 0 member-begin region=1 num=0\n"                   \
	"0 2 1 member-begin region=1 num=1\n"
#define TEAM_EDGES                                                                                           \
	"critical 0:f0 0", "0.p0:begin 0", "0.p0:end 0", "continuation 0:f0 > 0.p0:begin",                   \
		"creation 0.p0:begin > 0.p0.0:f0"

static void check_join(const struct grain_graph *g, const char *id, enum grain_join_kind kind,
		       uint32_t joined)
{
	char text[64];

	for (uint32_t i = 0; i < grain_graph__join_count(g); i++) {
		struct grain_join j;

		grain_graph__join_id(g, i, text, sizeof text);
		if (strcmp(text, id) != 0)
			continue;
		grain_graph__join(g, i, &j);
		CHECK(j.kind == kind && j.joined == joined, "%s joins %u", id, joined);
		return;
	}
	CHECK(0, "join %s exists", id);
}

static void finish(struct grain_graph *g, const char *name, uint64_t burdened)
{
	CHECK(grain_graph__totals(g)->burdened_span_ns == burdened, "%s: burdened span %llu", name,
	      (unsigned long long)burdened);
	CHECK(grain_graph__truth(g)->incomplete_grains == 0 && grain_graph__truth(g)->incomplete_regions == 0,
	      "%s: nothing is incomplete", name);
	check_round_trip(g, name);
	grain_graph__free(g);
}

/*
 * A taskwait takes direct children only, also those made in an open taskgroup;
 * the taskgroup's end what is left of it at any depth, the barrier the rest.
 * Undeferred and included tasks are children like others.
 */
static void test_waits(void)
{
	static const char *const nodes[] = {
		TEAM_EDGES,
		"critical 0.p0.0:f0 10",
		"0.p0.0:k1 2",
		"critical 0.p0.0:f2 3",
		"0.p0.0:k3 2",
		"critical 0.p0.0:f4 3",
		"critical 0.p0.0:k5 2",
		"0.p0.0:f6 2",
		"critical 0.p0.0/j0 0",
		"critical 0.p0.0:f8 2",
		"critical 0.p0.0:k9 1",
		"0.p0.0:f10 1",
		"critical 0.p0.0/j1 0",
		"critical 0.p0.0:f12 2",
		"critical 0.p0/b0 0",
		"0.p0.0.0:f0 4",
		"0.p0.0.0:k1 1",
		"0.p0.0.0:f2 2",
		"0.p0.0.0.0:f0 6",
		"0.p0.0.1:f0 5",
		"critical 0.p0.0.2:f0 4",
		"0.p0.0.2:k1 1",
		"critical 0.p0.0.2:f2 2",
		"0.p0.0.2.0:f0 5",
		"critical 0.p0.0.3:f0 5",
		"continuation 0.p0.0:f0 > 0.p0.0:k1",
		"continuation 0.p0.0:k1 > 0.p0.0:f2",
		"continuation 0.p0.0:f2 > 0.p0.0:k3",
		"continuation 0.p0.0:k3 > 0.p0.0:f4",
		"continuation 0.p0.0:f4 > 0.p0.0:k5",
		"continuation 0.p0.0:k5 > 0.p0.0:f6",
		"continuation 0.p0.0:f6 > 0.p0.0/j0",
		"continuation 0.p0.0/j0 > 0.p0.0:f8",
		"continuation 0.p0.0:f8 > 0.p0.0:k9",
		"continuation 0.p0.0:k9 > 0.p0.0:f10",
		"continuation 0.p0.0:f10 > 0.p0.0/j1",
		"continuation 0.p0.0/j1 > 0.p0.0:f12",
		"continuation 0.p0.0:f12 > 0.p0/b0",
		"continuation 0.p0.0.0:f0 > 0.p0.0.0:k1",
		"continuation 0.p0.0.0:k1 > 0.p0.0.0:f2",
		"continuation 0.p0.0.2:f0 > 0.p0.0.2:k1",
		"continuation 0.p0.0.2:k1 > 0.p0.0.2:f2",
		"creation 0.p0.0:k1 > 0.p0.0.0:f0",
		"creation 0.p0.0:k3 > 0.p0.0.1:f0",
		"creation 0.p0.0:k5 > 0.p0.0.2:f0",
		"creation 0.p0.0:k9 > 0.p0.0.3:f0",
		"creation 0.p0.0.0:k1 > 0.p0.0.0.0:f0",
		"creation 0.p0.0.2:k1 > 0.p0.0.2.0:f0",
		"synchronization 0.p0.0.0:f2 > 0.p0.0/j0",
		"synchronization 0.p0.0.1:f0 > 0.p0.0/j0",
		"synchronization 0.p0.0.2:f2 > 0.p0.0/j0",
		"synchronization 0.p0.0.2.0:f0 > 0.p0.0/j1",
		"synchronization 0.p0.0.3:f0 > 0.p0.0/j1",
		"synchronization 0.p0.0.0.0:f0 > 0.p0/b0",
		"synchronization 0.p0/b0 > 0.p0:end",
	};
	struct grain_graph *g = graph_of_text(
		"waits", HEAD ALONE
		"10 1 0 create-begin task=1 src=2 flags=deferred\n12 1 0 create-end task=1\n"
		"12 1 0 group-begin\n"
		"15 1 0 create-begin task=2 src=2 flags=deferred\n17 1 0 create-end task=2\n"
		"20 1 0 create-begin task=3 src=2 flags=undeferred\n21 1 0 task-begin task=3\n"
		"25 1 0 create-begin task=4 src=3 flags=undeferred,final\n25 1 0 task-begin task=4\n"
		"30 1 0 task-end task=4\n31 1 0 create-end task=4\n"
		"33 1 0 task-end task=3\n34 1 0 create-end task=3\n"
		"36 1 0 wait-begin kind=taskwait\n"
		"37 1 0 task-begin task=1\n41 1 0 create-begin task=5 src=3 flags=deferred\n"
		"42 1 0 create-end task=5\n44 1 0 task-end task=1\n"
		"44 1 0 task-begin task=2\n49 1 0 task-end task=2\n"
		"50 1 0 wait-end kind=taskwait\n"
		"52 1 0 create-begin task=6 src=2 flags=deferred\n53 1 0 create-end task=6\n"
		"54 1 0 wait-begin kind=taskgroup\n"
		"55 1 0 task-begin task=6\n60 1 0 task-end task=6\n"
		"61 1 0 wait-end kind=taskgroup\n"
		"63 1 0 wait-begin kind=barrier-implicit\n"
		"64 1 0 task-begin task=5\n70 1 0 task-end task=5\n"
		"71 1 0 wait-end kind=barrier-implicit\n71 1 0 member-end region=1 num=0\n"
		"75 1 0 region-end region=1\n");

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "waits", nodes);
	check_join(g, "0.p0.0/j0", GRAIN_JOIN_TASKWAIT, 3);
	check_join(g, "0.p0.0/j1", GRAIN_JOIN_TASKGROUP, 2);
	check_join(g, "0.p0/b0", GRAIN_JOIN_REGION_END, 1);
	check_times(g, "0.p0.0", 23, 0, 2 + 2 + 2);
	check_times(g, "0.p0.0.2", 6, 2, 0);
	check_times(g, "0.p0.0.2.0", 5, 1, 0);
	CHECK(context_at(g, "0.p0.0.2").undeferred && context_at(g, "0.p0.0.2.0").undeferred &&
		      context_at(g, "0.p0.0.2.0").depth == 2 && !context_at(g, "0.p0.0.3").undeferred,
	      "waits: undeferred and included tasks");
	/* Three share the taskwait's 2; the others' parents do not wait where they are joined, or alone. */
	check_near(context_at(g, "0.p0.0.0").parallel_benefit, 6 / (2 + 2.0 / 3), "benefit of 0");
	check_near(context_at(g, "0.p0.0.2").parallel_benefit, 6 / (2 + 2.0 / 3), "benefit of 2");
	check_near(context_at(g, "0.p0.0.2.0").parallel_benefit, 5, "benefit of 2.0");
	check_near(context_at(g, "0.p0.0.0.0").parallel_benefit, 6, "benefit of 0.0");
	check_near(context_at(g, "0.p0.0.3").parallel_benefit, 5.0 / 3, "benefit of 3");
	/* Own spans of 4 + 6, 5 and 4 + 5. */
	check_near(context_at(g, "0.p0.0.1").load_balance, 6.0 / 9, "balance of the three");
	check_totals(g, "waits", 23 + 33, 31);
	finish(g, "waits", 39);
}

/* Without a group the barrier joins a taskloop's tasks; they are numbered by their iterations. */
static void test_taskloop_nogroup(void)
{
	static const char *const nodes[] = {
		TEAM_EDGES,
		"critical 0.p0.0:f0 10",
		"0.p0.0:k1 1",
		"critical 0.p0.0:f2 1",
		"critical 0.p0.0:k3 1",
		"0.p0.0:f4 1",
		"critical 0.p0/b0 0",
		"critical 0.p0.0:f6 1",
		"critical 0.p0/b1 0",
		"0.p0.0.1:f0 5",
		"critical 0.p0.0.0:f0 10",
		"continuation 0.p0.0:f0 > 0.p0.0:k1",
		"continuation 0.p0.0:k1 > 0.p0.0:f2",
		"continuation 0.p0.0:f2 > 0.p0.0:k3",
		"continuation 0.p0.0:k3 > 0.p0.0:f4",
		"continuation 0.p0.0:f4 > 0.p0/b0",
		"continuation 0.p0/b0 > 0.p0.0:f6",
		"continuation 0.p0.0:f6 > 0.p0/b1",
		"creation 0.p0.0:k1 > 0.p0.0.1:f0",
		"creation 0.p0.0:k3 > 0.p0.0.0:f0",
		"synchronization 0.p0.0.1:f0 > 0.p0/b0",
		"synchronization 0.p0.0.0:f0 > 0.p0/b0",
		"synchronization 0.p0/b1 > 0.p0:end",
	};
	struct grain_graph *g = graph_of_text(
		"nogroup",
		HEAD ALONE "10 1 0 create-begin task=1 src=3 flags=deferred,taskloop\n"
			   "10 1 0 task-bounds task=1 taskloop=1 lower=5 upper=9\n11 1 0 create-end task=1\n"
			   "12 1 0 create-begin task=2 src=3 flags=deferred,taskloop\n"
			   "12 1 0 task-bounds task=2 taskloop=1 lower=0 upper=4\n13 1 0 create-end task=2\n"
			   "14 1 0 wait-begin kind=barrier\n"
			   "15 1 0 task-begin task=1\n20 1 0 task-end task=1\n"
			   "20 1 0 task-begin task=2\n30 1 0 task-end task=2\n"
			   "31 1 0 wait-end kind=barrier\n"
			   "32 1 0 wait-begin kind=barrier-implicit\n33 1 0 wait-end kind=barrier-implicit\n"
			   "33 1 0 member-end region=1 num=0\n34 1 0 region-end region=1\n");

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "nogroup", nodes);
	check_join(g, "0.p0/b0", GRAIN_JOIN_BARRIER, 2);
	check_join(g, "0.p0/b1", GRAIN_JOIN_REGION_END, 0);
	check_grain(g, "0.p0.0.0", "lower", "0");
	check_grain(g, "0.p0.0.1", "upper", "9");
	check_totals(g, "nogroup", 13 + 15, 22);
	/* Both creations, or 10 + 1 + 1 and the second task. */
	finish(g, "nogroup", 10 + 1 + 1 + 1 + 10 + 1);
}

/* Waiting for one's turn is part of a chunk's execution; a cancelled loop ends with what it has. */
static void test_ordered_and_cancelled(void)
{
	static const char *const nodes[] = {
		TEAM_EDGES,
		"creation 0.p0:begin > 0.p0.1:f0",
		"critical 0.p0.0:f0 5",
		"critical 0.p0.0:b1 1",
		"critical 0.p0/l0[0,0]:f0 8",
		"critical 0.p0.0:b3 2",
		"critical 0.p0/l0[2,2]:f0 7",
		"critical 0.p0.0:b5 1",
		"0.p0.1:f0 5",
		"0.p0.1:b1 2",
		"0.p0/l0[1,1]:f0 13",
		"0.p0.1:b3 0",
		"critical 0.p0/b0 0",
		"continuation 0.p0.0:f0 > 0.p0.0:b1",
		"continuation 0.p0.0:b1 > 0.p0/l0[0,0]:f0",
		"continuation 0.p0/l0[0,0]:f0 > 0.p0.0:b3",
		"continuation 0.p0.0:b3 > 0.p0/l0[2,2]:f0",
		"continuation 0.p0/l0[2,2]:f0 > 0.p0.0:b5",
		"synchronization 0.p0.0:b5 > 0.p0/b0",
		"continuation 0.p0.1:f0 > 0.p0.1:b1",
		"continuation 0.p0.1:b1 > 0.p0/l0[1,1]:f0",
		"continuation 0.p0/l0[1,1]:f0 > 0.p0.1:b3",
		"synchronization 0.p0.1:b3 > 0.p0/b0",
		"synchronization 0.p0/b0 > 0.p0:end",
	};
	struct grain_graph *g = graph_of_text(
		"ordered", HEAD PAIR
		"5 1 0 loop-begin loop=1 src=4 sched=dynamic lower=0 upper=9 step=1 chunk=1 ordered=1\n"
		"5 2 1 loop-begin loop=1 src=4\n"
		"6 1 0 chunk-begin loop=1 lower=0 upper=0\n"
		"8 1 0 lock-begin kind=ordered addr=0x1\n8 1 0 lock-got kind=ordered addr=0x1\n"
		"12 1 0 lock-end kind=ordered addr=0x1\n"
		"14 1 0 chunk-end loop=1\n16 1 0 chunk-begin loop=1 lower=2 upper=2\n"
		"22 1 0 cancel kind=loop point=1\n23 1 0 chunk-end loop=1\n24 1 0 loop-end loop=1\n"
		"24 1 0 wait-begin kind=barrier-implicit\n26 1 0 wait-end kind=barrier-implicit\n"
		"26 1 0 member-end region=1 num=0\n27 1 0 region-end region=1\n"
		"7 2 1 chunk-begin loop=1 lower=1 upper=1\n"
		"9 2 1 lock-begin kind=ordered addr=0x1\n12 2 1 lock-got kind=ordered addr=0x1\n"
		"15 2 1 lock-end kind=ordered addr=0x1\n"
		"18 2 1 cancel kind=loop point=0 src=4\n20 2 1 chunk-end loop=1\n20 2 1 loop-end loop=1\n"
		"20 2 1 wait-begin kind=barrier-implicit\n26 2 1 wait-end kind=barrier-implicit\n"
		"26 2 1 member-end region=1 num=1\n");
	const struct grain_totals *t;
	struct grain_loop loop;

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "ordered", nodes);
	check_join(g, "0.p0/b0", GRAIN_JOIN_REGION_END, 3);
	t = grain_graph__totals(g);
	CHECK(context_at(g, "0.p0/l0[1,1]").lock_ns == 3 && context_at(g, "0.p0/l0[0,0]").lock_ns == 0 &&
		      t->lock_wait_ns == 3,
	      "ordered: waiting for its turn");
	CHECK(t->cancels[1] == 1 && t->cancellation_points[1] == 1 && t->cancels[0] == 0 &&
		      t->cancels[2] == 0 && t->cancels[3] == 0,
	      "ordered: one loop was cancelled");
	grain_graph__loop(g, 0, &loop);
	CHECK(loop.ordered && loop.chunks == 3 && loop.iterations == 10 && !loop.incomplete,
	      "ordered: three of ten iterations");
	check_near(loop.load_balance, 13.0 / 14, "ordered: balance");
	check_near(context_at(g, "0.p0/l0[0,0]").parallel_benefit, 8.0 / (1 + 1), "benefit of [0,0]");
	check_near(context_at(g, "0.p0/l0[1,1]").parallel_benefit, 13.0 / (2 + 6), "benefit of [1,1]");
	check_near(context_at(g, "0.p0/l0[2,2]").parallel_benefit, 7.0 / (2 + 1), "benefit of [2,2]");
	check_totals(g, "ordered", 10 + 8 + 13 + 7, 5 + 8 + 7);
	finish(g, "ordered", 5 + 1 + 8 + 2 + 7 + 1);
}

/* Edges of dependences: to an undeferred task, between sets, to the wait that names them. */
static void test_dependences(void)
{
	static const char *const nodes[] = {
		"critical 0:f0 5",
		"critical 0:k1 1",
		"0:f2 2",
		"0:k3 6",
		"0:f4 1",
		"0:k5 1",
		"0:f6 1",
		"0:k7 1",
		"0:f8 1",
		"critical 0/y0 0",
		"critical 0:f10 2",
		"critical 0:k11 1",
		"0:f12 1",
		"critical 0/j0 0",
		"critical 0:f14 1",
		"critical 0.0:f0 5",
		"critical 0.1:f0 3",
		"critical 0.2:f0 10",
		"0.3:f0 4",
		"critical 0.4:f0 2",
		"continuation 0:f0 > 0:k1",
		"continuation 0:k1 > 0:f2",
		"continuation 0:f2 > 0:k3",
		"continuation 0:k3 > 0:f4",
		"continuation 0:f4 > 0:k5",
		"continuation 0:k5 > 0:f6",
		"continuation 0:f6 > 0:k7",
		"continuation 0:k7 > 0:f8",
		"continuation 0:f8 > 0/y0",
		"continuation 0/y0 > 0:f10",
		"continuation 0:f10 > 0:k11",
		"continuation 0:k11 > 0:f12",
		"continuation 0:f12 > 0/j0",
		"continuation 0/j0 > 0:f14",
		"creation 0:k1 > 0.0:f0",
		"creation 0:k3 > 0.1:f0",
		"creation 0:k5 > 0.2:f0",
		"creation 0:k7 > 0.3:f0",
		"creation 0:k11 > 0.4:f0",
		"dependence 0.0:f0 > 0.1:f0",
		"dependence 0.1:f0 > 0.2:f0",
		"dependence 0.1:f0 > 0.3:f0",
		"dependence 0.2:f0 > 0/y0",
		"dependence 0.3:f0 > 0/y0",
		"dependence 0.2:f0 > 0.4:f0",
		"dependence 0.3:f0 > 0.4:f0",
		"synchronization 0.0:f0 > 0/j0",
		"synchronization 0.1:f0 > 0/j0",
		"synchronization 0.2:f0 > 0/j0",
		"synchronization 0.3:f0 > 0/j0",
		"synchronization 0.4:f0 > 0/j0",
	};
	struct grain_graph *g = graph_of_text(
		"dependences", HEAD
		"0 1 0 thread-begin\n"
		"5 1 0 create-begin task=1 src=2 flags=deferred\n5 1 0 depend task=1 addr=0xa kind=out\n"
		"6 1 0 create-end task=1\n7 2 1 task-begin task=1\n12 2 1 task-end task=1\n"
		"8 1 0 create-begin task=2 src=2 flags=undeferred\n8 1 0 depend task=2 addr=0xa kind=in\n"
		"13 1 0 task-begin task=2\n16 1 0 task-end task=2\n17 1 0 create-end task=2\n"
		"18 1 0 create-begin task=3 src=2 flags=deferred\n"
		"18 1 0 depend task=3 addr=0xa kind=inoutset\n19 1 0 create-end task=3\n"
		"20 1 0 create-begin task=4 src=2 flags=deferred\n"
		"20 1 0 depend task=4 addr=0xa kind=inoutset\n21 1 0 create-end task=4\n"
		"20 2 1 task-begin task=3\n30 2 1 task-end task=3\n"
		"22 1 0 wait-begin kind=taskwait-depend\n22 1 0 depend addr=0xa kind=in\n"
		"23 1 0 task-begin task=4\n27 1 0 task-end task=4\n"
		"31 1 0 wait-end kind=taskwait-depend\n"
		"33 1 0 create-begin task=5 src=2 flags=deferred\n"
		"33 1 0 depend task=5 addr=0xa kind=mutexinoutset\n34 1 0 create-end task=5\n"
		"35 1 0 wait-begin kind=taskwait\n36 2 1 task-begin task=5\n38 2 1 task-end task=5\n"
		"40 1 0 wait-end kind=taskwait\n41 1 0 thread-end\n");
	size_t critical = 0;

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "dependences", nodes);
	check_join(g, "0/y0", GRAIN_JOIN_TASKWAIT, 0);
	check_join(g, "0/j0", GRAIN_JOIN_TASKWAIT, 5);
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		struct grain_dependence d;

		grain_graph__dependence(g, i, &d);
		critical += d.critical;
		CHECK(!d.critical || d.from == context_named(g, d.to == GRAIN_NONE		  ? "0.2"
								: d.to == context_named(g, "0.1") ? "0.0"
												  : "0.1"),
		      "dependences: a critical one is on the path");
	}
	CHECK(critical == 3, "dependences: three are critical");
	check_times(g, "0", 14, 0, 5 + 5);
	check_totals(g, "dependences", 14 + 24, 5 + 5 + 3 + 10 + 2 + 2 + 1);
	/*
	 * 5, then the first task's creation and body, the second's and third's
	 * bodies; the second begins at 5 + 1 + 2 + 6 otherwise.
	 */
	finish(g, "dependences", 14 + 3 + 10 + 2 + 1 + 2 + 1);
}

/* A task that never ran is a node all the same; a detached one is joined when it was fulfilled. */
static void test_discarded_and_detached(void)
{
	static const char *const nodes[] = {
		"critical 0:f0 3",
		"critical 0:k1 1",
		"0:f2 1",
		"0:k3 1",
		"0:f4 2",
		"critical 0/j0 0",
		"critical 0:f6 2",
		"critical 0.0:f0 4",
		"0.1:nothing 0",
		"continuation 0:f0 > 0:k1",
		"continuation 0:k1 > 0:f2",
		"continuation 0:f2 > 0:k3",
		"continuation 0:k3 > 0:f4",
		"continuation 0:f4 > 0/j0",
		"continuation 0/j0 > 0:f6",
		"creation 0:k1 > 0.0:f0",
		"creation 0:k3 > 0.1:nothing",
		"synchronization 0.0:f0 > 0/j0",
		"synchronization 0.1:nothing > 0/j0",
	};
	struct grain_graph *g =
		graph_of_text("discarded",
			      HEAD "0 1 0 thread-begin\n2 1 0 group-begin\n"
				   "3 1 0 create-begin task=1 src=2 flags=deferred,detach\n"
				   "4 1 0 create-end task=1\n"
				   "5 1 0 create-begin task=2 src=2 flags=deferred\n"
				   "6 1 0 create-end task=2\n8 1 0 wait-begin kind=taskgroup\n"
				   "9 1 0 task-begin task=1\n12 1 0 cancel kind=taskgroup point=0\n"
				   "13 1 0 task-end task=1\n14 1 0 task-discard task=2\n"
				   "20 2 1 task-fulfill task=1\n21 1 0 wait-end kind=taskgroup\n"
				   "23 1 0 thread-end\n");

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "discarded", nodes);
	check_join(g, "0/j0", GRAIN_JOIN_TASKGROUP, 2);
	CHECK(context_at(g, "0.0").fulfilled_ns == 20 && context_at(g, "0.1").discarded,
	      "discarded: fulfilled and discarded");
	check_near(context_at(g, "0.0").parallel_benefit, 4.0 / (1 + 9), "discarded: it is no sibling");
	check_near(context_at(g, "0.0").load_balance, 1, "discarded: nor in the balance");
	check_totals(g, "discarded", 8 + 4, 3 + 4 + 2);
	finish(g, "discarded", 3 + 1 + 4 + 2);
}

/* Sections without a join; a task and a region made in them hang on them, the executing task waits. */
static void test_sections(void)
{
#define IN "0.p0/x0[1].p0"
	static const char *const nodes[] = {
		TEAM_EDGES,
		"critical 0.p0.0:f0 2",
		"critical 0.p0.0:b1 1",
		"critical 0.p0/x0[0]:f0 2",
		"0.p0/x0[0]:k1 1",
		"critical 0.p0/x0[0]:f2 2",
		"0.p0/x0[0].0:f0 5",
		"critical 0.p0.0:b3 1",
		"critical 0.p0/x0[1]:f0 2",
		IN ":begin 0",
		"critical " IN ".0:f0 3",
		"critical " IN "/b0 0",
		IN ":end 0",
		"critical 0.p0/x0[1]:f2 2",
		"critical 0.p0.0:b5 1",
		"critical 0.p0.0:f6 2",
		"critical 0.p0.0/j0 0",
		"critical 0.p0.0:f8 2",
		"critical 0.p0/b0 0",
		"continuation 0.p0.0:f0 > 0.p0.0:b1",
		"continuation 0.p0.0:b1 > 0.p0/x0[0]:f0",
		"continuation 0.p0/x0[0]:f0 > 0.p0/x0[0]:k1",
		"creation 0.p0/x0[0]:k1 > 0.p0/x0[0].0:f0",
		"continuation 0.p0/x0[0]:k1 > 0.p0/x0[0]:f2",
		"continuation 0.p0/x0[0]:f2 > 0.p0.0:b3",
		"continuation 0.p0.0:b3 > 0.p0/x0[1]:f0",
		"continuation 0.p0/x0[1]:f0 > " IN ":begin",
		"creation " IN ":begin > " IN ".0:f0",
		"continuation " IN ".0:f0 > " IN "/b0",
		"synchronization " IN "/b0 > " IN ":end",
		"continuation " IN ":end > 0.p0/x0[1]:f2",
		"continuation 0.p0/x0[1]:f2 > 0.p0.0:b5",
		"continuation 0.p0.0:b5 > 0.p0.0:f6",
		"continuation 0.p0.0:f6 > 0.p0.0/j0",
		"synchronization 0.p0/x0[0].0:f0 > 0.p0.0/j0",
		"continuation 0.p0.0/j0 > 0.p0.0:f8",
		"continuation 0.p0.0:f8 > 0.p0/b0",
		"synchronization 0.p0/b0 > 0.p0:end",
	};
	struct grain_graph *g = graph_of_text(
		"sections", HEAD ALONE
		"2 1 0 sections-begin loop=1 src=5\n3 1 0 section-begin loop=1 lower=0\n"
		"5 1 0 create-begin task=1 src=2 flags=deferred\n6 1 0 create-end task=1\n"
		"8 1 0 section-end loop=1\n9 1 0 section-begin loop=1 lower=1\n"
		"11 1 0 region-begin region=2 src=1 threads=1\n12 1 0 member-begin region=2 num=0\n"
		"15 1 0 member-end region=2 num=0\n16 1 0 region-end region=2\n"
		"18 1 0 section-end loop=1\n19 1 0 sections-end loop=1\n"
		"21 1 0 wait-begin kind=taskwait\n22 1 0 task-begin task=1\n27 1 0 task-end task=1\n"
		"28 1 0 wait-end kind=taskwait\n"
		"30 1 0 wait-begin kind=barrier-implicit\n31 1 0 wait-end kind=barrier-implicit\n"
		"31 1 0 member-end region=1 num=0\n32 1 0 region-end region=1\n");
	struct grain_region region;

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "sections", nodes);
	check_joined(g, "0.p0/x0[0]", "0.p0.0", NULL);
	check_joined(g, "0.p0/x0[0].0", "0.p0/x0[0]", "0.p0.0/j0");
	check_joined(g, IN ".0", "0.p0/x0[1]", NULL);
	check_near(context_at(g, "0.p0/x0[0]").parallel_benefit, 4, "sections: benefit without a join");
	check_near(context_at(g, "0.p0/x0[1]").load_balance, 0.5, "sections: balance");
	check_near(context_at(g, "0.p0/x0[0].0").parallel_benefit, 5.0 / 1, "sections: benefit of the task");
	grain_graph__region(g, 0, &region);
	CHECK(region.tasks == 1 && context_at(g, "0.p0/x0[0].0").depth == 1, "sections: the region's task");
	check_totals(g, "sections", 6 + 4 + 5 + 4 + 3, 17);
	/* Book-keeping 3, the creation 1 and the start of the inner team 1. */
	finish(g, "sections", 17 + 3 + 1 + 1);
#undef IN
}

/* A task that yields on one thread and goes on from there on another; yielding joins nothing. */
static void test_untied(void)
{
	static const char *const nodes[] = {
		TEAM_EDGES,
		"creation 0.p0:begin > 0.p0.1:f0",
		"critical 0.p0.0:f0 2",
		"critical 0.p0.0:k1 1",
		"0.p0.0:f2 1",
		"0.p0.1:f0 4",
		"critical 0.p0.0.0:f0 3",
		"critical 0.p0.0.0/y0 0",
		"critical 0.p0.0.0:f3 4",
		"critical 0.p0/b0 0",
		"continuation 0.p0.0:f0 > 0.p0.0:k1",
		"continuation 0.p0.0:k1 > 0.p0.0:f2",
		"continuation 0.p0.0:f2 > 0.p0/b0",
		"continuation 0.p0.1:f0 > 0.p0/b0",
		"creation 0.p0.0:k1 > 0.p0.0.0:f0",
		"continuation 0.p0.0.0:f0 > 0.p0.0.0/y0",
		"continuation 0.p0.0.0/y0 > 0.p0.0.0:f3",
		"synchronization 0.p0.0.0:f3 > 0.p0/b0",
		"synchronization 0.p0/b0 > 0.p0:end",
	};
	struct grain_graph *g = graph_of_text(
		"yield", HEAD PAIR
		"2 1 0 create-begin task=1 src=2 flags=untied,deferred\n3 1 0 create-end task=1\n"
		"4 1 0 wait-begin kind=barrier-implicit\n4 2 1 wait-begin kind=barrier-implicit\n"
		"5 1 0 task-begin task=1\n8 1 0 wait-begin kind=taskyield\n9 1 0 task-suspend task=1\n"
		"11 2 1 task-switch task=1\n12 2 1 wait-end kind=taskyield\n16 2 1 task-end task=1\n"
		"20 1 0 wait-end kind=barrier-implicit\n20 1 0 member-end region=1 num=0\n"
		"20 2 1 wait-end kind=barrier-implicit\n20 2 1 member-end region=1 num=1\n"
		"22 1 0 region-end region=1\n");
	struct grain_item first, last;
	struct grain_context c;

	if (!g)
		return;
	CHECK_WHOLE_GRAPH(g, "yield", nodes);
	check_join(g, "0.p0.0.0/y0", GRAIN_JOIN_TASKWAIT, 0);
	check_times(g, "0.p0.0", 3, 0, 16 - 4);
	check_times(g, "0.p0.1", 4, 0, 16 - 5);
	check_times(g, "0.p0.0.0", 7, 1, 1 + 1);
	c = context_at(g, "0.p0.0.0");
	grain_graph__item(g, c.first_item, &first);
	grain_graph__item(g, c.first_item + 3, &last);
	CHECK(first.tid == 1 && first.cpu == 0 && last.tid == 2 && last.cpu == 1,
	      "yield: fragments carry their own thread and CPU");
	check_totals(g, "yield", 3 + 4 + 7, 2 + 7);
	finish(g, "yield", 2 + 1 + 7);
}

int main(void)
{
	test_waits();
	test_taskloop_nogroup();
	test_ordered_and_cancelled();
	test_dependences();
	test_discarded_and_detached();
	test_sections();
	test_untied();
	CHECK_DONE();
}
