/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters: read, written again, summed over own fragments; what follows from them and what is absent. */
#include "analysis/event/event_build.h"
#include "tests/unit/graph_json.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

#include <errno.h>
#include <fcntl.h>

#define CYCLES "@counter 0 name=PAPI_TOT_CYC\n"
#define STALLS "@counter 7 name=PAPI_RES_STL\n"

/*
 * One thread, task 2 made by task 1 and run in its wait. Of the initial task
 * count [10,20) and [100,110), of task 1 [30,40), [45,50) and [80,90).
 */
#define NESTED                                                                                               \
	"0 1 0 create-begin task=1 src=2 flags=deferred c0=100 c7=10\n"                                      \
	"10 1 0 create-end task=1 c0=150 c7=12\n20 1 0 wait-begin kind=taskwait c0=250 c7=32\n"              \
	"30 1 0 task-begin task=1 c7=40 c0=300\n"                                                            \
	"40 1 0 create-begin task=2 src=2 flags=deferred c0=400 c7=45\n"                                     \
	"45 1 0 create-end task=2 c0=450 c7=46\n50 1 0 wait-begin kind=taskwait c0=500 c7=56\n"              \
	"55 1 0 task-begin task=2 c0=600 c7=60\n"                                                            \
	"60 1 0 sample ip=0x1 c0=5\n75 1 0 task-end task=2 c0=900 c7=180\n"                                  \
	"80 1 0 wait-end kind=taskwait c0=950 c7=190\n90 1 0 task-end task=1 c0=1150 c7=210\n"               \
	"100 1 0 wait-end kind=taskwait c0=1200 c7=220\n110 1 0 thread-end c0=1300 c7=230\n"

static void check_sum(const struct grain_graph *g, const char *id, size_t counter, bool known, uint64_t sum)
{
	uint64_t got = 1;
	bool is_known = grain_graph__counter(g, context_named(g, id), counter, &got);

	CHECK(is_known == known && got == sum, "counter %zu of %s is %llu", counter, id,
	      (unsigned long long)sum);
	if (is_known != known || got != sum)
		printf("# got %d %llu\n", is_known, (unsigned long long)got);
}

static void test_sums(void)
{
	struct grain_graph *g = graph_of_text("nested", GRAPH_HEAD CYCLES STALLS NESTED);
	struct grain_problem_summary p;
	json_t *summary, *definition;
	uint64_t sum, instances;

	if (!g)
		return;
	CHECK(grain_graph__counter_count(g) == 2, "two counters");
	CHECK_STR(grain_graph__counter_name(g, 0), "PAPI_TOT_CYC", "the first counter's name");
	CHECK_STR(grain_graph__counter_name(g, 1), "PAPI_RES_STL", "the second counter's name");
	/* 250 - 150 + 1300 - 1200; 32 - 12 + 230 - 220 */
	check_sum(g, "0", 0, true, 200);
	check_sum(g, "0", 1, true, 30);
	/* 400 - 300 + 500 - 450 + 1150 - 950; 45 - 40 + 56 - 46 + 210 - 190 */
	check_sum(g, "0.0", 0, true, 350);
	check_sum(g, "0.0", 1, true, 35);
	check_sum(g, "0.0.0", 0, true, 300);
	check_sum(g, "0.0.0", 1, true, 120);
	/* (350 - 35) / 35, (300 - 120) / 120 */
	check_near(context_at(g, "0.0").memory_hierarchy_utilization, 9, "utilization of task 1");
	check_near(context_at(g, "0.0.0").memory_hierarchy_utilization, 1.5, "utilization of task 2");
	CHECK(isnan(context_at(g, "0.0").cache_miss_ratio), "no cache miss ratio");
	grain_graph__problem(g, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION, &p);
	CHECK(p.available && p.threshold == 2 && p.grains == 1 && p.percent == 50,
	      "one of two grains is below 2");
	CHECK(context_at(g, "0.0.0").problems & 1u << GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
	      "task 2 is flagged");
	grain_graph__problem(g, GRAIN_PROBLEM_CACHE_MISS_RATIO, &p);
	CHECK(!p.available, "the cache miss ratio is absent");
	CHECK_STR(p.why, "no cache miss and no cache reference counter in this capture", "and why");
	CHECK(grain_graph__profile_counter(g, 0, 0, &sum, &instances) && sum == 650 && instances == 2,
	      "cycles of the definition");
	CHECK(grain_graph__profile_counter(g, 0, 1, &sum, &instances) && sum == 155 && instances == 2,
	      "stalls of the definition");
	check_grain(g, "0.0", "counters", "{\"PAPI_TOT_CYC\":350,\"PAPI_RES_STL\":35}");
	check_grain(g, "0.0", "cache_miss_ratio", "null");
	summary = summary_of(g);
	definition = json_array_get(json_object_get(summary, "definitions"), 0);
	check_json(definition, "counters",
		   "{\"PAPI_TOT_CYC\":{\"sum\":650,\"instances\":2},\"PAPI_RES_STL\":{\"sum\":155,"
		   "\"instances\":2}}",
		   "the definition");
	json_decref(summary);
	check_round_trip(g, "nested");
	grain_graph__free(g);
}

