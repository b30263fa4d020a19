/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that move, wait for events or never run, by hand; taskloops split by the runtime; locks. */
#include "tests/unit/graph_json.h"

/* A task that is suspended twice and goes on elsewhere; once in the middle of a wait. */
static void test_untied(void)
{
	struct grain_graph *g =
		graph_of_text("untied", GRAPH_HEAD
			      "0 1 0 region-begin region=1 src=1 threads=2\n"
			      "10 1 0 member-begin region=1 num=0\n10 2 1 member-begin region=1 num=1\n"
			      "20 1 0 create-begin task=1 src=2 flags=untied,deferred\n"
			      "25 1 0 create-end task=1\n"
			      "30 1 0 wait-begin kind=barrier-implicit\n"
			      "30 2 1 wait-begin kind=barrier-implicit\n"
			      "40 1 0 task-begin task=1\n"
			      "50 1 0 create-begin task=2 src=3 flags=deferred\n"
			      "51 1 0 create-end task=2\n"
			      "60 1 0 task-suspend task=1\n"
			      "60 1 0 task-begin task=2\n"
			      "65 2 1 task-switch task=1\n"
			      "70 2 1 wait-begin kind=taskwait\n"
			      "72 2 1 task-suspend task=1\n"
			      "80 1 0 task-end task=2\n"
			      "85 1 0 task-switch task=1\n"
			      "86 1 0 wait-end kind=taskwait\n"
			      "95 1 0 task-end task=1\n"
			      "100 1 0 wait-end kind=barrier-implicit\n"
			      "100 2 1 wait-end kind=barrier-implicit\n"
			      "100 1 0 member-end region=1 num=0\n100 2 1 member-end region=1 num=1\n"
			      "110 1 0 region-end region=1\n");
	json_t *grain;

	if (!g)
		return;
	/* 40..50, 51..60 and 86..95 on thread 1, 65..70 on thread 2; waits 70..72 and 85..86. */
	check_times(g, "0.p0.0.0", 10 + 9 + 5 + 9, 5, 3);
	check_times(g, "0.p0.0", 10 + 5, 0, 70 - 20 - 20 - 10);
	check_times(g, "0.p0.1", 20, 0, 70 - 7);
	check_joined(g, "0.p0.0.0.0", "0.p0.0.0", "0.p0.0.0/j0");
	grain = grain_of(g, "0.p0.0.0");
	CHECK(json_array_size(json_object_get(grain, "fragments")) == 4, "untied: fragments on both threads");
	json_decref(grain);
	CHECK(!context_at(g, "0.p0.0.0").incomplete && grain_graph__truth(g)->incomplete_grains == 0,
	      "untied: nothing is incomplete");
	check_sound(g, "untied");
	check_round_trip(g, "untied");
	grain_graph__free(g);
	g = graph_of_text("suspended for good",
			  GRAPH_HEAD "1 1 0 create-begin task=1 src=2 flags=untied\n2 1 0 create-end task=1\n"
				     "3 1 0 wait-begin kind=taskwait\n4 1 0 task-begin task=1\n"
				     "6 1 0 task-suspend task=1\n9 1 0 wait-end kind=taskwait\n");
	if (!g)
		return;
	CHECK(context_at(g, "0.0").incomplete && grain_graph__truth(g)->never_ended == 1,
	      "a task that is suspended for good is incomplete");
	check_times(g, "0.0", 2, 1, 0);
	check_sound(g, "suspended for good");
	check_round_trip(g, "suspended for good");
	grain_graph__free(g);
}

static void test_detached(void)
{
	struct grain_graph *g = graph_of_text("detached", GRAPH_HEAD
					      "1 1 0 create-begin task=1 src=2 flags=deferred,detach\n"
					      "2 1 0 create-end task=1\n"
					      "3 1 0 create-begin task=2 src=2 flags=deferred,detach\n"
					      "4 1 0 create-end task=2\n"
					      "5 1 0 wait-begin kind=taskwait\n6 1 0 task-begin task=1\n"
					      "8 1 0 task-end task=1\n8 1 0 task-begin task=2\n"
					      "9 1 0 task-end task=2\n20 2 1 task-fulfill task=1\n"
					      "21 1 0 wait-end kind=taskwait\n");
	struct grain_context c;

	if (!g)
		return;
	c = context_at(g, "0.0");
	CHECK(c.detached && c.fulfilled_ns == 20 && c.end_ns == 8 && !c.incomplete,
	      "detached: when it is over");
	c = context_at(g, "0.1");
	CHECK(c.detached && c.incomplete && !c.fulfilled_ns, "detached: incomplete without its event");
	check_grain(g, "0.0", "fulfilled_ns", "20");
	check_grain(g, "0.1", "fulfilled_ns", "null");
	CHECK(grain_graph__totals(g)->detached == 2, "detached: counted");
	check_sound(g, "detached");
	check_round_trip(g, "detached");
	grain_graph__free(g);
}

