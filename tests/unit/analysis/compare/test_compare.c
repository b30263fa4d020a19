/* SPDX-License-Identifier: BSD-2-Clause */
/* Work deviation, totals, tables and JSON of comparisons whose values were computed by hand. */
#include "tests/unit/compare_graphs.h"
#include "tests/unit/graph_json.h"

#define HEAD_OF(threads, f, g)                                                                               \
	"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=" threads "\n"               \
	"@source 1 file=a.c line=10 func=main kind=parallel\n@source 2 file=a.c line=" f                     \
	" func=f kind=task\n@source 3 file=a.c line=" g " func=g kind=task\n"
#define CREATIONS                                                                                            \
	"10 1 0 member-begin region=1 num=0\n10 1 0 single-begin src=1 won=1\n"                              \
	"20 1 0 create-begin task=1 src=2 flags=deferred\n22 1 0 create-end task=1\n"                        \
	"24 1 0 create-begin task=2 src=2 flags=deferred\n26 1 0 create-end task=2\n"                        \
	"28 1 0 create-begin task=3 src=3 flags=deferred\n30 1 0 create-end task=3\n"                        \
	"32 1 0 create-begin task=4 src=3 flags=deferred\n33 1 0 create-end task=4\n"                        \
	"40 1 0 wait-begin kind=taskwait\n"
#define FINISH(t)                                                                                            \
	t "0 1 0 wait-end kind=taskwait\n" t "0 1 0 single-end src=1 won=1\n" t                              \
	  "1 1 0 wait-begin kind=barrier-implicit\n" t "2 1 0 wait-end kind=barrier-implicit\n" t            \
	  "3 1 0 member-end region=1 num=0\n" t "4 1 0 region-end region=1\n"

/* Tasks of 10, 20, 30 and 0 ns. */
#define BASE BASE_WITH("20", "30")
#define BASE_WITH(f, g)                                                                                      \
	HEAD_OF("1", f, g)                                                                                   \
	"0 1 0 region-begin region=1 src=1 threads=1\n" CREATIONS                                            \
	"50 1 0 task-begin task=1\n60 1 0 task-end task=1\n60 1 0 task-begin task=2\n"                       \
	"80 1 0 task-end task=2\n80 1 0 task-begin task=3\n110 1 0 task-end task=3\n"                        \
	"110 1 0 task-begin task=4\n110 1 0 task-end task=4\n" FINISH("12")

/* The other member is there from 5 to 213; tasks of 25, 20, 75 and 5 ns. */
#define MEMBER_OF_TWO                                                                                        \
	"5 2 1 member-begin region=1 num=1\n5 2 1 single-begin src=1 won=0\n5 2 1 single-end src=1 won=0\n"  \
	"6 2 1 wait-begin kind=barrier-implicit\n"
#define END_OF_TWO "212 2 1 wait-end kind=barrier-implicit\n213 2 1 member-end region=1 num=1\n"
#define RUN_WITH(f, g, of_first, of_second)                                                                  \
	HEAD_OF("2", f, g)                                                                                   \
	"0 1 0 region-begin region=1 src=1 threads=2\n" CREATIONS of_first FINISH("21")                      \
		MEMBER_OF_TWO of_second END_OF_TWO
#define FIRST_TWO                                                                                            \
	"50 1 0 task-begin task=1\n75 1 0 task-end task=1\n80 1 0 task-begin task=2\n100 1 0 task-end "      \
	"task=2\n"
#define LAST_TWO                                                                                             \
	"50 2 1 task-begin task=3\n125 2 1 task-end task=3\n130 2 1 task-begin task=4\n"                     \
	"135 2 1 task-end task=4\n"
#define RUN RUN_WITH("20", "30", FIRST_TWO, LAST_TWO)

static double deviation_of(const struct grain_compare *c, const struct grain_graph *run, const char *id)
{
	uint32_t context = context_named(run, id);

	CHECK(context != GRAIN_NONE, "%s exists", id);
	return context == GRAIN_NONE ? -1 : grain_compare__deviation(c, context);
}