static void test_migration(void)
{
	/* Values are each thread's own: 1100 - 1000 on thread 1, 90 - 50 on thread 2. */
	struct grain_graph *g = graph_of_text(
		"migration", GRAPH_HEAD CYCLES
		"0 1 0 region-begin region=1 src=1 threads=2\n0 1 0 member-begin region=1 num=0 c0=2\n"
		"0 2 1 member-begin region=1 num=1 c0=3\n0 2 1 wait-begin kind=barrier-implicit c0=4\n"
		"5 1 0 create-begin task=1 src=2 flags=deferred,untied c0=900\n6 1 0 create-end task=1 "
		"c0=910\n"
		"7 1 0 wait-begin kind=barrier-implicit c0=915\n10 1 0 task-begin task=1 c0=1000\n"
		"20 1 0 task-suspend task=1 c0=1100\n30 2 1 task-switch task=1 c0=50\n"
		"45 2 1 task-end task=1 c0=90\n50 1 0 wait-end kind=barrier-implicit c0=1200\n"
		"50 1 0 member-end region=1 num=0 c0=1201\n50 2 1 wait-end kind=barrier-implicit c0=95\n"
		"50 2 1 member-end region=1 num=1 c0=95\n52 1 0 region-end region=1\n");

	if (!g)
		return;
	check_sum(g, "0.p0.0.0", 0, true, 140);
	/* 900 - 2, 915 - 910, and 1201 - 1200 at its end. */
	check_sum(g, "0.p0.0", 0, true, 904);
	/* What begins and ends at one event needs no value there. */
	check_sum(g, "0", 0, true, 0);
	check_round_trip(g, "migration");
	grain_graph__free(g);
}

static void test_unknown(void)
{
	/* Task 2's end has no c0, and its c7 went back; task 1 lacks c7 where it first stops. */
	struct grain_graph *g = graph_of_text(
		"unknown", GRAPH_HEAD CYCLES STALLS
		"0 1 0 create-begin task=1 src=2 flags=deferred c0=100 c7=10\n"
		"10 1 0 create-end task=1 c0=150 c7=12\n20 1 0 wait-begin kind=taskwait c0=250 c7=32\n"
		"30 1 0 task-begin task=1 c0=300 c7=40\n"
		"40 1 0 create-begin task=2 src=2 flags=deferred c0=400\n"
		"45 1 0 create-end task=2 c0=450 c7=46\n50 1 0 wait-begin kind=taskwait c0=500 c7=56\n"
		"55 1 0 task-begin task=2 c0=600 c7=60\n75 1 0 task-end task=2 c7=30\n"
		"80 1 0 wait-end kind=taskwait c0=950 c7=190\n90 1 0 task-end task=1 c0=1150 c7=210\n"
		"100 1 0 wait-end kind=taskwait c0=1200 c7=220\n110 1 0 thread-end c0=1300 c7=230\n");
	struct grain_problem_summary p;
	uint64_t sum, instances;

	if (!g)
		return;
	check_sum(g, "0", 0, true, 200);
	check_sum(g, "0.0", 0, true, 350);
	check_sum(g, "0.0", 1, false, 0);
	check_sum(g, "0.0.0", 0, false, 0);
	check_sum(g, "0.0.0", 1, false, 0);
	check_grain(g, "0.0.0", "counters", "{\"PAPI_TOT_CYC\":null,\"PAPI_RES_STL\":null}");
	CHECK(grain_graph__profile_counter(g, 0, 0, &sum, &instances) && sum == 350 && instances == 1,
	      "sum of what is known");
	CHECK(!grain_graph__profile_counter(g, 0, 1, &sum, &instances) && instances == 0, "known of none");
	grain_graph__problem(g, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION, &p);
	CHECK(!p.available && strstr(p.why, "known"), "no grain has both: absent");
	check_round_trip(g, "unknown");
	grain_graph__free(g);
}