/* Two of three tasks of a cancelled taskgroup never run: that is no loss. */
static void test_discarded(void)
{
	struct grain_graph *g = graph_of_text("discarded", GRAPH_HEAD
					      "1 1 0 group-begin\n"
					      "1 1 0 create-begin task=1 src=2 flags=deferred\n"
					      "2 1 0 create-end task=1\n"
					      "3 1 0 create-begin task=2 src=2 flags=deferred\n"
					      "4 1 0 create-end task=2\n"
					      "5 1 0 create-begin task=3 src=2 flags=deferred\n"
					      "5 1 0 task-discard task=3\n6 1 0 create-end task=3\n"
					      "7 1 0 wait-begin kind=taskgroup\n8 1 0 task-begin task=1\n"
					      "9 1 0 cancel kind=taskgroup point=0 src=2\n"
					      "9 1 0 cancel kind=taskgroup point=1 src=2\n"
					      "18 1 0 task-end task=1\n19 1 0 task-discard task=2\n"
					      "22 1 0 wait-end kind=taskgroup\n");
	const struct grain_totals *t;
	struct grain_context c;
	json_t *summary;

	if (!g)
		return;
	t = grain_graph__totals(g);
	c = context_at(g, "0.1");
	CHECK(c.discarded && !c.incomplete && c.item_count == 0 && c.exec_ns == 0 && c.create_ns == 1,
	      "discarded: kept, without a body");
	check_joined(g, "0.1", "0", "0/j0");
	check_joined(g, "0.2", "0", "0/j0");
	CHECK(t->tasks == 3 && t->discarded == 2 && grain_graph__truth(g)->incomplete_grains == 0 &&
		      grain_graph__truth(g)->never_begun == 0,
	      "discarded: counted");
	/* The whole wait is the one task's that ran: 15 less its body of 10. */
	check_near(context_at(g, "0.0").parallel_benefit, 10.0 / (1 + 5), "discarded: no siblings");
	summary = summary_of(g);
	check_json(json_object_get(summary, "grains"), "discarded", "2", "the summary's grains");
	check_json(json_array_get(json_object_get(summary, "definitions"), 0), "discarded", "2",
		   "the definition");
	check_json(json_object_get(summary, "cancels"), "taskgroup", "1", "the summary's cancels");
	check_json(json_object_get(summary, "cancellation_points"), "taskgroup", "1", "its points");
	json_decref(summary);
	check_grain(g, "0.2", "discarded", "true");
	check_sound(g, "discarded");
	check_round_trip(g, "discarded");
	grain_graph__free(g);
}

/*
 * A taskloop over 0..7 in four tasks between two plain ones. With `split` the
 * runtime hands half of it to a task of its own, which another thread runs.
 */
static struct grain_graph *taskloop(const char *name, bool split)
{
	static const char head[] = "1 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end task=1\n"
				   "3 1 0 group-begin\n";
	static const char whole[] =
		"10 1 0 create-begin task=10 src=3 flags=taskloop\n"
		"10 1 0 task-bounds task=10 taskloop=5 lower=6 upper=7\n11 1 0 create-end task=10\n"
		"12 1 0 create-begin task=11 src=3 flags=taskloop\n"
		"12 1 0 task-bounds task=11 taskloop=5 lower=4 upper=5\n13 1 0 create-end task=11\n"
		"14 1 0 create-begin task=12 src=3 flags=taskloop\n"
		"14 1 0 task-bounds task=12 taskloop=5 lower=0 upper=1\n15 1 0 create-end task=12\n"
		"16 1 0 create-begin task=13 src=3 flags=taskloop\n"
		"16 1 0 task-bounds task=13 taskloop=5 lower=2 upper=3\n17 1 0 create-end task=13\n";
	static const char halves[] =
		"10 1 0 create-begin task=20 src=3 flags=taskloop,split\n11 1 0 create-end task=20\n"
		"12 1 0 create-begin task=12 src=3 flags=taskloop\n"
		"12 1 0 task-bounds task=12 taskloop=5 lower=0 upper=1\n13 1 0 create-end task=12\n"
		"14 1 0 create-begin task=13 src=3 flags=taskloop\n"
		"14 1 0 task-bounds task=13 taskloop=5 lower=2 upper=3\n15 1 0 create-end task=13\n"
		"24 2 1 task-begin task=20\n"
		"25 2 1 create-begin task=10 src=3 flags=taskloop\n"
		"25 2 1 task-bounds task=10 taskloop=5 lower=6 upper=7\n26 2 1 create-end task=10\n"
		"27 2 1 create-begin task=11 src=3 flags=taskloop\n"
		"27 2 1 task-bounds task=11 taskloop=5 lower=4 upper=5\n28 2 1 create-end task=11\n"
		"29 2 1 task-end task=20\n";
	static const char tail[] =
		"20 1 0 wait-begin kind=taskgroup\n"
		"30 3 1 task-begin task=10\n33 3 1 task-end task=10\n34 3 1 task-begin task=11\n"
		"37 3 1 task-end task=11\n38 3 1 task-begin task=12\n41 3 1 task-end task=12\n"
		"42 3 1 task-begin task=13\n45 3 1 task-end task=13\n46 1 0 wait-end kind=taskgroup\n"
		"50 1 0 create-begin task=2 src=2 flags=deferred\n51 1 0 create-end task=2\n"
		"52 1 0 wait-begin kind=taskwait\n52 3 1 task-begin task=1\n53 3 1 task-end task=1\n"
		"53 3 1 task-begin task=2\n54 3 1 task-end task=2\n60 1 0 wait-end kind=taskwait\n";
	char text[8192];

