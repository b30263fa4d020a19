/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said first, and that a sound program gets no advice. */
#include "analysis/advice/advice_text.h"
#include "tests/unit/graph_text.h"

static uint64_t clock_ns;
static int next_task;
static FILE *out;

static void event(int thread, const char *text)
{
	fprintf(out, "%llu %d %d %s\n", (unsigned long long)clock_ns, thread + 1, thread, text);
}

static void task_event(int thread, const char *what, int task, const char *more)
{
	fprintf(out, "%llu %d %d %s task=%d%s\n", (unsigned long long)clock_ns, thread + 1, thread, what,
		task, more);
}

/* A binary tree on one thread: own work of `work` ns a task, creation costs `cost`. */
static void tree(int task, int depth, unsigned work, unsigned cost)
{
	task_event(0, "task-begin", task, "");
	clock_ns += work;
	if (depth > 0) {
		int children[2];

		for (int i = 0; i < 2; i++) {
			children[i] = next_task++;
			task_event(0, "create-begin", children[i], " src=2 flags=deferred");
			clock_ns += cost;
			task_event(0, "create-end", children[i], "");
		}
		event(0, "wait-begin kind=taskwait");
		for (int i = 0; i < 2; i++)
			tree(children[i], depth - 1, work, cost);
		event(0, "wait-end kind=taskwait");
	}
	task_event(0, "task-end", task, "");
}

static struct grain_graph *tree_graph(const char *name, int depth, unsigned work, unsigned cost)
{
	char *text = NULL;
	size_t size;
	struct grain_graph *g;

	out = open_memstream(&text, &size);
	fputs(GRAPH_HEAD, out);
	clock_ns = 0;
	next_task = 2;
	event(0, "region-begin region=1 src=1 threads=1");
	event(0, "member-begin region=1 num=0");
	task_event(0, "create-begin", 1, " src=2 flags=deferred");
	clock_ns += cost;
	task_event(0, "create-end", 1, "");
	event(0, "wait-begin kind=barrier-implicit");
	tree(1, depth, work, cost);
	event(0, "wait-end kind=barrier-implicit");
	event(0, "member-end region=1 num=0");
	event(0, "region-end region=1");
	fclose(out);
	g = graph_of_text(name, text);
	free(text);
	return g;
}

static void test_small_tasks(void)
{
	struct grain_graph *g = tree_graph("small tasks", 9, 100, 1000);
	struct grain_advice a;
	struct grain_profile p;

	if (!g)
		return;
	CHECK(grain_graph__advice_count(g) == 1, "small tasks: one advice");
	grain_graph__advice(g, 0, &a);
	CHECK(a.problem == GRAIN_PROBLEM_PARALLEL_BENEFIT, "small tasks: it is about their benefit");
	/* 15 tasks are at depth 4 or above it. */
	CHECK(a.saves_ns == 1008 * 1000, "small tasks: the creations below the cutoff are at stake");
	CHECK_STR(a.finding,
		  "512 of 1,023 tasks created at a.c:20 typically run 100 ns, less than the 1.0 us it costs "
		  "to create "
		  "and join one",
		  "small tasks: the finding");
	/* A subtree of 127 tasks, those at depth 4, is the smallest that runs ten times its creation. */
	CHECK_STR(a.text,
		  "create fewer, larger tasks: below depth 4 call the function directly (an if or final "
		  "clause, or a "
		  "test before the directive); 1,008 of the 1,023 tasks go",
		  "small tasks: the text");
	grain_graph__profile(g, 0, &p);
	CHECK(p.instances == 1023 && p.leaves == 512 && p.exec.sum == 102300 && p.exec.min == 100 &&
		      p.exec.stddev == 0 && p.create.mean == 1000,
	      "small tasks: the profile");
	CHECK(grain_graph__depth_count(g) == 10, "small tasks: ten depths");
	grain_graph__free(g);
}

static void test_large_tasks(void)
{
	struct grain_graph *g = tree_graph("large tasks", 6, 200000, 1000);

	if (!g)
		return;
	CHECK(grain_graph__advice_count(g) == 0, "large tasks: no advice");
	grain_graph__free(g);
}

/*
 * Two threads, `tasks` tasks of one source made by member 0, of which the
 * first runs `first` ns and the others `others`; member 1 executes the first.
 */