/* A task-switch event of thread 2 ends a fragment on thread 1: what thread 1 counted then is not known. */
static void test_taken_away(void)
{
	struct grain_graph *g = graph_of_text(
		"taken away", GRAPH_HEAD CYCLES
		"0 1 0 create-begin task=1 src=2 flags=deferred,untied c0=1\n1 1 0 create-end task=1 c0=2\n"
		"2 1 0 wait-begin kind=taskwait c0=3\n4 1 0 task-begin task=1 c0=4\n"
		"9 2 1 task-switch task=1 c0=500\n12 2 1 task-end task=1 c0=600\n"
		"13 1 0 wait-end kind=taskwait c0=10\n15 1 0 thread-end c0=12\n");

	if (!g)
		return;
	check_sum(g, "0.0", 0, false, 0);
	check_sum(g, "0", 0, true, 3);
	grain_graph__free(g);
}

/* Chunks, and a region's members. */
static void test_loop(void)
{
	struct grain_graph *g =
		graph_of_text("loop", GRAPH_HEAD
			      "@counter 3 name=\"cache-misses:u\"\n@counter 2 name=Cache-References\n"
			      "0 1 0 loop-begin loop=1 src=1 sched=dynamic c3=0 c2=0\n"
			      "5 1 0 chunk-begin loop=1 lower=0 upper=9 c3=1 c2=10\n"
			      "20 1 0 chunk-end loop=1 c3=5 c2=20\n"
			      "22 1 0 chunk-begin loop=1 lower=10 upper=19 c3=6 c2=21\n"
			      "40 1 0 chunk-end loop=1 c3=7 c2=31\n"
			      "41 1 0 loop-end loop=1 c3=8 c2=33\n50 1 0 thread-end c3=9 c2=99\n");
	struct grain_problem_summary p;

	if (!g)
		return;
	/* (5 - 1) / (20 - 10), (7 - 6) / (31 - 21) */
	check_near(context_at(g, "0/l0[0,9]").cache_miss_ratio, 0.4, "misses of the first chunk");
	check_near(context_at(g, "0/l0[10,19]").cache_miss_ratio, 0.1, "misses of the second chunk");
	check_sum(g, "0", 0, true, 1);
	grain_graph__problem(g, GRAIN_PROBLEM_CACHE_MISS_RATIO, &p);
	CHECK(p.available && p.grains == 1 && p.threshold == 0.3, "one chunk is above 0.3");
	grain_graph__problem(g, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION, &p);
	CHECK_STR(p.why, "no cycle and no stall counter in this capture", "nothing of cycles");
	check_round_trip(g, "loop");
	grain_graph__free(g);
}

/* What the problem says with these counters and settings; "" when it is available. */
static void check_why(const char *counters, const char *setting, const char *second,
		      enum grain_problem problem, const char *why)
{
	struct grain_problem_summary p = {0};
	struct grain_settings settings;
	struct grain_graph *g;
	char text[2048], name[96];

	snprintf(name, sizeof name, "%.*s %s", (int)strcspn(counters, "\n"), counters,
		 setting ? setting : "");
	grain_settings__default(&settings);
	if (setting)
		grain_settings__set(&settings, setting, NULL);
	if (second)
		grain_settings__set(&settings, second, NULL);
	snprintf(text, sizeof text,
		 GRAPH_HEAD "%s0 1 0 create-begin task=1 src=2 flags=deferred\n1 1 0 create-end task=1\n"
			    "2 1 0 wait-begin kind=taskwait\n3 1 0 task-begin task=1 c0=1 c1=2 c2=3\n"
			    "9 1 0 task-end task=1 c0=9 c1=6 c2=10\n9 1 0 wait-end kind=taskwait\n",
		 counters);
	g = graph_of_text_set(name, text, &settings);
	if (!g)
		return;
	grain_graph__problem(g, problem, &p);
	CHECK_STR(p.why, why, "%s: \"%s\"", name, why);
	CHECK(p.available == !*why, "%s: available or not", name);
	grain_graph__free(g);
}

