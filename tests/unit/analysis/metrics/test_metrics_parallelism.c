/* SPDX-License-Identifier: BSD-2-Clause */
/* Instantaneous parallelism over intervals: by hand, and counted interval by interval on random programs. */
#include "tests/unit/graph_json.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

#define PROGRAMS 25
#define MAX_INTERVALS 4000

/*
 * Task 1 runs in [0,40) and task 4 in [52,60) on thread 1, task 2 in [10,30)
 * and task 3 in [30,57) on thread 2; all else takes no time. Lengths are 40,
 * 20, 27 and 8: the median is (20 + 27) / 2, the minimum 8. The nearest start
 * and end of two of them are task 4's start and task 3's end: 5.
 */
#define FOUR                                                                                                 \
	GRAPH_HEAD                                                                                           \
	"0 1 0 region-begin region=1 src=1 threads=2\n0 1 0 member-begin region=1 num=0\n"                   \
	"0 2 1 member-begin region=1 num=1\n0 2 1 wait-begin kind=barrier-implicit\n"                        \
	"0 1 0 create-begin task=1 src=2 flags=deferred\n0 1 0 create-end task=1\n"                          \
	"0 1 0 create-begin task=2 src=2 flags=deferred\n0 1 0 create-end task=2\n"                          \
	"0 1 0 create-begin task=3 src=2 flags=deferred\n0 1 0 create-end task=3\n"                          \
	"0 1 0 create-begin task=4 src=2 flags=deferred\n0 1 0 create-end task=4\n"                          \
	"0 1 0 wait-begin kind=barrier-implicit\n0 1 0 task-begin task=1\n10 2 1 task-begin task=2\n"        \
	"30 2 1 task-end task=2\n30 2 1 task-begin task=3\n40 1 0 task-end task=1\n"                         \
	"52 1 0 task-begin task=4\n57 2 1 task-end task=3\n60 1 0 task-end task=4\n"                         \
	"60 1 0 wait-end kind=barrier-implicit\n60 1 0 member-end region=1 num=0\n"                          \
	"60 2 1 wait-end kind=barrier-implicit\n60 2 1 member-end region=1 num=1\n"                          \
	"60 1 0 region-end region=1\n"

static void check_four(const char *parallelism, const char *interval, const char *interval_ns,
		       const double *expected)
{
	static const char *const ids[] = {"0.p0.0.0", "0.p0.0.1", "0.p0.0.2", "0.p0.0.3"};
	struct grain_settings settings;
	struct grain_graph *g;
	json_t *summary, *problems;
	char name[64];

	snprintf(name, sizeof name, "%s %s", parallelism, interval);
	grain_settings__default(&settings);
	CHECK(grain_settings__set(&settings, parallelism, NULL) == 0 &&
		      grain_settings__set(&settings, interval, NULL) == 0,
	      "%s: is taken", name);
	g = graph_of_text_set(name, FOUR, &settings);
	if (!g)
		return;
	for (int i = 0; i < 4; i++) {
		char what[128];

		snprintf(what, sizeof what, "%s: parallelism of task %d", name, i + 1);
		check_near(context_at(g, ids[i]).instantaneous_parallelism, expected[i], what);
	}
	CHECK(isnan(context_at(g, "0.p0.1").instantaneous_parallelism), "%s: absent where nothing ran", name);
	summary = summary_of(g);
	problems = json_object_get(summary, "problems");
	check_json(json_object_get(problems, "instantaneous_parallelism"), "interval_ns", interval_ns, name);
	json_decref(summary);
	grain_graph__free(g);
}

