// SPDX-License-Identifier: BSD-2-Clause
/* Accounts against what was computed by hand; each cause by itself; nothing is left over. */
#include "analysis/include/grain_account.h"
#include "tests/unit/graph_text.h"

#include <glob.h>

/* Loads the text; checks that nothing is left over. */
static struct grain_graph *account_of(const char *name, const char *text, uint32_t threads)
{
	struct grain_graph *g = graph_of_text(name, text);
	const struct grain_account *a = g ? grain_graph__account(g) : NULL;
	uint64_t sum = 0, parts = 0;

	if (!g)
		return NULL;
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		sum += a->all.cause_ns[i];
	for (size_t i = 0; i < grain_graph__account_part_count(g); i++)
		parts += grain_graph__account_part(g, i)->capacity_ns;
	CHECK(!a->why && a->threads == threads, "%s: threads", name);
	CHECK(sum == a->all.capacity_ns && parts == sum && sum == threads * grain_graph__totals(g)->wall_ns,
	      "%s: nothing is left over", name);
	return g;
}

/* The next of `count` pairs are causes and their times; all others are 0. */
static void causes(const char *name, const struct grain_graph *g, size_t count, const uint64_t (*pairs)[2])
{
	uint64_t expected[GRAIN_CAUSE_COUNT] = {0};
	const struct grain_account *a;

	if (!g)
		return;
	a = grain_graph__account(g);
	for (size_t i = 0; i < count; i++)
		expected[pairs[i][0]] = pairs[i][1];
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++) {
		bool equal = a->all.cause_ns[i] == expected[i];

		CHECK(equal, "%s: %s", name, grain_cause__name((enum grain_cause)i));
		if (!equal)
			printf("# %s: %llu, expected %llu\n", grain_cause__name((enum grain_cause)i),
			       (unsigned long long)a->all.cause_ns[i], (unsigned long long)expected[i]);
	}
}

#define CAUSES(name, g, ...)                                                                                 \
	causes(name, g, sizeof((const uint64_t[][2]){__VA_ARGS__}) / sizeof(uint64_t[2]),                    \
	       (const uint64_t[][2]){__VA_ARGS__})

static void test_serial_and_imbalance(void)
{
	struct grain_graph *g = account_of("serial and imbalance",
					   GRAPH_HEAD "0 1 0 thread-begin\n"
						      "100 1 0 region-begin region=1 src=1 threads=2\n"
						      "110 1 0 member-begin region=1 num=0\n"
						      "120 2 1 member-begin region=1 num=1\n"
						      "200 1 0 wait-begin kind=barrier-implicit\n"
						      "260 2 1 wait-begin kind=barrier-implicit\n"
						      "270 1 0 wait-end kind=barrier-implicit\n"
						      "270 1 0 member-end region=1 num=0\n"
						      "270 2 1 wait-end kind=barrier-implicit\n"
						      "270 2 1 member-end region=1 num=1\n"
						      "280 1 0 region-end region=1\n"
						      "300 1 0 thread-end\n",
					   2);

	/* Begins: 10 and 20; the barrier without anybody who works: twice 10; the end: twice 10. */
	CAUSES("serial and imbalance", g, {GRAIN_CAUSE_USEFUL, 90 + 140}, {GRAIN_CAUSE_SERIAL_WORK, 120},
	       {GRAIN_CAUSE_SERIAL, 120}, {GRAIN_CAUSE_IMBALANCE, 60}, {GRAIN_CAUSE_FORK_JOIN, 30 + 20 + 20});
	if (g) {
		const struct grain_account *a = grain_graph__account(g);
		double product = a->serial * a->load_balance * a->synchronisation * a->scheduling * a->system;

		check_near(a->parallel, 350.0 / 600, "parallel efficiency");
		check_near(product, a->parallel, "it is the product of its factors");
		CHECK(grain_graph__account_part(g, 0)->regions == 1 &&
			      grain_account_part__lost_ns(grain_graph__account_part(g, 0)) == 130 &&
			      grain_graph__account_part(g, 1)->serial &&
			      grain_account_part__lost_ns(grain_graph__account_part(g, 1)) == 120,
		      "the region loses most");
	}
	grain_graph__free(g);
}

