/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles of the MIR runtime, written by hand; every expected number follows
 * from the schedule that they were written from.
 */
#include "tests/unit/graph_json.h"

#include <errno.h>

#define HEAD                                                                                                 \
	"task,parent,joins_at,cpu_id,child_number,num_children,exec_cycles,creation_cycles,overhead_cycles," \
	"queue_size,create_instant,exec_end_instant,tag,metadata,outline_function,wait_instants\n"
#define LEAF ",0x1,NA,0x401000,[0]\n"

static struct grain_graph *load(const char *path)
{
	struct grain_load_opts opts = {.keep_events = true};
	struct grain_error err = {{0}};
	struct grain_graph *g = NULL;

	CHECK(grain_graph__load(path, &opts, &g, &err) == 0, "%s loads", path);
	if (!g)
		printf("# %s\n", err.text);
	return g;
}

static void check_span(const struct grain_graph *g, const char *id, uint64_t start, uint64_t end)
{
	struct grain_context c = context_at(g, id);

	CHECK(c.start_ns == start && c.end_ns == end, "%s runs from %llu to %llu", id,
	      (unsigned long long)start, (unsigned long long)end);
	if (c.start_ns != start || c.end_ns != end)
		printf("# got %llu to %llu\n", (unsigned long long)c.start_ns, (unsigned long long)c.end_ns);
}

static void check_first_fragment(const struct grain_graph *g, const char *id, uint32_t tid, uint16_t cpu)
{
	struct grain_context c = context_at(g, id);
	struct grain_item item = {.tid = GRAIN_NONE};

	if (c.item_count)
		grain_graph__item(g, c.first_item, &item);
	CHECK(item.tid == tid && item.cpu == cpu, "%s runs on thread %u, CPU %u", id, tid, cpu);
}

/*
 * Task 1 is the only member; 2 makes 3 and 4, 3 makes 5 and 6. On CPU 0 all but
 * 4 and 6, each in the wait of the one that made it.
 */
static void test_tasks(void)
{
	struct grain_graph *g = load("tests/data/mir_fib.csv");
	const struct grain_info *info;
	struct grain_problem_summary p;
	json_t *summary;

	if (!g)
		return;
	/* exec is exec_cycles - overhead_cycles. wait is overhead_cycles - the creations of the children. */
	check_times(g, "0", 0, 0, 0);
	check_times(g, "0.p0.0", 810, 0, 150);
	check_times(g, "0.p0.0.0", 790, 40, 100);
	check_times(g, "0.p0.0.0.0", 750, 60, 200);
	check_times(g, "0.p0.0.0.1", 600, 50, 0);
	check_times(g, "0.p0.0.0.0.0", 2000, 100, 0);
	check_times(g, "0.p0.0.0.0.1", 1000, 150, 0);
	check_joined(g, "0.p0.0.0.0.1", "0.p0.0.0.0", "0.p0.0.0.0/j0");
	check_joined(g, "0.p0.0.0.0", "0.p0.0.0", "0.p0.0.0/j0");
	check_joined(g, "0.p0.0.0", "0.p0.0", "0.p0.0/j0");
	check_near(context_at(g, "0.p0.0.0").parallel_benefit, 790.0 / (40 + 150), "benefit of 2");
	check_near(context_at(g, "0.p0.0.0.0").parallel_benefit, 750.0 / (60 + 50), "benefit of 3");
	check_near(context_at(g, "0.p0.0.0.1").parallel_benefit, 600.0 / (50 + 50), "benefit of 4");
	check_near(context_at(g, "0.p0.0.0.0.0").parallel_benefit, 2000.0 / (100 + 100), "benefit of 5");
	check_near(context_at(g, "0.p0.0.0.0.1").parallel_benefit, 1000.0 / (150 + 100), "benefit of 6");
	check_near(context_at(g, "0.p0.0.0.0.0").load_balance, 2000.0 / 1500, "load balance of 5 and 6");
	/* The heaviest path through 3 is 300, 5 and 300; 4 has 600. */
	check_near(context_at(g, "0.p0.0.0.1").load_balance, 750.0 / 1600, "load balance of 3 and 4");
	/* 500 + (200 + (300 + 2000 + 300) + 300) + 200 */
	check_totals(g, "fib", 810 + 790 + 750 + 600 + 2000 + 1000, 3800);
	check_span(g, "0.p0.0", 1000, 6200);
	check_span(g, "0.p0.0.0", 1700, 5900);
	check_span(g, "0.p0.0.0.0", 2350, 5550);
	check_span(g, "0.p0.0.0.1", 2200, 2800);
	check_span(g, "0.p0.0.0.0.0", 3150, 5150);
	check_span(g, "0.p0.0.0.0.1", 3100, 4100);
	check_first_fragment(g, "0.p0.0.0.0.0", 0, 0);
	check_first_fragment(g, "0.p0.0.0.0.1", 1, 1);
	info = grain_graph__info(g);
	CHECK(info->cycles && info->times_derived && !strcmp(info->source, "mir") && info->threads == 2,
	      "it says what it is, and that two workers ran it");
	grain_graph__problem(g, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, &p);
	CHECK(!p.available && p.why[0], "instantaneous parallelism is absent, with a reason");
	check_near(context_at(g, "0.p0.0.0.0.0").instantaneous_parallelism, NAN, "its value");
	summary = summary_of(g);
	check_json(summary, "unit", "\"cycles\"", "summary");
	check_json(summary, "times", "\"derived\"", "summary");
	check_json(json_object_get(summary, "conservation"), "claimed", "false", "summary");
	json_decref(summary);
	check_grain(g, "0.p0.0.0.0.1", "source", "\"0x401240\"");
	check_round_trip(g, "fib");
	grain_graph__free(g);
}

