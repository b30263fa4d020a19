/* SPDX-License-Identifier: BSD-2-Clause */
/* Worksharing loops and sections, by hand: chunks, their names, joins and metrics. */
#include "tests/unit/graph_json.h"

#define HEAD                                                                                                 \
	GRAPH_HEAD "@source 4 file=a.c line=40 func=main kind=loop\n"                                        \
		   "@source 5 file=a.c line=50 func=main kind=sections\n"
#define TEAM                                                                                                 \
	"0 1 0 region-begin region=1 src=1 threads=2\n"                                                      \
	"10 1 0 member-begin region=1 num=0\n10 2 1 member-begin region=1 num=1\n"
#define TEAM_END(time)                                                                                       \
	time " 1 0 wait-begin kind=barrier-implicit\n" time " 2 1 wait-begin kind=barrier-implicit\n" time   \
	     " 1 0 wait-end kind=barrier-implicit\n" time " 2 1 wait-end kind=barrier-implicit\n" time       \
	     " 1 0 member-end region=1 num=0\n" time " 2 1 member-end region=1 num=1\n" time                 \
	     " 1 0 region-end region=1\n"

/* Chunks of 30, 20, 20 and 10 on two threads: 30 + 10 and 20 + 20 need both. */
static void test_dynamic(void)
{
	struct grain_graph *g =
		graph_of_text("dynamic", HEAD
			      "@machine host=n cores=2 sockets=1 kernel=6\n@cpu 0 core=0 socket=0 node=0\n"
			      "@cpu 1 core=1 socket=0 node=0\n" TEAM
			      "20 1 0 loop-begin loop=7 src=4 sched=dynamic lower=0 upper=15 step=2 chunk=2 "
			      "nonmonotonic=1\n"
			      "20 2 1 loop-begin loop=7 src=4\n"
			      "22 1 0 chunk-begin loop=7 lower=0 upper=3\n"
			      "24 2 1 chunk-begin loop=7 lower=4 upper=7\n"
			      "44 2 1 chunk-end loop=7\n"
			      "45 2 1 chunk-begin loop=7 lower=8 upper=11\n"
			      "52 1 0 chunk-end loop=7\n"
			      "55 1 0 chunk-begin loop=7 lower=12 upper=15\n"
			      "65 1 0 chunk-end loop=7\n"
			      "65 2 1 chunk-end loop=7\n"
			      "66 1 0 loop-end loop=7\n"
			      "66 1 0 wait-begin kind=barrier-implicit\n"
			      "68 2 1 loop-end loop=7\n"
			      "68 2 1 wait-begin kind=barrier-implicit\n"
			      "70 1 0 wait-end kind=barrier-implicit\n"
			      "70 2 1 wait-end kind=barrier-implicit\n" TEAM_END("80"));
	struct grain_loop loop;
	struct grain_context c;
	json_t *summary, *row;
	char id[64];

	if (!g)
		return;
	grain_graph__loop(g, 0, &loop);
	grain_graph__loop_id(g, 0, id, sizeof id);
	CHECK_STR(id, "0.p0/l0", "dynamic: the loop's identifier");
	CHECK(loop.chunks == 4 && loop.members == 2 && loop.iterations == 8 && loop.exec_ns == 80 &&
		      loop.bookkeeping_ns == 2 + 3 + 1 + 4 + 1 + 3 && loop.minimum_cores == 2 &&
		      loop.bounds == GRAIN_BOUNDS_OBSERVED && loop.nonmonotonic && loop.start_ns == 20 &&
		      loop.end_ns == 68,
	      "dynamic: the loop");
	CHECK_STR(loop.schedule, "dynamic", "dynamic: its schedule");
	check_near(loop.load_balance, 30.0 / 40, "dynamic: its balance");
	c = context_at(g, "0.p0/l0[12,15]");
	CHECK(c.exec_ns == 10 && c.bookkeeping_ns == 3, "dynamic: the last chunk");
	/* Member 0 waits 4 in the loop's join, for two chunks. */
	check_near(c.parallel_benefit, 10.0 / (3 + 2), "dynamic: its benefit");
	check_near(context_at(g, "0.p0/l0[4,7]").parallel_benefit, 20.0 / (4 + 1), "dynamic: another's");
	check_near(c.instantaneous_parallelism, 2, "dynamic: two run at a time");
	/* The chunks ran on cores 0, 1, 1 and 0. In four of the six pairs the distance is 1. */
	check_near(c.scatter, 1, "dynamic: scatter");
	check_totals(g, "dynamic", 10 + 10 + 80 + 10 + 10, 10 + 40 + 10);
	summary = summary_of(g);
	row = json_array_get(json_object_get(summary, "loops"), 0);
	check_json(row, "id", "\"0.p0/l0\"", "the loop's row");
	check_json(row, "source", "\"a.c:40\"", "the loop's row");
	check_json(row, "schedule", "\"dynamic\"", "the loop's row");
	check_json(row, "chunk", "2", "the loop's row");
	check_json(row, "bounds", "\"observed\"", "the loop's row");
	check_json(row, "note", "null", "the loop's row");
	check_json(row, "join", "\"0.p0/b0\"", "the loop's row");
	row = json_array_get(json_object_get(summary, "definitions"), 0);
	check_json(row, "kind", "\"loop\"", "the chunks' profile");
	check_json(row, "instances", "4", "the chunks' profile");
	check_json(json_object_get(row, "create_ns"), "sum", "10", "the chunks' book-keeping");
	json_decref(summary);
	check_grain(g, "0.p0/l0[12,15]", "lower", "12");
	check_grain(g, "0.p0/l0[12,15]", "loop", "\"0.p0/l0\"");
	check_grain(g, "0.p0/l0[12,15]", "parent", "\"0.p0.0\"");
	check_round_trip(g, "dynamic");
	grain_graph__free(g);
}