static void test_waits_for_tasks(void)
{
	struct grain_graph *g = account_of("tasks",
					   GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
						      "0 1 0 member-begin region=1 num=0\n"
						      "0 2 1 member-begin region=1 num=1\n"
						      "0 2 1 wait-begin kind=barrier-implicit\n"
						      "10 1 0 create-begin task=1 src=2 flags=deferred\n"
						      "15 1 0 create-end task=1\n"
						      "20 2 1 task-begin task=1\n"
						      "30 1 0 wait-begin kind=taskwait\n"
						      "70 2 1 task-end task=1\n"
						      "70 1 0 wait-end kind=taskwait\n"
						      "80 1 0 wait-begin kind=barrier-implicit\n"
						      "80 1 0 wait-end kind=barrier-implicit\n"
						      "80 1 0 member-end region=1 num=0\n"
						      "80 2 1 wait-end kind=barrier-implicit\n"
						      "80 2 1 member-end region=1 num=1\n"
						      "80 1 0 region-end region=1\n",
					   2);

	/* Thread 2 waits 10 for one who works, 10 beside a task that it could begin, and 10 again at the end.
	 */
	CAUSES("tasks", g, {GRAIN_CAUSE_USEFUL, 10 + 15 + 50 + 10}, {GRAIN_CAUSE_MANAGEMENT, 5 + 10},
	       {GRAIN_CAUSE_IMBALANCE, 10 + 10}, {GRAIN_CAUSE_LACK_OF_WORK, 40});
	grain_graph__free(g);
}

static void test_off_cpu(void)
{
	struct grain_graph *g = account_of("off CPU",
					   GRAPH_HEAD "@process pid=7\n"
						      "@neighbour 1 pid=7 command=\"me\"\n"
						      "@neighbour 2 pid=8 command=\"you\"\n"
						      "0 1 0 region-begin region=1 src=1 threads=2\n"
						      "0 1 0 member-begin region=1 num=0\n"
						      "0 2 1 member-begin region=1 num=1\n"
						      "10 1 0 off-cpu reason=preempted by=2\n"
						      "10 2 1 off-cpu reason=preempted by=1\n"
						      "30 1 0 on-cpu reason=unknown\n"
						      "35 2 1 on-cpu reason=unknown\n"
						      "40 1 0 off-cpu reason=blocked\n"
						      "60 1 0 on-cpu reason=unknown ready=52\n"
						      "70 1 0 lock-begin kind=critical addr=0x1\n"
						      "74 1 0 lock-got kind=critical addr=0x1\n"
						      "80 1 0 member-end region=1 num=0\n"
						      "80 2 1 member-end region=1 num=1\n"
						      "80 1 0 region-end region=1\n",
					   2);

	CAUSES("off CPU", g, {GRAIN_CAUSE_USEFUL, 160 - 20 - 25 - 20 - 4}, {GRAIN_CAUSE_PREEMPTED, 20 + 8},
	       {GRAIN_CAUSE_OVERSUBSCRIBED, 25}, {GRAIN_CAUSE_BLOCKED, 12}, {GRAIN_CAUSE_LOCKS, 4});
	grain_graph__free(g);
}

/* The profiler's own threads on the CPUs are measuring, whoever else is called so. */
static void test_profiler_on_cpu(void)
{
	struct grain_graph *g = account_of("the profiler on a CPU",
					   GRAPH_HEAD "@neighbour 1 pid=50 command=graind-drain measuring=1\n"
						      "@neighbour 2 pid=51 command=graind-drain\n"
						      "0 1 0 region-begin region=1 src=1 threads=1\n"
						      "0 1 0 member-begin region=1 num=0\n"
						      "100 1 0 off-cpu reason=preempted by=1\n"
						      "140 1 0 on-cpu\n"
						      "150 1 0 off-cpu reason=preempted by=2\n"
						      "170 1 0 on-cpu\n"
						      "200 1 0 member-end region=1 num=0\n"
						      "200 1 0 region-end region=1\n",
					   1);

	CAUSES("the profiler on a CPU", g, {GRAIN_CAUSE_SERIAL_WORK, 140}, {GRAIN_CAUSE_MEASURING, 40},
	       {GRAIN_CAUSE_PREEMPTED, 20});
	grain_graph__free(g);
}