#define C0(name) "@counter 0 name=" name "\n"
#define C1(name) "@counter 1 name=" name "\n"
#define C2(name) "@counter 2 name=" name "\n"

static void test_reasons(void)
{
	const enum grain_problem mhu = GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION,
				 cmr = GRAIN_PROBLEM_CACHE_MISS_RATIO;

	check_why(C0("cpu-cycles") C1("b") C2("stalled-cycles-backend:u"), NULL, NULL, mhu, "");
	check_why(C0("cycles") C1("a") C2("b"), NULL, NULL, mhu, "no stall counter in this capture");
	check_why(C0("PAPI_RES_STL") C1("a") C2("b"), NULL, NULL, mhu, "no cycle counter in this capture");
	check_why(C0("my-cycles") C1("my-stalls") C2("b"), "cycle_counter=my-cycles",
		  "stall_counter=my-stalls", mhu, "");
	check_why(C0("cycles") C1("PAPI_RES_STL") C2("b"), "cycle_counter=other", NULL, mhu,
		  "no counter \"other\" in this capture");
	check_why(C0("cycles") C1("PAPI_RES_STL") C2("b"), "stall_counter=other", NULL, mhu,
		  "no counter \"other\" in this capture");
	check_why(C0("PAPI_L2_TCM") C1("PAPI_L2_TCA") C2("PAPI_L3_TCM"), NULL, NULL, cmr, "");
	check_why(C0("PAPI_L2_TCM") C1("PAPI_L3_TCA") C2("b"), NULL, NULL, cmr,
		  "no misses and references of the same cache in this capture");
	check_why(C0("PAPI_L2_TCM") C1("a") C2("b"), NULL, NULL, cmr,
		  "no cache reference counter in this capture");
	check_why(C0("PAPI_L2_TCM") C1("PAPI_L3_TCA") C2("b"), "miss_counter=PAPI_L2_TCM",
		  "reference_counter=PAPI_L3_TCA", cmr, "");
}