/* Worker 0 gets 0-3 and 8-9, worker 1 gets 4-7; the other idle task is only a worker without work. */
static void test_loop(void)
{
	struct grain_graph *g = load("tests/data/mir_loop.csv");
	struct grain_loop loop;

	if (!g)
		return;
	CHECK(grain_graph__context_count(g) == 6 && grain_graph__loop_count(g) == 1,
	      "six contexts, one loop");
	check_times(g, "0", 400, 0, 0);
	check_times(g, "0.p0.0", 120, 0, 430);
	check_times(g, "0.p0.1", 230, 0, 120);
	check_times(g, "0.p0/l0[0,3]", 400, 0, 0);
	check_times(g, "0.p0/l0[8,9]", 200, 0, 0);
	check_times(g, "0.p0/l0[4,7]", 500, 0, 0);
	check_joined(g, "0.p0/l0[8,9]", "0.p0.0", "0.p0/b0");
	/* Creation and execution of chunk_start or _continuation, and the creation of the chunk. */
	CHECK(context_at(g, "0.p0/l0[0,3]").bookkeeping_ns == 20 + 30 + 10,
	      "book-keeping of the first chunk");
	CHECK(context_at(g, "0.p0/l0[8,9]").bookkeeping_ns == 5 + 15 + 10, "book-keeping of the second");
	CHECK(context_at(g, "0.p0/l0[4,7]").bookkeeping_ns == 25 + 35 + 15, "book-keeping of the other's");
	CHECK(context_at(g, "0.p0.0").bookkeeping_ns == 60 + 30 + 15, "book-keeping of the member");
	check_near(context_at(g, "0.p0/l0[0,3]").parallel_benefit, 400.0 / (60 + 430 / 2.0),
		   "benefit of 0-3");
	check_near(context_at(g, "0.p0/l0[8,9]").parallel_benefit, 200.0 / (30 + 430 / 2.0),
		   "benefit of 8-9");
	check_near(context_at(g, "0.p0/l0[4,7]").parallel_benefit, 500.0 / (75 + 120), "benefit of 4-7");
	grain_graph__loop(g, 0, &loop);
	check_near(loop.load_balance, 500 / 550.0, "load balance");
	CHECK(loop.minimum_cores == 2 && loop.members == 2 && loop.chunks == 3 &&
		      !strcmp(loop.schedule, "dynamic"),
	      "the loop");
	/* 300, member 0's 100 and 20 with its chunks, 100; the other member has 730. */
	check_totals(g, "loop", 400 + 120 + 230 + 1100, 300 + 500 + 230 + 100);
	/* What the runtime did between two chunks is in no task's time: only the last ones' are exact. */
	check_span(g, "0.p0/l0[4,7]", 1685, 2185);
	CHECK(context_at(g, "0.p0/l0[8,9]").end_ns <= 2250 && context_at(g, "0").end_ns == 2885, "ends");
	check_round_trip(g, "loop");
	grain_graph__free(g);
}