static void check_reason(const struct grain_compare *c, const struct grain_graph *run, const char *id,
			 enum grain_compare_reason reason)
{
	uint32_t context = context_named(run, id);

	CHECK(context != GRAIN_NONE && grain_compare__reason(c, context) == reason, "%s: reason %d", id,
	      reason);
	CHECK(context != GRAIN_NONE &&
		      isnan(grain_compare__deviation(c, context)) == (reason != GRAIN_COMPARE_MEASURED),
	      "%s: a deviation or a reason", id);
}

static void check_totals_by_hand(const struct grain_compare *c)
{
	struct grain_compare_totals t;

	grain_compare__totals(c, &t);
	CHECK(t.base_grains == 4 && t.run_grains == 4 && t.matched == 4 && t.matched_percent == 100,
	      "by hand: all grains match");
	CHECK(t.same_shape && !t.base_only && !t.run_only && !t.other_definition, "by hand: the same shape");
	CHECK(t.inflated == 2 && t.threshold == 2, "by hand: two are inflated");
	CHECK(t.excess_ns == 15 + 0 + 45 + 5, "by hand: 65 ns more");
	CHECK(t.reasons[GRAIN_COMPARE_MEASURED] == 3 && t.reasons[GRAIN_COMPARE_BASE_ZERO] == 1,
	      "by hand: one has nothing to be divided by");
}

/* g's exec goes from 30 to 80, f's from 30 to 45: g first. */
static void check_rows_by_hand(const struct grain_compare *c)
{
	struct grain_compare_definition d;

	CHECK(grain_compare__definition_count(c) == 2, "by hand: two definitions");
	if (grain_compare__definition_count(c) != 2)
		return;
	grain_compare__definition(c, 0, &d);
	CHECK_STR(d.source, "a.c:30", "by hand: the largest change first");
	CHECK(d.before.exec.sum == 30 && d.after.exec.sum == 80 && d.before.instances == 2 &&
		      d.after.instances == 2,
	      "by hand: g before and after");
	CHECK(d.before.create.sum == 3 && d.after.create.mean == 1.5, "by hand: g's creation");
	CHECK(d.matched == 2 && d.inflated == 1 && d.excess_ns == 50, "by hand: g's pairs");
	check_near(d.median_deviation, 2.5, "by hand: g's median of one");
	check_near(d.after.problem_percent[GRAIN_PROBLEM_WORK_DEVIATION], 50, "by hand: half of g inflated");
	check_near(d.before.problem_percent[GRAIN_PROBLEM_WORK_DEVIATION], NAN,
		   "by hand: absent of the base, which has no baseline itself: percent");
	grain_compare__definition(c, 1, &d);
	CHECK_STR(d.function, "f", "by hand: f is the other");
	CHECK(d.matched == 2 && d.inflated == 1 && d.excess_ns == 15, "by hand: f's pairs");
	check_near(d.median_deviation, (2.5 + 1.0) / 2, "by hand: f's median of two");
}

/* What the graph itself says when it was loaded against the base. */
static void check_graph_by_hand(const struct grain_graph *run)
{
	struct grain_problem_summary p;
	struct grain_context c = context_at(run, "0.p0.s0.0");
	json_t *summary;

	check_near(c.work_deviation, 2.5, "loaded against the base: deviation of a task");
	CHECK(c.problems & 1u << GRAIN_PROBLEM_WORK_DEVIATION, "loaded against the base: it is flagged");
	c = context_at(run, "0.p0.s0.1");
	CHECK(c.work_deviation == 1 && !(c.problems & 1u << GRAIN_PROBLEM_WORK_DEVIATION),
	      "loaded against the base: one that takes as long is not");
	grain_graph__problem(run, GRAIN_PROBLEM_WORK_DEVIATION, &p);
	CHECK(p.available && p.grains == 2 && p.percent == 50 && p.threshold == 2,
	      "loaded against the base: the problem's summary");
	check_near(grain_graph__totals(run)->baseline_matched_percent, 100, "matched with the base: percent");
	check_grain(run, "0.p0.s0.2", "work_deviation", "2.5");
	check_grain(run, "0.p0.s0.3", "work_deviation", "null");
	check_grain(run, "0.p0.0", "work_deviation", "null");
	summary = summary_of(run);
	check_json(summary, "baseline_matched_percent", "100", "the summary");
	check_json(json_object_get(json_object_get(summary, "problems"), "work_deviation"), "grains", "2",
		   "the summary's problem");
	/* g has more time than f. */
	check_json(json_array_get(json_object_get(summary, "definitions"), 0), "work_deviation", "2.5",
		   "the summary's g");
	check_json(json_array_get(json_object_get(summary, "definitions"), 1), "work_deviation", "1.75",
		   "the summary's f");
	json_decref(summary);
}