/* Which counters were chosen: the ratio tells. c0 grows by 8, c1 by 4, c2 by 7. */
static void test_choice(void)
{
	struct grain_settings settings;
	struct grain_graph *g;
	static const struct {
		const char *setting;
		double ratio;
	} cases[] = {{NULL, 4 / 7.0},
		     {"miss_counter=PAPI_L2_TCM", 8 / 7.0},
		     {"reference_counter=PAPI_L2_TCM", 4 / 8.0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		grain_settings__default(&settings);
		if (cases[i].setting)
			grain_settings__set(&settings, cases[i].setting, NULL);
		g = graph_of_text_set("choice",
				      GRAPH_HEAD C0("PAPI_L2_TCM") C1("PAPI_L3_TCM")
					      C2("PAPI_L3_TCA") "0 1 0 create-begin task=1 src=2 "
								"flags=deferred\n1 1 0 create-end task=1\n"
								"2 1 0 wait-begin kind=taskwait\n3 1 0 "
								"task-begin task=1 c0=1 c1=2 c2=3\n"
								"9 1 0 task-end task=1 c0=9 c1=6 c2=10\n9 1 "
								"0 wait-end kind=taskwait\n",
				      &settings);
		if (!g)
			return;
		check_near(context_at(g, "0.0").cache_miss_ratio, cases[i].ratio,
			   cases[i].setting ? cases[i].setting : "usual counters");
		grain_graph__free(g);
	}
}

static void test_odd_values(void)
{
	/* No stalls, more stalls than cycles, no references: nothing to divide, or to believe. */
	struct grain_graph *g = graph_of_text(
		"odd values", GRAPH_HEAD CYCLES STALLS
		"@counter 1 name=cache-misses\n@counter 2 name=cache-references\n"
		"0 1 0 create-begin task=1 src=2 flags=deferred\n1 1 0 create-end task=1\n"
		"1 1 0 create-begin task=2 src=2 flags=deferred\n1 1 0 create-end task=2\n"
		"2 1 0 wait-begin kind=taskwait\n3 1 0 task-begin task=1 c0=0 c7=5 c1=1 c2=3\n"
		"9 1 0 task-end task=1 c0=18446744073709551612 c7=5 c1=9 c2=3\n"
		"9 1 0 task-begin task=2 c0=1 c7=1 c1=0 c2=0\n19 1 0 task-end task=2 c0=3 c7=9 c1=0 c2=7\n"
		"19 1 0 wait-end kind=taskwait\n");

	if (!g)
		return;
	check_sum(g, "0.0", 0, true, UINT64_MAX - 3);
	CHECK(isnan(context_at(g, "0.0").memory_hierarchy_utilization), "no stalls: absent");
	CHECK(isnan(context_at(g, "0.1").memory_hierarchy_utilization), "more stalls than cycles: absent");
	CHECK(isnan(context_at(g, "0.0").cache_miss_ratio), "no references: absent");
	check_near(context_at(g, "0.1").cache_miss_ratio, 0, "no misses");
	check_round_trip(g, "odd values");
	grain_graph__free(g);
}

/* ---- the log ------------------------------------------------------------ */

static void refused(const char *name, const char *text, int line, const char *says)
{
	char path[] = "/tmp/graind-unit-XXXXXX", where[32];
	struct grain_load_opts keep_going = {.keep_going = true};
	struct grain_error err = {""};
	struct grain_graph *g = NULL;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return;
	fputs(text, f);
	fclose(f);
	snprintf(where, sizeof where, "line %d:", line);
	CHECK(grain_graph__load(path, NULL, &g, &err) == -EBADMSG && strstr(err.text, where) &&
		      strstr(err.text, says),
	      "%s: refused at %s %s", name, where, says);
	if (!strstr(err.text, says) || !strstr(err.text, where))
		printf("# %s\n", err.text);
	CHECK(grain_graph__load(path, &keep_going, &g, &err) == 0 && grain_graph__info(g)->damaged,
	      "%s: --keep-going analyses the rest", name);
	grain_graph__free(g);
	unlink(path);
}

static void test_log(void)
{
	char many[8192] = "grain-log 1\n";
	size_t used = strlen(many);
	struct grain_graph *g;

	refused("undeclared", "grain-log 1\n0 1 0 thread-begin\n5 1 0 thread-end c4=7\n", 3, "counter 4");
	refused("twice", "grain-log 1\n@counter 1 name=a\n@counter 1 name=b\n0 1 0 thread-begin\n", 3,
		"twice");
	refused("same name", "grain-log 1\n@counter 1 name=a\n@counter 2 name=a\n0 1 0 thread-begin\n", 3,
		"twice");
	refused("nameless", "grain-log 1\n@counter 1\n0 1 0 thread-begin\n", 2, "name=");
	refused("numberless", "grain-log 1\n@counter name=a\n0 1 0 thread-begin\n", 2, "number");
	refused("no value", "grain-log 1\n@counter 1 name=a\n0 1 0 thread-begin c1=x\n", 3, "c1=\"x\"");
	refused("too large", "grain-log 1\n@counter 1 name=a\n0 1 0 thread-begin c1=18446744073709551616\n",
		3, "c1=");
	for (int i = 0; i <= EVENT_COUNTERS_MAX; i++)
		used += (size_t)snprintf(many + used, sizeof many - used, "@counter %d name=n%d\n", i, i);
	snprintf(many + used, sizeof many - used, "0 1 0 thread-begin\n");
	refused("too many", many, 2 + EVENT_COUNTERS_MAX, "more than");

	/*
	 * Threads one after the other, counters that are declared after they are read and in another order,
	 * one said twice on an event (the last counts), keys that only look like counters.
	 */
	g = graph_of_text("late declaration", GRAPH_HEAD
			  "0 1 0 create-begin task=1 src=2 flags=deferred c9=10\n"
			  "10 1 0 create-end task=1 c9=11 c5=9\n"
			  "20 1 0 wait-begin kind=taskwait c9=14\n"
			  "90 1 0 wait-end kind=taskwait c9=20 c=2 cx=3\n"
			  "99 1 0 thread-end c5=4 c9=25\n"
			  "@counter 5 name=five\n@counter 9 name=nine\n"
			  "30 2 1 task-begin task=1 c9=100 c5=1 c5=7\n70 2 1 task-end task=1 c5=8 c9=300\n"
			  "70 2 1 thread-end\n");
	if (!g)
		return;
	CHECK_STR(grain_graph__counter_name(g, 0), "five", "counters are in the order of their declarations");
	CHECK_STR(grain_graph__counter_name(g, 1), "nine", "the one declared last comes last");
	check_sum(g, "0.0", 0, true, 1);
	check_sum(g, "0.0", 1, true, 200);
	/* 14 - 11 + 25 - 20; nine is missing at no end, five is. */
	check_sum(g, "0", 1, true, 8);
	check_sum(g, "0", 0, false, 0);
	check_round_trip(g, "late declaration");
	grain_graph__free(g);
}

/* An event that is dropped takes its readings with it and moves no others. */
static void test_dropped(void)
{
	static const char text[] =
		"grain-log 1\n" CYCLES
		"0 1 0 create-begin task=1 flags=deferred c0=1\n1 1 0 create-end task=1 c0=2\n"
		"2 1 0 wait-begin kind=taskwait c0=3\n3 1 0 task-end task=1 c0=77\n"
		"3 1 0 task-begin task=1 c0=10\n4 1 0 task-begin task=1 c0=78\n"
		"8 1 0 task-end task=1 c0=15\n9 1 0 wait-end kind=taskwait c0=20\n"
		"11 1 0 task-end task=1 c0=79\n13 1 0 thread-end c0=30\n";
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_load_opts opts = {.keep_going = true, .keep_events = true};
	struct grain_graph *g = NULL;
	int fd = mkstemp(path), readings = 0;
	char *log = NULL;
	size_t size;
	FILE *f;

	if (fd < 0 || write(fd, text, sizeof text - 1) < 0)
		return;
	close(fd);
	CHECK(grain_graph__load(path, &opts, &g, NULL) == 0, "dropped events: loads");
	unlink(path);
	if (!g)
		return;
	check_sum(g, "0.0", 0, true, 5);
	check_sum(g, "0", 0, true, 11);
	check_round_trip(g, "dropped events");
	grain_graph__free(g);
	/* Nor do the ends that the reader adds for what the file leaves open have any: four lines are sound.
	 */
	g = NULL;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, (size_t)(strstr(text, "8 1 0") - text)) < 0)
		return;
	close(fd);
	CHECK(grain_graph__load(path, &opts, &g, NULL) == 0, "an open end: loads");
	unlink(path);
	f = open_memstream(&log, &size);
	if (!g || !f || grain_graph__write_log(g, f))
		return;
	fclose(f);
	for (const char *p = log; (p = strstr(p, " c0=")); p++)
		readings++;
	CHECK(readings == 4, "an open end: %d readings", readings);
	free(log);
	grain_graph__free(g);
}