/* Two waits and one sum of waiting: what each had is not known, what all had is. */
static void test_two_waits(void)
{
	struct grain_graph *g =
		graph_of_text("waits", HEAD "1,0,0,0,1,2,1000,10,350,0,0,5000,0x1,NA,0x401000,[0;800;400]\n"
					    "2,1,0,0,1,0,300,50,0,0,150,4000" LEAF
					    "3,1,1,0,2,0,200,60,0,0,560,4900" LEAF);

	if (!g)
		return;
	/* 350 = 50 + 60 + the two waits; the fragments are what is left of 1000. */
	check_times(g, "0.0", 650, 10, 240);
	check_joined(g, "0.0.0", "0.0", "0.0/j0");
	check_joined(g, "0.0.1", "0.0", "0.0/j1");
	check_near(context_at(g, "0.0.0").parallel_benefit, NAN, "the share of the first wait is not known");
	check_near(context_at(g, "0.0.1").parallel_benefit, NAN, "nor of the second");
	check_near(context_at(g, "0.0.0").load_balance, 1, "a metric that does not need it");
	CHECK(grain_graph__truth(g)->incomplete_grains == 0, "nothing is incomplete");
	check_round_trip(g, "waits");
	grain_graph__free(g);
	/* No waiting at all: both are known. */
	g = graph_of_text("no waiting",
			  HEAD "1,0,0,0,1,2,1000,10,110,0,0,5000,0x1,NA,0x401000,[0;800;400]\n"
			       "2,1,0,0,1,0,300,50,0,0,150,4000" LEAF "3,1,1,0,2,0,200,60,0,0,560,4900" LEAF);
	if (!g)
		return;
	check_near(context_at(g, "0.0.1").parallel_benefit, 200.0 / 60, "no waiting: nothing to divide");
	grain_graph__free(g);
}

/* Columns in another order and more of them, quoted, as the profile's own scripts write them. */
static void test_processed(void)
{
	struct grain_graph *g = graph_of_text(
		"processed",
		"\"lineage\",\"parent\",\"task\",\"joins_at\",\"cpu_id\",\"child_number\",\"num_children\","
		"\"exec_cycles\",\"creation_cycles\",\"overhead_cycles\",\"create_instant\",\"exec_end_"
		"instant\",\"tag\",\"metadata\",\"outline_function\",\"wait_instants\",\"source_line\"\r\n"
		"\"R-1\",0,7,0,3,1,0,1e+05,20,0,0,2e+05,\"work, "
		"\"\"big\"\"\",NA,4204848,\"[0]\",\"a.c:12\"\r\n"
		"NA,NA,8,0,3,1,0,100,20,0,0,100,NA,NA,4204848,\"[0]\",\"a.c:12\"\r\n");

	if (!g)
		return;
	check_times(g, "0.0", 100000, 20, 0);
	check_grain(g, "0.0", "source", "\"a.c:12\"");
	CHECK(grain_graph__context_count(g) == 2, "the background task is none");
	grain_graph__free(g);
}

/* A header alone is a program that did nothing. */
static void test_empty(void)
{
	struct grain_graph *g = graph_of_text("empty", HEAD);

	CHECK(g && grain_graph__context_count(g) == 0 && grain_graph__info(g)->threads == 1, "nothing ran");
	grain_graph__free(g);
}