static void check_json_by_hand(const struct grain_compare *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	json_t *root, *deviation, *row, *grain;

	CHECK(f && grain_compare__write_json(c, 0, 7, f) == 0, "JSON: is written");
	fclose(f);
	root = json_loads(text, 0, NULL);
	CHECK(root != NULL, "JSON: parses");
	check_json(json_object_get(root, "base"), "job", "null", "JSON: a file");
	check_json(json_object_get(root, "run"), "job", "7", "JSON: a job");
	check_json(json_object_get(root, "base"), "threads", "1", "JSON: base");
	check_json(json_object_get(root, "base"), "wall_ns", "124", "JSON: base");
	check_json(json_object_get(root, "run"), "wall_ns", "214", "JSON: run");
	check_json(root, "matched", "4", "JSON");
	check_json(root, "matched_percent", "100", "JSON");
	check_json(root, "same_shape", "true", "JSON");
	deviation = json_object_get(root, "work_deviation");
	check_json(deviation, "grains", "2", "JSON: deviation");
	check_json(deviation, "excess_ns", "65", "JSON: deviation");
	check_json(json_object_get(deviation, "absent"), "base_zero", "1", "JSON: absent");
	row = json_array_get(json_object_get(root, "definitions"), 1);
	check_json(row, "source", "\"a.c:20\"", "JSON: the second definition");
	check_json(row, "median_deviation", "1.75", "JSON: the second definition");
	check_json(json_object_get(json_object_get(row, "base"), "exec_ns"), "sum", "30", "JSON: before");
	check_json(json_object_get(json_object_get(row, "run"), "exec_ns"), "sum", "45", "JSON: after");
	CHECK(json_array_size(json_object_get(root, "inflated")) == 2, "JSON: two inflated grains");
	grain = json_array_get(json_object_get(root, "inflated"), 0);
	check_json(grain, "id", "\"0.p0.s0.2\"", "JSON: the largest excess first");
	check_json(grain, "base_exec_ns", "30", "JSON: the inflated grain");
	check_json(grain, "exec_ns", "75", "JSON: the inflated grain");
	check_json(grain, "work_deviation", "2.5", "JSON: the inflated grain");
	json_decref(root);
	free(text);
}

static void test_by_hand(void)
{
	struct grain_graph *base = graph_against("base", BASE, NULL, NULL);
	struct grain_graph *run = graph_against("run", RUN, base, NULL);
	struct grain_compare *c = compare_of("by hand", base, run);

	if (c) {
		check_near(deviation_of(c, run, "0.p0.s0.0"), 2.5, "by hand: the first task");
		check_near(deviation_of(c, run, "0.p0.s0.1"), 1.0, "by hand: the second task");
		check_near(deviation_of(c, run, "0.p0.s0.2"), 2.5, "by hand: the third task");
		check_reason(c, run, "0.p0.s0.3", GRAIN_COMPARE_BASE_ZERO);
		check_reason(c, run, "0.p0.0", GRAIN_COMPARE_NO_GRAIN);
		check_reason(c, run, "0", GRAIN_COMPARE_NO_GRAIN);
		CHECK(grain_compare__match(c, context_named(run, "0.p0.0")) == context_named(base, "0.p0.0"),
		      "by hand: member 0 is matched");
		CHECK(grain_compare__match(c, context_named(run, "0.p0.1")) == GRAIN_NONE,
		      "by hand: the base has no member 1");
		CHECK(grain_compare__inflated_count(c) == 2 &&
			      grain_compare__inflated(c, 1) == context_named(run, "0.p0.s0.0"),
		      "by hand: the smaller excess last");
		check_totals_by_hand(c);
		check_rows_by_hand(c);
		check_graph_by_hand(run);
		check_json_by_hand(c);
	}
	free_comparison(base, run, c);
}