static void test_by_hand(void)
{
	check_four("parallelism=exact", "interval=20", "absent", (double[]){1, 2, 1, 1});
	/*
	 * [0,15) 1 2, [15,30) 1 2, [30,45) 1 3, [45,60) 3 4; filled: 1; 1 2; 3; none.
	 */
	check_four("parallelism=optimistic", "interval=15", "15", (double[]){2, 2, 2, 2});
	check_four("parallelism=conservative", "interval=15", "15", (double[]){1, 1, 0, 0});
	/* [0,20) 1 2, [20,40) 1 2 3, [40,60) 3 4; filled: 1; 1; none. */
	check_four("parallelism=optimistic", "interval=20", "20", (double[]){2, 2, 2, 2});
	check_four("parallelism=conservative", "interval=20", "20", (double[]){1, 1, 0, 0});
	/* [0,23) 1 2, [23,46) 1 2 3, [46,60) 3 4; filled: 1; none; none (3 ends at 57, 4 starts at 52). */
	check_four("parallelism=optimistic", "interval=median", "23", (double[]){2, 2, 2, 2});
	check_four("parallelism=conservative", "interval=median", "23", (double[]){0, 0, 0, 0});
	/*
	 * Eights from 0: 1; 1 2; 1 2; 1 2 3; 1 3; 3; 3 4; 3 4 up to 60, where the
	 * program ends. Filled: 1; 1; 1 2; 1; 1 3; 3; 3; 4.
	 */
	check_four("parallelism=optimistic", "interval=minimum", "8", (double[]){1, 2, 1, 2});
	check_four("parallelism=conservative", "interval=minimum", "8", (double[]){1, 1, 1, 1});
	/*
	 * Fives: 1, 1; 1 2 four times; 1 3, 1 3; 3, 3; 3 4 ([50,55)), 3 4 ([55,60)). Filled: task 2 has its
	 * four to itself and task 1; 3 alone in [50,55), 4 alone in [55,60).
	 */
	check_four("parallelism=optimistic", "interval=gap", "5", (double[]){1, 2, 1, 2});
	check_four("parallelism=conservative", "interval=gap", "5", (double[]){1, 2, 1, 1});
	/* One interval for all: all overlap it, nobody fills it. */
	check_four("parallelism=optimistic", "interval=1s", "1000000000", (double[]){4, 4, 4, 4});
	check_four("parallelism=conservative", "interval=1s", "1000000000", (double[]){0, 0, 0, 0});
}

/* Several fragments of one task: it is one grain, and fills what they fill together. */
static void test_fragments(void)
{
	static const char text[] = GRAPH_HEAD
		/* The initial task is thread 1's: fragments [0,10), [12,20), [20,30), one creation for no
		   time. */
		"0 1 0 thread-begin\n"
		"0 1 0 wait-begin kind=taskwait\n0 1 0 wait-end kind=taskwait\n"
		"10 1 0 create-begin task=1 src=2 flags=deferred\n12 1 0 create-end task=1\n"
		"20 1 0 create-begin task=2 src=2 flags=deferred\n20 1 0 create-end task=2\n"
		"30 1 0 wait-begin kind=taskwait\n30 1 0 task-begin task=1\n40 1 0 task-end task=1\n"
		"40 1 0 task-begin task=2\n55 1 0 task-end task=2\n55 1 0 wait-end kind=taskwait\n"
		"55 1 0 thread-end\n";
	struct grain_settings settings;
	struct grain_graph *g;

	grain_settings__default(&settings);
	settings.parallelism = GRAIN_PARALLELISM_CONSERVATIVE;
	settings.interval = GRAIN_INTERVAL_GIVEN;
	settings.interval_ns = 9;
	/* [12,30) fills [18,27) only because its two fragments are one; task 1 fills none of [27,36),
	 * [36,45). */
	g = graph_of_text_set("fragments", text, &settings);
	if (g) {
		check_near(context_at(g, "0").instantaneous_parallelism, 0,
			   "conservative: [9,18) is not filled");
		check_near(context_at(g, "0.0").instantaneous_parallelism, 0, "conservative: task 1");
		check_near(context_at(g, "0.1").instantaneous_parallelism, 0, "conservative: task 2");
		grain_graph__free(g);
	}
	settings.parallelism = GRAIN_PARALLELISM_OPTIMISTIC;
	/* [27,36) has the initial task and task 1, [36,45) tasks 1 and 2; [9,18) the initial task, once. */
	g = graph_of_text_set("fragments", text, &settings);
	if (g) {
		check_near(context_at(g, "0").instantaneous_parallelism, 1, "optimistic: the initial task");
		check_near(context_at(g, "0.0").instantaneous_parallelism, 2, "optimistic: task 1");
		check_near(context_at(g, "0.1").instantaneous_parallelism, 1, "optimistic: task 2");
		grain_graph__free(g);
	}
	settings.parallelism = GRAIN_PARALLELISM_CONSERVATIVE;
	settings.interval_ns = 12;
	/* [12,24) and [24,36): the first is filled by [12,30), nobody else is in it; [0,12) is not. */
	g = graph_of_text_set("touching fragments", text, &settings);
	if (g) {
		struct grain_problem_summary p;

		check_near(context_at(g, "0").instantaneous_parallelism, 0,
			   "conservative, 12: [0,12) is not filled");
		grain_graph__problem(g, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, &p);
		CHECK(p.available && p.grains == 2, "conservative: below the one member of the team");
		grain_graph__free(g);
	}
}