/* Members that share a CPU, chunks without a member, a region after a region. */
static void test_odd_shapes(void)
{
	struct grain_graph *g =
		graph_of_text("one CPU", HEAD "1,0,0,0,1,0,100,1,0,0,0,100,GOMP_parallel_task,NA,0x1,[0]\n"
					      "2,0,0,0,2,0,100,1,0,0,0,200,GOMP_parallel_task,NA,0x1,[0]\n"
					      "3,0,1,1,3,0,300,1,0,0,0,600,GOMP_parallel_task,NA,0x1,[0]\n");

	if (g) {
		check_times(g, "0.p0.0", 100, 0, 0);
		check_times(g, "0.p0.1", 100, 0, 0);
		check_times(g, "0.p1.0", 300, 0, 0);
		check_totals(g, "one CPU", 500, 400);
	}
	grain_graph__free(g);
	g = graph_of_text("bare chunks",
			  HEAD "1,0,0,0,1,0,70,5,0,0,0,100,GOMP_for_guided,chunk_0_5,0x1,[0]\n"
			       "2,0,0,1,2,0,80,6,0,0,0,110,GOMP_for_guided,chunk_9_5,0x1,[0]\n"
			       "3,0,1,1,3,0,90,7,0,0,0,300,GOMP_for_guided,chunk_-2_2,0x1,[0]\n");
	if (g) {
		check_times(g, "0.p0/l0[0,4]", 70, 0, 0);
		check_times(g, "0.p0/l0[9,6]", 80, 0, 0);
		check_times(g, "0.p1/l0[-2,1]", 90, 0, 0);
		check_joined(g, "0.p0/l0[0,4]", "0.p0.0", "0.p0/b0");
		CHECK(context_at(g, "0.p0/l0[0,4]").bookkeeping_ns == 5, "its creation is its book-keeping");
		check_near(context_at(g, "0.p0/l0[0,4]").parallel_benefit, NAN, "nobody's wait is known");
	}
	grain_graph__free(g);
}

/* An error that names the line; with keep_going the rest is analysed. */
static void hostile(const char *name, const char *text, unsigned line, const char *word)
{
	char path[] = "/tmp/graind-unit-XXXXXX", where[32];
	struct grain_load_opts opts = {.keep_going = true};
	struct grain_error err = {{0}};
	struct grain_graph *g = NULL;
	FILE *f = fdopen(mkstemp(path), "w");
	int error;

	fputs(text, f);
	fclose(f);
	snprintf(where, sizeof(where), "line %u:", line);
	error = grain_graph__load(path, NULL, &g, &err);
	CHECK(error == -EBADMSG && !g, "%s: is an error", name);
	CHECK(strstr(err.text, where) && strstr(err.text, word), "%s: names line %u and '%s'", name, line,
	      word);
	if (!strstr(err.text, where) || !strstr(err.text, word))
		printf("# got %s\n", err.text);
	if (line > 1) {
		error = grain_graph__load(path, &opts, &g, &err);
		CHECK(error == 0 && g && grain_graph__info(g)->damaged && grain_graph__truth(g)->dropped > 0,
		      "%s: the rest is analysed, the damage counted", name);
		if (error)
			printf("# %d %s\n", error, err.text);
		grain_graph__free(g);
	}
	unlink(path);
}