/* Above means above; and without a base, or with one that has nothing in common, it is absent. */
static void test_threshold(void)
{
	struct grain_settings settings;
	struct grain_graph *base = graph_against("threshold: base", BASE, NULL, NULL), *run, *alone;
	struct grain_graph *empty =
		graph_against("threshold: empty", "grain-log 1\n1 1 0 thread-begin\n", NULL, NULL);
	struct grain_problem_summary p;
	struct grain_compare_totals t;
	struct grain_compare *c;
	json_t *summary;

	grain_settings__default(&settings);
	settings.work_deviation = 2.5;
	run = graph_against("threshold: run", RUN, base, &settings);
	c = compare_of("threshold", base, run);
	if (c) {
		grain_compare__totals(c, &t);
		CHECK(t.threshold == 2.5 && t.inflated == 0 && grain_compare__inflated_count(c) == 0,
		      "a deviation of the threshold is none");
	}
	free_comparison(NULL, run, c);
	alone = graph_against("no base", RUN, NULL, NULL);
	grain_graph__problem(alone, GRAIN_PROBLEM_WORK_DEVIATION, &p);
	CHECK(!p.available && p.why[0], "no base: absent, with a reason");
	check_grain(alone, "0.p0.s0.0", "work_deviation", "null");
	summary = summary_of(alone);
	check_json(json_array_get(json_object_get(summary, "definitions"), 0), "work_deviation", "null",
		   "no base: of a definition");
	json_decref(summary);
	CHECK(isnan(grain_graph__totals(alone)->baseline_matched_percent), "no base: nothing was matched");
	grain_graph__free(alone);
	alone = graph_against("other base", RUN, empty, NULL);
	grain_graph__problem(alone, GRAIN_PROBLEM_WORK_DEVIATION, &p);
	CHECK(!p.available && strstr(p.why, "no grain"), "nothing in common: absent, with a reason");
	check_near(grain_graph__totals(alone)->baseline_matched_percent, 0, "nothing in common: percent");
	c = compare_of("nothing in common", empty, alone);
	if (c) {
		grain_compare__totals(c, &t);
		CHECK(t.matched == 0 && t.matched_percent == 0 && !t.same_shape && t.run_only == 4,
		      "nothing in common: 0 percent");
	}
	free_comparison(NULL, alone, c);
	c = compare_of("no grains at all", empty, empty);
	if (c) {
		grain_compare__totals(c, &t);
		CHECK(isnan(t.matched_percent) && t.matched == 0, "no grains at all: no percent");
	}
	free_comparison(base, empty, c);
}

static void test_identical(void)
{
	struct grain_graph *base = graph_against("identical: base", RUN, NULL, NULL);
	struct grain_graph *run = graph_against("identical: run", RUN, base, NULL);
	struct grain_compare *c = compare_of("identical", base, run);
	struct grain_compare_totals t;

	if (c) {
		grain_compare__totals(c, &t);
		CHECK(t.matched_percent == 100 && t.same_shape && t.excess_ns == 0 && t.inflated == 0,
		      "identical: everything matches");
		for (uint32_t i = 0; i < grain_graph__context_count(run); i++)
			CHECK(grain_compare__match(c, i) == i &&
				      (grain_compare__reason(c, i) == GRAIN_COMPARE_NO_GRAIN ||
				       grain_compare__deviation(c, i) == 1.0),
			      "identical: context %u is itself, its deviation 1", i);
	}
	free_comparison(base, run, c);
}