/* [0,4) and [4,10) of task 1, a creation for no time between them, fill [0,10) together. */
static void test_touching(void)
{
	struct grain_settings settings;
	struct grain_graph *g;

	grain_settings__default(&settings);
	settings.parallelism = GRAIN_PARALLELISM_CONSERVATIVE;
	settings.interval = GRAIN_INTERVAL_GIVEN;
	settings.interval_ns = 10;
	g = graph_of_text_set("touching",
			      GRAPH_HEAD
			      "0 1 0 create-begin task=1 src=2 flags=deferred\n0 1 0 create-end task=1\n"
			      "0 1 0 wait-begin kind=taskwait\n0 1 0 task-begin task=1\n"
			      "4 1 0 create-begin task=2 src=2 flags=deferred\n4 1 0 create-end task=2\n"
			      "10 1 0 task-end task=1\n10 1 0 task-begin task=2\n"
			      "20 1 0 task-end task=2\n20 1 0 wait-end kind=taskwait\n",
			      &settings);
	if (!g)
		return;
	check_near(context_at(g, "0.0").instantaneous_parallelism, 1, "touching: task 1");
	check_near(context_at(g, "0.0.0").instantaneous_parallelism, 1, "touching: task 2");
	grain_graph__free(g);
}

/* An interval of 1 ns in a run of 10 seconds: ten thousand million of them. */
static void test_many_intervals(void)
{
	static const char text[] = GRAPH_HEAD
		"0 1 0 create-begin task=1 src=2 flags=deferred\n1 1 0 create-end task=1\n"
		"2 1 0 create-begin task=2 src=2 flags=deferred\n3 1 0 create-end task=2\n"
		"4 1 0 wait-begin kind=taskwait\n4 1 0 task-begin task=1\n4 2 1 task-begin task=2\n"
		"5000000000 1 0 task-end task=1\n10000000000 2 1 task-end task=2\n"
		"10000000000 1 0 wait-end kind=taskwait\n10000000000 1 0 thread-end\n";
	struct grain_settings settings;

	grain_settings__default(&settings);
	settings.interval = GRAIN_INTERVAL_GIVEN;
	settings.interval_ns = 1;
	for (int i = GRAIN_PARALLELISM_OPTIMISTIC; i <= GRAIN_PARALLELISM_CONSERVATIVE; i++) {
		struct grain_graph *g;

		settings.parallelism = (enum grain_parallelism)i;
		g = graph_of_text_set("many intervals", text, &settings);
		if (!g)
			return;
		check_near(context_at(g, "0.0").instantaneous_parallelism, 2, "many intervals: together");
		check_near(context_at(g, "0.1").instantaneous_parallelism, 1, "many intervals: then alone");
		grain_graph__free(g);
	}
}

static void test_absent(void)
{
	struct grain_settings settings;
	struct grain_problem_summary p;
	struct grain_graph *g;

	grain_settings__default(&settings);
	settings.parallelism = GRAIN_PARALLELISM_OPTIMISTIC;
	g = graph_of_text_set("no grains",
			      GRAPH_HEAD "0 1 0 thread-begin\n5 1 0 group-begin\n"
					 "9 1 0 wait-begin kind=taskgroup\n"
					 "9 1 0 wait-end kind=taskgroup\n9 1 0 thread-end\n",
			      &settings);
	if (!g)
		return;
	grain_graph__problem(g, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, &p);
	CHECK(!p.available && strstr(p.why, "interval"), "no grains: absent, with the reason");
	CHECK(isnan(context_at(g, "0").instantaneous_parallelism), "no grains: no value");
	grain_graph__free(g);
}

/* ---- interval by interval -------------------------------------------- */

static struct program program;
static int compared, wrong;