/* Seven chunks of 10 on one thread and one of 70 on the other: two cores; 70 and 10: one would not do. */
static void test_minimum_cores(void)
{
	char text[4096] = HEAD TEAM "20 1 0 loop-begin loop=1 sched=dynamic\n20 2 1 loop-begin loop=1\n"
				    "20 3 2 member-begin region=1 num=2\n20 3 2 loop-begin loop=1\n"
				    "20 2 1 chunk-begin loop=1 lower=0 upper=0\n"
				    "90 2 1 chunk-end loop=1\n90 2 1 loop-end loop=1\n"
				    "20 3 2 chunk-begin loop=1 lower=9 upper=9\n"
				    "30 3 2 chunk-end loop=1\n90 3 2 loop-end loop=1\n";
	struct grain_graph *g;
	struct grain_loop loop;

	for (int i = 0; i < 6; i++)
		sprintf(text + strlen(text),
			"%d 1 0 chunk-begin loop=1 lower=%d upper=%d\n%d 1 0 chunk-end loop=1\n", 20 + i * 10,
			i + 1, i + 1, 30 + i * 10);
	strcat(text, "90 1 0 loop-end loop=1\n");
	g = graph_of_text("minimum cores", text);
	if (!g)
		return;
	grain_graph__loop(g, 0, &loop);
	CHECK(loop.minimum_cores == 2 && loop.members == 3,
	      "minimum cores: 70 and 7 * 10 fit on two of three");
	grain_graph__free(g);
}

/* GCC's inline static loop ends with the same call as an explicit barrier; the first one is its join. */
static void test_hidden(void)
{
	struct grain_graph *g =
		graph_of_text("hidden", HEAD TEAM
			      "20 1 0 loop-begin loop=1 src=4 sched=static bounds=hidden\n"
			      "20 1 0 chunk-begin loop=1 bounds=hidden\n"
			      "20 2 1 loop-begin loop=1 src=4 sched=static bounds=hidden\n"
			      "20 2 1 chunk-begin loop=1 bounds=hidden\n"
			      "30 1 0 create-begin task=1 src=2 flags=deferred\n"
			      "32 1 0 create-end task=1\n"
			      "40 1 0 chunk-end loop=1\n40 1 0 loop-end loop=1\n"
			      "40 1 0 wait-begin kind=barrier\n"
			      "41 1 0 task-begin task=1\n45 1 0 task-end task=1\n"
			      "50 2 1 chunk-end loop=1\n50 2 1 loop-end loop=1\n"
			      "50 2 1 wait-begin kind=barrier\n"
			      "52 1 0 wait-end kind=barrier\n52 2 1 wait-end kind=barrier\n"
			      "60 1 0 loop-begin loop=2 src=4 sched=dynamic\n"
			      "60 1 0 chunk-begin loop=2 lower=0 upper=1\n"
			      "61 1 0 chunk-end loop=2\n61 1 0 loop-end loop=2\n"
			      "61 1 0 wait-begin kind=barrier\n"
			      "60 2 1 loop-begin loop=2 src=4 sched=dynamic\n"
			      "62 2 1 loop-end loop=2\n62 2 1 wait-begin kind=barrier\n"
			      "63 1 0 wait-end kind=barrier\n63 2 1 wait-end kind=barrier\n" TEAM_END("80"));
	struct grain_loop loop;

	if (!g)
		return;
	grain_graph__loop(g, 0, &loop);
	CHECK(loop.bounds == GRAIN_BOUNDS_HIDDEN && loop.join != GRAIN_NONE && loop.minimum_cores == 0,
	      "hidden: its join is the barrier after it");
	check_joined(g, "0.p0/l0[t0]", "0.p0.0", "0.p0/b0");
	check_joined(g, "0.p0/l0[t1]", "0.p0.1", "0.p0/b0");
	check_joined(g, "0.p0/l0[t0].0", "0.p0/l0[t0]", "0.p0/b0");
	grain_graph__loop(g, 1, &loop);
	CHECK(loop.join == GRAIN_NONE, "an explicit barrier joins no other loop");
	check_joined(g, "0.p0/l1[0,1]", "0.p0.0", NULL);
	check_times(g, "0.p0/l0[t0]", 18, 0, 0);
	check_near(context_at(g, "0.p0/l0[t0]").parallel_benefit, 18.0 / 8, "hidden: benefit of a share");
	check_grain(g, "0.p0/l0[t1]", "lower", "null");
	check_grain(g, "0.p0/l0[t1]", "note", "\"static share, bounds not observable\"");
	check_sound(g, "hidden");
	check_round_trip(g, "hidden");
	grain_graph__free(g);
}