static struct grain_graph *flat_graph(const char *name, int tasks, unsigned first, unsigned others)
{
	char *text = NULL;
	size_t size;
	struct grain_graph *g;
	uint64_t end;

	out = open_memstream(&text, &size);
	fputs(GRAPH_HEAD, out);
	clock_ns = 0;
	event(0, "region-begin region=1 src=1 threads=2");
	event(0, "member-begin region=1 num=0");
	event(1, "member-begin region=1 num=1");
	event(1, "wait-begin kind=barrier-implicit");
	for (int i = 1; i <= tasks; i++) {
		task_event(0, "create-begin", i, " src=3 flags=deferred");
		clock_ns += 100;
		task_event(0, "create-end", i, "");
	}
	event(0, "wait-begin kind=barrier-implicit");
	task_event(1, "task-begin", 1, "");
	end = clock_ns + first;
	for (int i = 2; i <= tasks; i++) {
		task_event(0, "task-begin", i, "");
		clock_ns += others;
		task_event(0, "task-end", i, "");
	}
	if (end > clock_ns)
		clock_ns = end;
	task_event(1, "task-end", 1, "");
	event(0, "wait-end kind=barrier-implicit");
	event(0, "member-end region=1 num=0");
	event(1, "wait-end kind=barrier-implicit");
	event(1, "member-end region=1 num=1");
	event(0, "region-end region=1");
	fclose(out);
	g = graph_of_text(name, text);
	free(text);
	return g;
}

static void test_imbalance(void)
{
	struct grain_graph *g = flat_graph("imbalance", 5, 1000000, 10000);
	struct grain_advice a;

	if (!g)
		return;
	CHECK(grain_graph__advice_count(g) == 2, "imbalance: two advices");
	grain_graph__advice(g, 0, &a);
	/* Longest minus mean is 792 us, but thread 0's idle 960 us, shared by both, are all there is to win.
	 */
	CHECK(a.problem == GRAIN_PROBLEM_LOAD_BALANCE && a.saves_ns == 480050,
	      "imbalance: balance comes first");
	CHECK_STR(a.finding,
		  "of 5 siblings from a.c:30 the longest takes 1.0 ms, their mean is 208 us; the others wait "
		  "for it",
		  "imbalance: the finding");
	CHECK(a.evidence.worst == context_named(g, "0.p0.0.0"), "imbalance: the longest is named");
	grain_graph__advice(g, 1, &a);
	CHECK(a.kind == GRAIN_ADVICE_FEW_GRAINS && a.problem == GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM &&
		      a.saves_ns == 480000,
	      "imbalance: then the idle thread, its time shared by both");
	check_near(context_at(g, "0.p0.0.0").load_balance, 100, "balance");
	grain_graph__free(g);
}

static void test_sound(void)
{
	struct grain_graph *g = flat_graph("sound", 5, 400000, 100000);

	if (!g)
		return;
	CHECK(grain_graph__advice_count(g) == 0, "sound: no advice");
	check_near(context_at(g, "0.p0.0.0").parallel_benefit, 4000, "benefit of a large task");
	grain_graph__free(g);
}

static void test_words(void)
{
	char text[32];

	CHECK_STR(advice__count(0, text), "0", "words: 0");
	CHECK_STR(advice__count(999, text), "999", "words: 999");
	CHECK_STR(advice__count(8190, text), "8,190", "words: 8190");
	CHECK_STR(advice__count(UINT64_MAX, text), "18,446,744,073,709,551,615", "words: the largest count");
	CHECK_STR(advice__time(0, text), "0 ns", "words: 0 ns");
	CHECK_STR(advice__time(999.4, text), "999 ns", "words: 999 ns");
	CHECK_STR(advice__time(999.6, text), "1.0 us", "words: 1 us");
	CHECK_STR(advice__time(99960, text), "100 us", "words: 100 us");
	CHECK_STR(advice__time(1234567, text), "1.2 ms", "words: 1.2 ms");
	CHECK_STR(advice__time(3.25e12, text), "3250 s", "words: 3250 s");
}

int main(void)
{
	test_small_tasks();
	test_large_tasks();
	test_imbalance();
	test_sound();
	test_words();
	CHECK_DONE();
}