/* Task 2 lost events in the run, task 3 in the base; task 4 is discarded in the run. */
static void test_incomplete(void)
{
	static const char incomplete_base[] =
		HEAD_OF("1", "20",
			"30") "0 1 0 region-begin region=1 src=1 threads=1\n" CREATIONS
			      "50 1 0 task-begin task=1\n60 1 0 task-end task=1\n60 1 0 task-begin task=2\n"
			      "80 1 0 task-end task=2\n80 1 0 task-begin task=3 trouble=lost\n110 1 0 "
			      "task-end task=3\n"
			      "110 1 0 task-begin task=4\n115 1 0 task-end task=4\n" FINISH("12");
	static const char incomplete_run[] = RUN_WITH(
		"20", "30",
		"50 1 0 task-begin task=1\n75 1 0 task-end task=1\n80 1 0 task-begin task=2 trouble=lost\n"
		"100 1 0 task-end task=2\n",
		"50 2 1 task-begin task=3\n125 2 1 task-end task=3\n130 2 1 task-discard task=4\n");
	struct grain_graph *base = graph_against("incomplete: base", incomplete_base, NULL, NULL);
	struct grain_graph *run = graph_against("incomplete: run", incomplete_run, base, NULL);
	struct grain_compare *c = compare_of("incomplete", base, run);
	struct grain_compare_totals t;

	if (c) {
		check_reason(c, run, "0.p0.s0.0", GRAIN_COMPARE_MEASURED);
		check_reason(c, run, "0.p0.s0.1", GRAIN_COMPARE_INCOMPLETE);
		check_reason(c, run, "0.p0.s0.2", GRAIN_COMPARE_BASE_INCOMPLETE);
		check_reason(c, run, "0.p0.s0.3", GRAIN_COMPARE_INCOMPLETE);
		grain_compare__totals(c, &t);
		CHECK(t.base_grains == 3 && t.run_grains == 2 && t.matched == 1, "incomplete: left out");
		check_near(t.matched_percent, 100.0 / 3, "incomplete: of the larger number of complete ones");
		CHECK(t.same_shape && !t.base_only && !t.run_only, "incomplete: the shape is the same");
		CHECK(t.excess_ns == 15, "incomplete: nothing is added to the excess");
		check_grain(run, "0.p0.s0.1", "work_deviation", "null");
	}
	free_comparison(base, run, c);
}

/* f moved to line 25, g to line 38; in a second run both tasks are of one function. */
static void test_moved(void)
{
	static const char moved[] = RUN_WITH("25", "38", FIRST_TWO, LAST_TWO);
	struct grain_graph *base = graph_against("moved: base", BASE, NULL, NULL);
	struct grain_graph *run = graph_against("moved: run", moved, base, NULL);
	struct grain_compare *c = compare_of("moved", base, run);
	struct grain_compare_definition d;
	struct grain_definition before;
	struct grain_compare_totals t;

	if (c) {
		grain_compare__totals(c, &t);
		CHECK(grain_compare__definition_count(c) == 2 && t.other_definition == 0 && t.matched == 4,
		      "moved: joined by function");
		grain_compare__definition(c, 0, &d);
		CHECK_STR(d.source, "a.c:38", "moved: the run's line");
		CHECK(d.base != GRAIN_NONE && d.before.exec.sum == 30 && d.after.exec.sum == 80,
		      "moved: before and after");
		grain_graph__definition(base, d.base == GRAIN_NONE ? 0 : d.base, &before);
		CHECK_STR(before.source, "a.c:30", "moved: the base's line");
	}
	free_comparison(NULL, run, c);
	run = graph_against("swapped: run", RUN_WITH("30", "20", FIRST_TWO, LAST_TWO), base, NULL);
	c = compare_of("swapped", base, run);
	if (c) {
		/* Nothing of a.c:30 in g is left in the run; functions tell: f moved to 30, g to 20. */
		grain_compare__totals(c, &t);
		CHECK(t.other_definition == 0 && grain_compare__definition_count(c) == 2,
		      "swapped lines: joined by function");
	}
	free_comparison(base, run, c);
}