/* A static schedule with a chunk size: each member's chunks are one grain, the first and the stride known. */
static void test_derived(void)
{
	struct grain_graph *g =
		graph_of_text("derived", HEAD TEAM
			      "20 1 0 loop-begin loop=1 src=4 sched=static lower=0 upper=39 step=1 chunk=5 "
			      "stride=10\n"
			      "20 2 1 loop-begin loop=1\n"
			      "20 1 0 chunk-begin loop=1 lower=0 upper=4 count=4\n"
			      "20 2 1 chunk-begin loop=1 lower=5 upper=9 count=4\n"
			      "40 1 0 chunk-end loop=1\n40 1 0 loop-end loop=1\n"
			      "50 2 1 chunk-end loop=1\n50 2 1 loop-end loop=1\n" TEAM_END("50"));
	struct grain_loop loop;

	if (!g)
		return;
	grain_graph__loop(g, 0, &loop);
	CHECK(loop.bounds == GRAIN_BOUNDS_DERIVED && loop.chunk == 5 && loop.minimum_cores == 0 &&
		      loop.iterations == 40,
	      "derived: the loop");
	check_joined(g, "0.p0/l0[t0]", "0.p0.0", "0.p0/b0");
	check_grain(g, "0.p0/l0[t1]", "lower", "5");
	check_grain(g, "0.p0/l0[t1]", "upper", "9");
	check_grain(g, "0.p0/l0[t1]", "chunks", "4");
	check_grain(g, "0.p0/l0[t1]", "stride", "10");
	check_round_trip(g, "derived");
	grain_graph__free(g);
}

/* Unsigned bounds, a range met twice, and loops outside of regions and in a serialized one. */
static void test_names(void)
{
	struct grain_graph *g = graph_of_text(
		"names",
		HEAD "5 1 0 loop-begin loop=1 src=4 unsigned=1 lower=0 upper=18446744073709551615\n"
		     "5 1 0 chunk-begin loop=1 lower=9223372036854775808 upper=18446744073709551615\n"
		     "6 1 0 chunk-end loop=1\n"
		     "6 1 0 chunk-begin loop=1 lower=0 upper=1\n6 1 0 chunk-end loop=1\n"
		     "7 1 0 chunk-begin loop=1 lower=0 upper=1\n8 1 0 chunk-end loop=1\n"
		     "8 1 0 loop-end loop=1\n"
		     "9 1 0 loop-begin loop=2 src=4\n9 1 0 chunk-begin loop=2 lower=-3 upper=-1\n"
		     "9 1 0 create-begin task=1 flags=undeferred\n9 1 0 task-begin task=1\n"
		     "10 1 0 region-begin region=1 src=1 threads=1\n"
		     "10 1 0 member-begin region=1 num=0\n"
		     "11 1 0 loop-begin loop=3 src=4\n11 1 0 chunk-begin loop=3 lower=0 upper=1\n"
		     "12 1 0 chunk-end loop=3\n12 1 0 loop-end loop=3\n"
		     "13 1 0 member-end region=1 num=0\n14 1 0 region-end region=1\n"
		     "15 1 0 task-end task=1\n15 1 0 create-end task=1\n"
		     "16 1 0 chunk-end loop=2\n16 1 0 loop-end loop=2\n"
		     "20 1 0 wait-begin kind=taskwait\n20 1 0 wait-end kind=taskwait\n");
	char *text;

	if (!g)
		return;
	context_at(g, "0/l0[9223372036854775808,18446744073709551615]");
	context_at(g, "0/l0[0,1]");
	context_at(g, "0/l0[0,1;1]");
	context_at(g, "0/l1[-3,-1]");
	/* Children of a chunk are children of the task that executes it: it waits for them. */
	check_joined(g, "0/l1[-3,-1].0", "0/l1[-3,-1]", "0/j0");
	check_joined(g, "0/l1[-3,-1].0.p0/l0[0,1]", "0/l1[-3,-1].0.p0.0", NULL);
	text = json_text(g, 1);
	CHECK(strstr(text, "\"lower\":9223372036854775808,\"upper\":18446744073709551615"),
	      "names: unsigned bounds in JSON");
	free(text);
	check_sound(g, "names");
	check_round_trip(g, "names");
	grain_graph__free(g);
}

