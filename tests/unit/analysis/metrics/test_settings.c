/* SPDX-License-Identifier: BSD-2-Clause */
/* Thresholds and choices: what can be said, what is refused, and that every one has its effect. */
#include "tests/unit/graph_text.h"

#include <errno.h>

/*
 * Two threads, three siblings that one of them makes. Creations take 10 each,
 * the wait's own time is 100 - 20 = 80 on thread 1 (task 1 runs there for 20):
 * benefits are 20 / (10 + 80 / 3), 40 / ..., 60 / ... = 0.545, 1.09, 1.64.
 * Balance: 60 / 40 = 1.5. Fragments: task 2 is alone from 90 to 110.
 */
#define SIBLINGS                                                                                             \
	"0 1 0 region-begin region=1 src=1 threads=2\n0 1 0 member-begin region=1 num=0\n"                   \
	"0 2 1 member-begin region=1 num=1\n0 2 1 wait-begin kind=barrier-implicit\n"                        \
	"10 1 0 create-begin task=1 src=2 flags=deferred\n20 1 0 create-end task=1\n"                        \
	"20 1 0 create-begin task=2 src=2 flags=deferred\n30 1 0 create-end task=2\n"                        \
	"30 1 0 create-begin task=3 src=2 flags=deferred\n40 1 0 create-end task=3\n"                        \
	"50 1 0 wait-begin kind=taskwait\n50 2 1 task-begin task=3\n50 1 0 task-begin task=1\n"              \
	"70 1 0 task-end task=1\n110 2 1 task-end task=3\n110 2 1 task-begin task=2\n"                       \
	"150 2 1 task-end task=2\n150 1 0 wait-end kind=taskwait\n150 1 0 wait-begin "                       \
	"kind=barrier-implicit\n"                                                                            \
	"160 1 0 wait-end kind=barrier-implicit\n160 1 0 member-end region=1 num=0\n"                        \
	"160 2 1 wait-end kind=barrier-implicit\n160 2 1 member-end region=1 num=1\n"                        \
	"160 1 0 region-end region=1\n"

static uint64_t flagged(const char *setting, enum grain_problem problem, double *threshold)
{
	struct grain_settings settings;
	struct grain_problem_summary summary = {0};
	struct grain_error err = {""};
	struct grain_graph *g;

	grain_settings__default(&settings);
	CHECK(!*setting || grain_settings__set(&settings, setting, &err) == 0, "settings: \"%s\" is taken %s",
	      setting, err.text);
	g = graph_of_text_set(setting,
			      GRAPH_HEAD "@machine host=h cores=8 sockets=2 kernel=6\n"
					 "@cpu 0 core=0 socket=0 node=0\n"
					 "@cpu 1 core=5 socket=1 node=0\n" SIBLINGS,
			      &settings);
	if (!g)
		return UINT64_MAX;
	grain_graph__problem(g, problem, &summary);
	*threshold = summary.threshold;
	grain_graph__free(g);
	return summary.grains;
}

static void expect(const char *setting, enum grain_problem problem, double threshold, uint64_t grains)
{
	double got = NAN;
	uint64_t n = flagged(setting, problem, &got);

	CHECK(n == grains && got == threshold, "settings: with \"%s\" %llu grains are beyond %g", setting,
	      (unsigned long long)grains, threshold);
	if (n != grains || got != threshold)
		printf("# got %llu beyond %g\n", (unsigned long long)n, got);
}

static void test_thresholds(void)
{
	expect("", GRAIN_PROBLEM_PARALLEL_BENEFIT, 1, 1);
	expect("parallel_benefit=1.5", GRAIN_PROBLEM_PARALLEL_BENEFIT, 1.5, 2);
	expect("parallel_benefit=0.5", GRAIN_PROBLEM_PARALLEL_BENEFIT, 0.5, 0);
	expect("", GRAIN_PROBLEM_LOAD_BALANCE, 1, 3);
	expect("load_balance=1.5", GRAIN_PROBLEM_LOAD_BALANCE, 1.5, 0);
	expect("load_balance=1.49", GRAIN_PROBLEM_LOAD_BALANCE, 1.49, 3);
	/* Tasks 1 and 3 run together until 70; then 3 alone; then 2 alone. */
	expect("", GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, 2, 2);
	expect("instantaneous_parallelism=3", GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, 3, 3);
	expect("instantaneous_parallelism=1", GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, 1, 0);
	/* Cores 0, 5, 5: distances 5, 5, 0, their median 5; 8 cores on 2 sockets. */
	expect("", GRAIN_PROBLEM_SCATTER, 4, 3);
	expect("scatter=5", GRAIN_PROBLEM_SCATTER, 5, 0);
	expect("scatter=4.5", GRAIN_PROBLEM_SCATTER, 4.5, 3);
}

