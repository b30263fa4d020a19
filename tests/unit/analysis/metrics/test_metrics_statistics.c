/* SPDX-License-Identifier: BSD-2-Clause */
/* Medians, pair-wise distances, deviations, scatter; the memory bound. */
#include "analysis/metrics/metrics.h"
#include "tests/unit/graph_text.h"

#include <errno.h>

static void test_median(void)
{
	uint64_t one[] = {7}, two[] = {9, 4}, odd[] = {5, 1, 9}, even[] = {8, 1, 4, 2},
		 large[] = {UINT64_MAX, UINT64_MAX};

	check_near(metrics__median(one, 1), 7, "median of one");
	check_near(metrics__median(two, 2), 6.5, "median of two");
	check_near(metrics__median(odd, 3), 5, "median of three");
	check_near(metrics__median(even, 4), 3, "median of four");
	check_near(metrics__median(large, 2), 18446744073709551615.0, "median of the largest");
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_distance(void)
{
	uint64_t values[30], pairs[450], one[] = {3};
	uint32_t random = 1;
	int wrong = 0;

	CHECK(isnan(metrics__median_distance(one, 1)), "distance of one value is absent");
	for (int round = 0; round < 200; round++) {
		size_t n = 2 + (size_t)round % 28, count = 0;

		for (size_t i = 0; i < n; i++) {
			random = random * 1664525u + 1013904223u;
			values[i] = (random >> 16) % (round % 2 ? 8 : 1000);
		}
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < i; k++)
				pairs[count++] =
					values[i] > values[k] ? values[i] - values[k] : values[k] - values[i];
		qsort(pairs, count, sizeof *pairs, ascending);
		if (metrics__median_distance(values, n) !=
		    ((double)pairs[(count - 1) / 2] + (double)pairs[count / 2]) / 2)
			wrong++;
	}
	CHECK(wrong == 0, "distance: the median over all pairs");
}

static void test_stat(void)
{
	static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct running_stat s = {0};
	struct grain_stat stat;

	for (size_t i = 0; i < 8; i++)
		running_stat__add(&s, values[i]);
	stat = running_stat__result(&s);
	CHECK(stat.sum == 40 && stat.min == 2 && stat.max == 9, "stat: sum and extremes");
	check_near(stat.mean, 5, "mean");
	check_near(stat.stddev, 2, "standard deviation");
	s = (struct running_stat){0};
	for (size_t i = 0; i < 8; i++)
		running_stat__add(&s, UINT64_C(1000000000000000) + values[i]);
	check_near(running_stat__result(&s).stddev, 2, "deviation of large values");
	for (size_t i = 0; i < 8; i++)
		running_stat__add(&s, UINT64_MAX / 2);
	CHECK(isnan(running_stat__result(&s).stddev), "stat: no deviation of values that are too large");
	stat = running_stat__result(&(struct running_stat){0});
	CHECK(stat.sum == 0 && stat.stddev == 0, "stat: of nothing");
}

#define SCATTER_EVENTS                                                                                       \
	"0 1 0 create-begin task=1 src=2 flags=deferred\n1 1 0 create-end task=1\n"                          \
	"2 1 0 create-begin task=2 src=2 flags=deferred\n3 1 0 create-end task=2\n"                          \
	"4 1 0 wait-begin kind=taskwait\n5 1 0 task-begin task=1\n5 2 7 task-begin task=2\n"                 \
	"9 1 0 task-end task=1\n9 2 7 task-end task=2\n10 1 0 wait-end kind=taskwait\n"

static void test_scatter(void)
{
	struct grain_graph *g = graph_of_text(
		"scatter",
		GRAPH_HEAD "@machine host=h cores=8 sockets=2 kernel=6\n"
			   "@cpu 0 core=0 socket=0 node=0\n@cpu 7 core=6 socket=1 node=0\n" SCATTER_EVENTS);
	struct grain_problem_summary p;

	if (g) {
		check_near(context_at(g, "0.0").scatter, 6, "scatter between cores 0 and 6");
		grain_graph__problem(g, GRAIN_PROBLEM_SCATTER, &p);
		CHECK(p.available && p.threshold == 4 && p.grains == 2,
		      "scatter: beyond the cores of a socket");
		grain_graph__free(g);
	}
	g = graph_of_text("no cores", GRAPH_HEAD SCATTER_EVENTS);
	if (!g)
		return;
	grain_graph__problem(g, GRAIN_PROBLEM_SCATTER, &p);
	CHECK(!p.available && p.why[0] && isnan(context_at(g, "0.0").scatter),
	      "scatter: absent, with the reason");
	grain_graph__free(g);
}

static void test_bound(void)
{
	struct grain_load_opts opts = {.max_bytes = 20000};
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	int error = grain_graph__load("tests/data/fib_two_threads.log", &opts, &g, &err);

	CHECK(error == -E2BIG && !g && err.text[0], "bound: too little memory is an error with a line");
	error = grain_graph__load("tests/data/no-such-file.log", NULL, &g, &err);
	CHECK(error == -ENOENT && !g && err.text[0], "bound: a file that is not there");
	grain_graph__free(NULL);
}

int main(void)
{
	test_median();
	test_distance();
	test_stat();
	test_scatter();
	test_bound();
	CHECK_DONE();
}