	snprintf(text, sizeof text, "%s%s%s%s", GRAPH_HEAD, head, split ? halves : whole, tail);
	return graph_of_text(name, text);
}

static void test_taskloop(void)
{
	for (int split = 0; split < 2; split++) {
		const char *name = split ? "split taskloop" : "taskloop";
		struct grain_graph *g = taskloop(name, split);
		const struct grain_totals *t;

		if (!g)
			return;
		t = grain_graph__totals(g);
		CHECK(t->tasks == 6 && t->runtime_tasks == (split ? 1 : 0) && t->grains == 6,
		      "%s: its tasks are counted, the runtime's are not", name);
		check_grain(g, "0.1", "lower", "0");
		check_grain(g, "0.2", "lower", "2");
		check_grain(g, "0.3", "upper", "5");
		check_grain(g, "0.4", "lower", "6");
		check_grain(g, "0.4", "parent", "\"0\"");
		check_grain(g, "0.4", "depth", "1");
		check_grain(g, "0.5", "lower", "null");
		for (int i = 1; i < 5; i++) {
			char id[16];

			snprintf(id, sizeof id, "0.%d", i);
			CHECK(context_at(g, id).join != GRAIN_NONE && context_at(g, id).exec_ns == 3,
			      "%s: %s", name, id);
			check_grain(g, id, "join", "\"0/j0\"");
			/* The wait of 26 is shared by four, whoever made them. */
			check_near(context_at(g, id).parallel_benefit, 3.0 / (1 + 26.0 / 4), "its benefit");
		}
		check_grain(g, "0.0", "join", "\"0/j1\"");
		check_grain(g, "0.5", "join", "\"0/j1\"");
		if (split) {
			check_joined(g, "0.t0", "0", "0/j0");
			CHECK(context_at(g, "0.t0").runtime, "the runtime's own task is marked");
			check_grain(g, "0.t0", "runtime", "true");
		}
		check_sound(g, name);
		check_round_trip(g, name);
		grain_graph__free(g);
	}
}

static void test_locks(void)
{
	struct grain_graph *g =
		graph_of_text("locks", GRAPH_HEAD
			      "@source 6 file=a.c line=60 func=f kind=critical\n"
			      "1 1 0 create-begin task=1 src=2 flags=undeferred\n2 1 0 task-begin task=1\n"
			      "3 1 0 lock-begin kind=critical addr=0x1 src=6\n"
			      "13 1 0 lock-got kind=critical addr=0x1\n"
			      "14 1 0 lock-end kind=critical addr=0x1\n"
			      "15 1 0 lock-begin kind=critical addr=0x1 src=6\n"
			      "16 1 0 lock-got kind=critical addr=0x1\n"
			      "20 1 0 lock-begin kind=lock addr=0x2\n23 1 0 lock-got kind=lock addr=0x2\n"
			      "30 1 0 task-end task=1\n30 1 0 create-end task=1\n");
	json_t *summary, *locks;

	if (!g)
		return;
	check_times(g, "0.0", 28, 1, 0);
	CHECK(context_at(g, "0.0").lock_ns == 14 && grain_graph__totals(g)->lock_wait_ns == 14,
	      "locks: waiting is a part of the execution");
	summary = summary_of(g);
	locks = json_object_get(summary, "locks");
	CHECK(json_array_size(locks) == 2, "locks: two");
	check_json(json_array_get(locks, 0), "kind", "\"critical\"", "the first lock");
	check_json(json_array_get(locks, 0), "source", "\"a.c:60\"", "the first lock");
	check_json(json_array_get(locks, 0), "waits", "2", "the first lock");
	check_json(json_array_get(locks, 0), "wait_ns", "11", "the first lock");
	check_json(json_array_get(locks, 1), "source", "null", "the second lock");
	json_decref(summary);
	check_sound(g, "locks");
	check_round_trip(g, "locks");
	grain_graph__free(g);
}

int main(void)
{
	test_untied();
	test_detached();
	test_discarded();
	test_taskloop();
	test_locks();
	CHECK_DONE();
}