/* ---- random programs: every value is 3 times the time, so every sum is 3 times what ran --------- */

static struct program program;

static void test_random(void)
{
	int checked = 0, wrong = 0;

	for (uint32_t seed = 1; seed <= 12; seed++) {
		char *log = NULL, *counted = NULL, *rest, *line;
		size_t size;
		FILE *f = open_memstream(&log, &size), *to = open_memstream(&counted, &size);
		struct grain_graph *g;

		if (!f || !to)
			return;
		program_generate(&program, seed);
		program_run(&program, 1 + (int)(seed % MAX_THREADS), seed * 11, f);
		fclose(f);
		for (rest = log; (line = strsep(&rest, "\n")) && *line;) {
			unsigned long long ns = 0;
			unsigned tid;

			if (sscanf(line, "%llu %u", &ns, &tid) == 2)
				fprintf(to, "%s c0=%llu\n", line, 3 * ns + tid * 1000000007ull);
			else
				fprintf(to, "%s\n%s", line, strncmp(line, "grain-log", 9) ? "" : CYCLES);
		}
		fclose(to);
		g = graph_of_text("random", counted);
		for (uint32_t i = 0; g && i < grain_graph__context_count(g); i++) {
			struct grain_context c;
			uint64_t sum;

			grain_graph__context(g, i, &c);
			checked++;
			wrong += !grain_graph__counter(g, i, 0, &sum) || sum != 3 * c.exec_ns;
		}
		grain_graph__free(g);
		free(log);
		free(counted);
	}
	CHECK(checked > 500 && wrong == 0, "random: %d sums, %d of them wrong", checked, wrong);
}

int main(void)
{
	test_sums();
	test_migration();
	test_unknown();
	test_taken_away();
	test_loop();
	test_reasons();
	test_choice();
	test_odd_values();
	test_log();
	test_dropped();
	test_random();
	CHECK_DONE();
}