/* With g's row before f's: that one of g has no deviation is no matter of f. */
static void test_rows_apart(void)
{
	struct grain_graph *base = graph_against("apart: base", BASE_WITH("40", "30"), NULL, NULL);
	struct grain_graph *run =
		graph_against("apart: run", RUN_WITH("40", "30", FIRST_TWO, LAST_TWO), base, NULL);
	struct grain_compare *c = compare_of("apart", base, run);
	struct grain_compare_definition d;

	if (c) {
		grain_compare__definition(c, 0, &d);
		CHECK_STR(d.source, "a.c:30", "apart: g has changed more");
		check_near(d.median_deviation, 2.5, "apart: g's median of one");
		grain_compare__definition(c, 1, &d);
		check_near(d.median_deviation, 1.75, "apart: f's median of two");
	}
	free_comparison(base, run, c);
}

/* The run has a third definition, and no task of f. */
static void test_only_in_one(void)
{
	static const char other[] =
		HEAD_OF("1", "20",
			"30") "@source 4 file=b.c line=5 func=h kind=task\n"
			      "1 1 0 create-begin task=1 src=3 flags=deferred\n2 1 0 create-end task=1\n"
			      "3 1 0 create-begin task=2 src=4 flags=deferred\n4 1 0 create-end task=2\n"
			      "5 1 0 wait-begin kind=taskwait\n6 1 0 task-begin task=1\n"
			      "9 1 0 task-end task=1\n9 1 0 task-begin task=2\n"
			      "10 1 0 task-end task=2\n11 1 0 wait-end kind=taskwait\n";
	static const char one[] =
		HEAD_OF("1", "20", "30") "1 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end "
					 "task=1\n5 1 0 wait-begin kind=taskwait\n6 1 0 task-begin task=1\n"
					 "8 1 0 task-end task=1\n11 1 0 wait-end kind=taskwait\n";
	struct grain_graph *base = graph_against("one: base", one, NULL, NULL);
	struct grain_graph *run = graph_against("one: run", other, base, NULL);
	struct grain_compare *c = compare_of("only in one", base, run);
	struct grain_compare_definition d;
	struct grain_compare_totals t;

	if (c) {
		grain_compare__totals(c, &t);
		CHECK(t.matched == 1 && t.matched_percent == 50 && !t.same_shape && t.run_only == 1 &&
			      t.base_only == 0 && t.other_definition == 1,
		      "only in one: one grain matches, by another line of the source");
		CHECK(grain_compare__definition_count(c) == 3, "only in one: three rows");
		grain_compare__definition(c, 0, &d);
		CHECK(strcmp(d.source, "a.c:30") == 0 && d.base == GRAIN_NONE && d.before.instances == 0 &&
			      d.after.exec.sum == 3 && d.matched == 1,
		      "only in one: new in the run");
		check_near(d.median_deviation, 1.5, "only in one: deviation is by identifier");
		check_near(d.before.problem_percent[GRAIN_PROBLEM_PARALLEL_BENEFIT], NAN,
			   "only in one: problems before: percent");
		grain_compare__definition(c, 1, &d);
		CHECK(strcmp(d.source, "a.c:20") == 0 && d.run == GRAIN_NONE && d.after.instances == 0 &&
			      d.matched == 0,
		      "only in one: gone in the run");
		check_near(d.median_deviation, NAN, "only in one: no deviation: median");
	}
	free_comparison(base, run, c);
}

int main(void)
{
	test_by_hand();
	test_threshold();
	test_identical();
	test_incomplete();
	test_moved();
	test_rows_apart();
	test_only_in_one();
	CHECK_DONE();
}