static void test_sections(void)
{
	struct grain_graph *g =
		graph_of_text("sections", HEAD TEAM
			      "20 1 0 sections-begin loop=1 src=5\n20 2 1 sections-begin loop=1 src=5\n"
			      "21 1 0 section-begin loop=1 lower=0\n22 2 1 section-begin loop=1 lower=1\n"
			      "32 2 1 section-end loop=1\n"
			      "33 2 1 section-begin loop=1 lower=2 upper=4\n"
			      "41 1 0 section-end loop=1\n42 1 0 sections-end loop=1\n"
			      "42 1 0 wait-begin kind=barrier-implicit\n"
			      "43 2 1 section-end loop=1\n43 2 1 sections-end loop=1\n"
			      "43 2 1 wait-begin kind=barrier-implicit\n"
			      "50 1 0 wait-end kind=barrier-implicit\n"
			      "50 2 1 wait-end kind=barrier-implicit\n" TEAM_END("60"));
	json_t *summary, *row;

	if (!g)
		return;
	check_joined(g, "0.p0/x0[0]", "0.p0.0", "0.p0/b0");
	check_joined(g, "0.p0/x0[1]", "0.p0.1", "0.p0/b0");
	check_joined(g, "0.p0/x0[2,4]", "0.p0.1", "0.p0/b0");
	check_near(context_at(g, "0.p0/x0[0]").parallel_benefit, 20.0 / (1 + 8), "sections: benefit");
	check_near(context_at(g, "0.p0/x0[1]").load_balance, 20.0 / 20, "sections: balance");
	summary = summary_of(g);
	row = json_array_get(json_object_get(summary, "loops"), 0);
	check_json(row, "kind", "\"sections\"", "the sections' row");
	check_json(row, "id", "\"0.p0/x0\"", "the sections' row");
	check_json(row, "chunks", "3", "the sections' row");
	json_decref(summary);
	check_round_trip(g, "sections");
	grain_graph__free(g);
}

/* The loop's join is the region's end, where a combined construct has one only; nowait has none. */
static void test_joins(void)
{
	struct grain_graph *g =
		graph_of_text("joins", HEAD TEAM
			      "20 1 0 loop-begin loop=1 src=4\n21 1 0 chunk-begin loop=1 lower=0 upper=0\n"
			      "25 1 0 create-begin task=1 src=2 flags=deferred\n26 1 0 create-end task=1\n"
			      "30 1 0 chunk-end loop=1\n30 1 0 loop-end loop=1\n"
			      "20 2 1 loop-begin loop=1 src=4\n30 2 1 loop-end loop=1\n"
			      "31 1 0 wait-begin kind=taskwait\n32 1 0 task-begin task=1\n"
			      "36 1 0 task-end task=1\n37 1 0 wait-end kind=taskwait\n"
			      "40 1 0 loop-begin loop=2 src=4\n41 1 0 chunk-begin loop=2 lower=5 upper=5\n"
			      "50 1 0 chunk-end loop=2\n52 1 0 loop-end loop=2\n"
			      "40 2 1 loop-begin loop=2 src=4\n44 2 1 loop-end loop=2\n" TEAM_END("60"));

	if (!g)
		return;
	check_joined(g, "0.p0/l0[0,0]", "0.p0.0", NULL);
	check_joined(g, "0.p0/l0[0,0].0", "0.p0/l0[0,0]", "0.p0.0/j0");
	check_joined(g, "0.p0/l1[5,5]", "0.p0.0", "0.p0/b0");
	/* Member 1 has no chunk: the median of 0 and 9. */
	check_near(context_at(g, "0.p0/l1[5,5]").load_balance, 2, "joins: a member without a chunk counts");
	check_round_trip(g, "joins");
	grain_graph__free(g);
}

int main(void)
{
	test_dynamic();
	test_minimum_cores();
	test_hidden();
	test_derived();
	test_names();
	test_sections();
	test_joins();
	CHECK_DONE();
}