static void test_hostile(void)
{
	static const char good[] = "1,0,0,0,1,0,100,1,0,0,0,100" LEAF;
	char text[4096];

	hostile("a column is missing", "task,parent,joins_at,exec_cycles\n1,0,0,5\n", 1, "cpu_id");
	hostile("a column twice", "task,task,exec_cycles,joins_at\n", 1, "twice");
	hostile("too few fields", HEAD "1,0,0,0,1,0\n", 2, "6 fields");
	hostile("too many fields", HEAD "1,0,0,0,1,0,100,1,0,0,0,100,0x1,NA,0x1,[0],9\n", 2, "17 fields");
	hostile("no number", HEAD "1,0,0,0,1,0,many,1,0,0,0,100" LEAF, 2, "exec_cycles");
	hostile("a negative number", HEAD "1,0,0,0,1,0,-5,1,0,0,0,100" LEAF, 2, "exec_cycles");
	hostile("2^63 cycles", HEAD "1,0,0,0,1,0,9223372036854775808,1,0,0,0,100" LEAF, 2, "exec_cycles");
	hostile("1e99 cycles", HEAD "1,0,0,0,1,0,1e+99,1,0,0,0,100" LEAF, 2, "exec_cycles");
	hostile("a CPU of 2^16", HEAD "1,0,0,65536,1,0,100,1,0,0,0,100" LEAF, 2, "cpu_id");
	hostile("a quote that does not end", HEAD "\"1,0,0,0,1,0,100,1,0,0,0,100" LEAF, 2, "quoted");
	hostile("a quote in the middle", HEAD "1\"1,0,0,0,1,0,100,1,0,0,0,100" LEAF, 2, "quote");
	hostile("no list of waits", HEAD "1,0,0,0,1,0,100,1,0,0,0,100,0x1,NA,0x1,7\n", 2, "wait_instants");
	hostile("a wait after the end", HEAD "1,0,0,0,1,0,100,1,0,0,0,100,0x1,NA,0x1,[0;101]\n", 2,
		"wait_instants");
	hostile("more overhead than time", HEAD "1,0,0,0,1,0,100,1,101,0,0,100" LEAF, 2, "overhead");
	hostile("it ends in a line", HEAD "1,0,0,0,1,0,100,1,0,0", 2, "ends inside");
	snprintf(text, sizeof(text), "%s%s%s", HEAD, good, good);
	hostile("a task twice", text, 3, "twice");
	snprintf(text, sizeof(text), "%s%s2,9,0,0,1,0,100,1,0,0,0,100%s", HEAD, good, LEAF);
	hostile("an unknown parent", text, 3, "parent 9 of task 2");
	hostile("its own parent", HEAD "1,1,0,0,1,0,100,1,0,0,0,100" LEAF, 2, "its own parent");
	hostile("ancestors in a circle",
		HEAD "1,2,0,0,1,1,100,1,1,0,0,100,0x1,NA,0x1,[0;50]\n2,1,0,0,1,1,100,1,1,0,0,100,0x1,NA,0x1,["
		     "0;50]\n",
		2, "its own ancestors");
	hostile("wrong number of children", HEAD "1,0,0,0,1,3,100,1,0,0,0,100" LEAF, 2, "has 3 children; 0");
	hostile("joined by a wait that was not",
		HEAD "1,0,0,0,1,1,100,1,10,0,0,100,0x1,NA,0x1,[0;50]\n2,1,2,0,1,0,10,1,0,0,20,90" LEAF, 3,
		"joins at wait 2");
	hostile("joined earlier than an older sibling",
		HEAD "1,0,0,0,1,2,100,1,10,0,0,100,0x1,NA,0x1,[0;50;90]\n2,1,1,0,1,0,10,1,0,0,20,60" LEAF
		     "3,1,0,0,2,0,10,1,0,0,30,70" LEAF,
		4, "joins at wait 0");
	hostile("a chunk in a chunk",
		HEAD "1,0,0,0,1,1,100,1,10,0,0,100,0x1,chunk_0_4,0x1,[0;50]\n"
		     "2,1,0,0,1,0,10,1,0,0,20,60,0x1,chunk_0_1,0x1,[0]\n",
		3, "chunk inside a chunk");
	hostile("creations longer than the task",
		HEAD "1,0,0,0,1,1,100,1,10,0,0,100,0x1,NA,0x1,[0;50]\n2,1,0,0,1,0,10,900,0,0,20,60" LEAF, 2,
		"creating its children");
}