/* A worker that has no CPU comes late, and the other one waits for it. */
static void test_worker_without_cpu(void)
{
	struct grain_graph *g = account_of("worker without a CPU",
					   GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
						      "0 1 0 member-begin region=1 num=0\n"
						      "0 2 1 member-begin region=1 num=1\n"
						      "10 1 0 member-end region=1 num=0\n"
						      "10 2 1 member-end region=1 num=1\n"
						      "10 1 0 region-end region=1\n"
						      "12 2 1 off-cpu reason=preempted\n"
						      "20 1 0 region-begin region=2 src=1 threads=2\n"
						      "20 1 0 member-begin region=2 num=0\n"
						      "30 1 0 wait-begin kind=barrier-implicit\n"
						      "50 2 1 on-cpu reason=unknown\n"
						      "51 2 1 member-begin region=2 num=1\n"
						      "60 2 1 wait-begin kind=barrier-implicit\n"
						      "60 1 0 wait-end kind=barrier-implicit\n"
						      "60 1 0 member-end region=2 num=0\n"
						      "60 2 1 wait-end kind=barrier-implicit\n"
						      "60 2 1 member-end region=2 num=1\n"
						      "60 1 0 region-end region=2\n",
					   2);

	/* Between the regions 10 of work; the worker is missed for 30, the other one waits for it for 20. */
	CAUSES("worker without a CPU", g, {GRAIN_CAUSE_USEFUL, 20 + 10 + 9}, {GRAIN_CAUSE_SERIAL_WORK, 10},
	       {GRAIN_CAUSE_SERIAL, 10}, {GRAIN_CAUSE_PREEMPTED, 30 + 20}, {GRAIN_CAUSE_FORK_JOIN, 1 + 1},
	       {GRAIN_CAUSE_IMBALANCE, 9});
	grain_graph__free(g);
}

static void test_nested_and_smaller(void)
{
	struct grain_graph *g = account_of("nested, smaller",
					   GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=2\n"
						      "0 1 0 member-begin region=1 num=0\n"
						      "0 2 1 member-begin region=1 num=1\n"
						      "10 1 0 region-begin region=2 src=2 threads=2\n"
						      "10 1 0 member-begin region=2 num=0\n"
						      "10 3 2 member-begin region=2 num=1\n"
						      "30 1 0 member-end region=2 num=0\n"
						      "30 3 2 member-end region=2 num=1\n"
						      "30 1 0 region-end region=2\n"
						      "40 1 0 member-end region=1 num=0\n"
						      "40 2 1 member-end region=1 num=1\n"
						      "40 1 0 region-end region=1\n",
					   3);

	CAUSES("nested, smaller", g, {GRAIN_CAUSE_USEFUL, 40 + 20 + 40}, {GRAIN_CAUSE_LACK_OF_WORK, 20});
	grain_graph__free(g);
}

/* Nothing is left over in any file that is at hand, whatever it says. */
static void test_files(void)
{
	static const char *const patterns[] = {"tests/data/*.log", "tests/data/*.grt",
					       "tests/fuzz/corpus-log/*", "tests/fuzz/corpus-trace/*"};
	size_t with = 0;
	glob_t files = {0};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct grain_load_opts opts = {.keep_going = true};
		struct grain_graph *g = NULL;
		const struct grain_account *a;
		uint64_t sum = 0;

		if (grain_graph__load(files.gl_pathv[i], &opts, &g, NULL))
			continue;
		a = grain_graph__account(g);
		for (int k = 0; k < GRAIN_CAUSE_COUNT; k++)
			sum += a->all.cause_ns[k];
		if (!a->why && grain_graph__coverage(g)->partial == 0) {
			with++;
			CHECK(sum == a->all.capacity_ns &&
				      sum == a->threads * grain_graph__totals(g)->wall_ns,
			      "%s: nothing is left over", files.gl_pathv[i]);
		}
		grain_graph__free(g);
	}
	globfree(&files);
	CHECK(with > 5, "files with an account");
}

int main(void)
{
	test_serial_and_imbalance();
	test_waits_for_tasks();
	test_off_cpu();
	test_profiler_on_cpu();
	test_worker_without_cpu();
	test_nested_and_smaller();
	test_files();
	CHECK_DONE();
}