static void compare(const struct grain_graph *g, bool conservative, uint64_t length)
{
	uint64_t origin = UINT64_MAX, past = 0;
	size_t contexts = grain_graph__context_count(g), intervals;
	uint64_t *ran; /* by context and interval: nanoseconds */
	uint32_t *count;
	struct grain_item item;

	for (uint32_t i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		for (uint32_t k = c.first_item; k < c.first_item + c.item_count; k++) {
			grain_graph__item(g, k, &item);
			if (item.kind != GRAIN_FRAGMENT || item.start_ns == item.end_ns)
				continue;
			origin = item.start_ns < origin ? item.start_ns : origin;
			past = item.end_ns > past ? item.end_ns : past;
		}
	}
	intervals = (past - origin + length - 1) / length;
	if (intervals > MAX_INTERVALS)
		return;
	ran = calloc(contexts * intervals, sizeof *ran);
	count = calloc(intervals, sizeof *count);
	for (uint32_t i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		for (uint32_t k = c.first_item; k < c.first_item + c.item_count; k++) {
			grain_graph__item(g, k, &item);
			if (item.kind == GRAIN_FRAGMENT)
				for (uint64_t ns = item.start_ns; ns < item.end_ns; ns++)
					ran[i * intervals + (ns - origin) / length]++;
		}
		for (size_t k = 0; k < intervals; k++) {
			uint64_t whole = k == intervals - 1 ? past - origin - k * length : length;

			count[k] +=
				conservative ? ran[i * intervals + k] == whole : ran[i * intervals + k] > 0;
		}
	}
	for (uint32_t i = 0; i < contexts; i++) {
		struct grain_context c;
		double least = NAN;

		grain_graph__context(g, i, &c);
		for (size_t k = 0; k < intervals; k++)
			if (ran[i * intervals + k] && !(count[k] >= least))
				least = count[k];
		compared++;
		wrong += isnan(least) ? !isnan(c.instantaneous_parallelism)
				      : c.instantaneous_parallelism != least;
	}
	free(ran);
	free(count);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The chosen length by another way: all lengths sorted, all pairs of starts and ends. */
static uint64_t expected_length(const struct grain_graph *g, enum grain_interval interval)
{
	struct grain_context grains[2048];
	uint64_t lengths[2048], gap = UINT64_MAX;
	size_t n = 0;

	for (uint32_t i = 0; i < grain_graph__context_count(g) && n < 2048; i++) {
		grain_graph__context(g, i, &grains[n]);
		if ((grains[n].kind == GRAIN_TASK || grains[n].kind == GRAIN_CHUNK) && grains[n].exec_ns) {
			lengths[n] = grains[n].exec_ns;
			n++;
		}
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			uint64_t s = grains[i].start_ns, e = grains[k].end_ns;

			if (i != k && s != e && (s > e ? s - e : e - s) < gap)
				gap = s > e ? s - e : e - s;
		}
	}
	qsort(lengths, n, sizeof *lengths, ascending);
	if (interval == GRAIN_INTERVAL_GAP)
		return gap;
	return interval == GRAIN_INTERVAL_MINIMUM ? lengths[0] : (lengths[(n - 1) / 2] + lengths[n / 2]) / 2;
}

static void test_random(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
		char *log = NULL;
		size_t size;
		FILE *f = open_memstream(&log, &size);

		if (!f)
			return;
		program_generate(&program, seed);
		program_run(&program, 1 + (int)(seed % MAX_THREADS), seed * 7, f);
		fclose(f);
		for (int i = 0; i < 12; i++) {
			static const uint64_t given[] = {7, 40, 333};
			struct grain_settings settings;
			struct grain_graph *g;
			uint64_t length;

			grain_settings__default(&settings);
			settings.parallelism =
				i % 2 ? GRAIN_PARALLELISM_CONSERVATIVE : GRAIN_PARALLELISM_OPTIMISTIC;
			settings.interval = i < 6 ? (enum grain_interval)(i / 2) : GRAIN_INTERVAL_GIVEN;
			settings.interval_ns = given[i / 2 % 3];
			g = graph_of_text_set("random", log, &settings);
			if (!g)
				break;
			length = i < 6 ? expected_length(g, settings.interval) : settings.interval_ns;
			compare(g, i % 2, length);
			grain_graph__free(g);
		}
		free(log);
	}
	CHECK(compared > 100 * PROGRAMS, "random: %d values were compared", compared);
	CHECK(wrong == 0, "random: every value is the one found interval by interval");
	if (wrong)
		printf("# %d wrong\n", wrong);
}

int main(void)
{
	test_by_hand();
	test_fragments();
	test_touching();
	test_many_intervals();
	test_absent();
	test_random();
	CHECK_DONE();
}