static void refused(const char *setting, const char *says)
{
	struct grain_settings settings, before;
	struct grain_error err = {""};

	memset(&settings, 0, sizeof settings);
	grain_settings__default(&settings);
	before = settings;
	CHECK(grain_settings__set(&settings, setting, &err) == -EINVAL && strstr(err.text, says),
	      "settings: \"%s\" is refused, saying %s", setting, says);
	CHECK(settings.parallelism == before.parallelism && settings.interval == before.interval &&
		      settings.parallel_benefit == before.parallel_benefit,
	      "settings: \"%s\" changes nothing", setting);
	CHECK(grain_settings__set(&settings, setting, NULL) == -EINVAL, "settings: no place for an error");
}

static void test_refused(void)
{
	refused("", "NAME=VALUE");
	refused("parallel_benefit", "NAME=VALUE");
	refused("=1", "NAME=VALUE");
	refused("benefit=1", "parallel_benefit");
	refused("parallel_benefi=1", "parallel_benefit");
	refused("parallel_benefit=", "number");
	refused("parallel_benefit=-1", "number");
	refused("parallel_benefit=nan", "number");
	refused("parallel_benefit=inf", "number");
	refused("parallel_benefit=1x", "number");
	refused("parallelism=fast", "exact, optimistic or conservative");
	refused("parallelism=", "exact, optimistic or conservative");
	refused("interval=0", "median, minimum, gap");
	refused("interval=-5us", "median, minimum, gap");
	refused("interval=5h", "median, minimum, gap");
	refused("interval=nan", "median, minimum, gap");
	refused("interval=1e30s", "median, minimum, gap");
	refused("topology=", "topology");
	refused("cycle_counter=", "cycle_counter");
	refused("memory=", "16G");
	refused("memory=0", "16G");
	refused("memory=-1G", "16G");
	refused("memory=1X", "16G");
	refused("memory=1GB", "16G");
	refused("memory=99999999999T", "16G");
}

static void test_values(void)
{
	struct grain_settings s;
	static const struct {
		const char *text;
		uint64_t ns;
	} times[] = {{"interval=250", 250},	  {"interval=250ns", 250},	{"interval=50us", 50000},
		     {"interval=1.5ms", 1500000}, {"interval=2s", 2000000000u}, {"interval=1e3", 1000}};

	grain_settings__default(&s);
	CHECK(s.parallel_benefit == 1 && s.load_balance == 1 && s.work_deviation == 2 &&
		      s.instantaneous_parallelism == 0 && isnan(s.scatter) &&
		      s.memory_hierarchy_utilization == 2 && s.parallelism == GRAIN_PARALLELISM_EXACT &&
		      s.interval == GRAIN_INTERVAL_MEDIAN && !s.topology && !s.stall_counter,
	      "settings: the defaults of the papers");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		CHECK(grain_settings__set(&s, times[i].text, NULL) == 0 &&
			      s.interval == GRAIN_INTERVAL_GIVEN && s.interval_ns == times[i].ns,
		      "settings: %s", times[i].text);
	CHECK(grain_settings__set(&s, "interval=gap", NULL) == 0 && s.interval == GRAIN_INTERVAL_GAP,
	      "settings: interval=gap");
	CHECK(grain_settings__set(&s, "parallelism=conservative", NULL) == 0 &&
		      s.parallelism == GRAIN_PARALLELISM_CONSERVATIVE,
	      "settings: parallelism=conservative");
	CHECK(grain_settings__set(&s, "topology=/a=b.xml", NULL) == 0, "settings: a value with =");
	CHECK_STR(s.topology, "/a=b.xml", "settings: is the rest of the text");
}

int main(void)
{
	test_values();
	test_refused();
	test_thresholds();
	CHECK_DONE();
}