/* Sums of numbers that are good by themselves. */
static void test_overflow(void)
{
	enum { ROWS = 3000 };
	static const char *const tags[] = {"0x1,NA", "0x1,chunk_start", "GOMP_parallel_task,NA",
					   "0x1,chunk_1_2"};

	for (size_t k = 0; k < sizeof(tags) / sizeof(tags[0]); k++) {
		char *text = malloc(200 * ROWS), *at = text;

		for (int deep = 0; deep < 2; deep++) {
			struct grain_load_opts opts = {.keep_going = true};
			struct grain_graph *g = NULL;
			struct grain_error err = {{0}};
			char path[] = "/tmp/graind-unit-XXXXXX";
			FILE *f = fdopen(mkstemp(path), "w");
			int error;

			at = text + sprintf(text, "%s", HEAD);
			for (int i = 1; i <= ROWS; i++)
				at += sprintf(at,
					      "%d,%d,0,0,%d,%d,9007199254740992,9007199254740992,0,0,"
					      "9007199254740992,9007199254740992,%s,0x1,[0]\n",
					      i, deep ? i - 1 : 0, deep ? 1 : i, deep && i < ROWS, tags[k]);
			fputs(text, f);
			fclose(f);
			error = grain_graph__load(path, &opts, &g, &err);
			CHECK(error == 0 || (error == -EBADMSG && strstr(err.text, "line ")),
			      "%d times 2^53 cycles, %s: is %s", ROWS, tags[k],
			      error ? "an error that names the line" : "a graph");
			grain_graph__free(g);
			unlink(path);
		}
		free(text);
	}
}

/* Times that no schedule can have: the structure and the durations are right, only the times give way. */
static void test_impossible_times(void)
{
	struct grain_graph *g =
		graph_of_text("impossible", HEAD "1,0,0,0,1,2,1000,10,350,0,0,10,0x1,NA,0x401000,[0;800]\n"
						 "2,1,0,0,1,0,300,50,0,0,150,9007199254740992" LEAF
						 "3,1,0,0,2,0,200,60,0,0,560,0" LEAF);

	if (!g)
		return;
	check_times(g, "0.0", 650, 10, 240);
	check_times(g, "0.0.0", 300, 50, 0);
	check_near(context_at(g, "0.0.1").parallel_benefit, 200.0 / (60 + 120), "benefit");
	CHECK(context_at(g, "0.0.0").start_ns >= context_at(g, "0.0").start_ns, "a child after its parent");
	check_sound(g, "impossible");
	grain_graph__free(g);
}

/* No stack grows with the levels. */
static void test_deep(void)
{
	enum { LEVELS = 300000 };
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	FILE *f = fdopen(mkstemp(path), "w");

	fputs(HEAD, f);
	for (int i = 1; i <= LEVELS; i++)
		fprintf(f, "%d,%d,0,%d,1,%d,10,2,%d,0,4,%d,0x1,NA,0x1,%s\n", i, i - 1, i % 4, i < LEVELS,
			i < LEVELS ? 3 : 0, 100 * LEVELS - i * 10, i < LEVELS ? "[0;8]" : "[0]");
	fclose(f);
	CHECK(grain_graph__load(path, NULL, &g, &err) == 0 && grain_graph__totals(g)->tasks == LEVELS,
	      "%d levels", LEVELS);
	if (g)
		/* Of 10, 2 are creation and 1 is waiting; 3 pass between the creation and the wait. */
		CHECK(grain_graph__totals(g)->work_ns == 7ull * LEVELS + 3 &&
			      grain_graph__totals(g)->span_ns == 4ull * LEVELS + 6,
		      "their work and their span");
	else
		printf("# %s\n", err.text);
	grain_graph__free(g);
	unlink(path);
}

int main(void)
{
	test_tasks();
	test_loop();
	test_two_waits();
	test_processed();
	test_empty();
	test_odd_shapes();
	test_hostile();
	test_impossible_times();
	test_overflow();
	test_deep();
	CHECK_DONE();
}
