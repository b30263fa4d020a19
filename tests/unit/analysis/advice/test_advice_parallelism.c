/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice about threads with nothing to run: one creator, few grains, serial code. */
#include "tests/unit/advice_log.h"

#define CREATION (1u << GRAIN_ADVICE_CREATION)
#define SMALL (1u << GRAIN_ADVICE_SMALL_TASKS)
#define LITTLE (1u << GRAIN_ADVICE_LITTLE_PARALLELISM)
#define FEW (1u << GRAIN_ADVICE_FEW_GRAINS)
#define IMBALANCE (1u << GRAIN_ADVICE_IMBALANCE)

/* Thread 0 creates `tasks` tasks; each creation takes 100 ns. The other threads execute each task at once. */
static struct grain_graph *creator(const char *name, int threads, int tasks, unsigned exec)
{
	struct log l;

	log_open(&l, threads);
	log_team(&l, 1);
	for (int i = 1; i < threads; i++)
		log_barrier(&l, i);
	for (int i = 0; i < tasks; i++) {
		int thread = threads > 1 ? 1 + i % (threads - 1) : 0;

		log_create(&l, 0, i + 1, 3, 100);
		if (thread == 0)
			continue;
		if (l.now[thread] < l.now[0])
			l.now[thread] = l.now[0];
		log_task(&l, thread, i + 1, exec);
	}
	log_barrier(&l, 0);
	for (int i = 0; i < tasks && threads == 1; i++)
		log_task(&l, 0, i + 1, exec);
	log_end_team(&l, 1);
	return log_graph(&l, name, NULL);
}

/*
 * Four threads, 400 tasks of 150 ns: a new one every 100 ns keeps one and a
 * half of three others busy. Tasks are longer than their creation, so that
 * there are no small ones. Idle: three threads for the first 100 ns; then per
 * 200 ns two tasks' 300 ns of three threads' 600; the last task ends 150 ns
 * after the last creation, when also the second last is over after 50.
 */
static void test_creation(void)
{
	struct grain_graph *g = creator("creation", 4, 400, 150);
	uint64_t wall = 40150, thread_time = 4 * wall, idle = thread_time - 40000 - 400 * 150;
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "creation", CREATION);
	if (find_advice(g, "creation", GRAIN_ADVICE_CREATION, &a)) {
		check_saves(&a, "creation", (40000 + idle) / 4);
		CHECK(a.evidence.grains == 400 && a.evidence.of == 400 && a.evidence.threads == 4,
		      "creation: 400 of 400 tasks, 4 threads");
		check_near(a.evidence.idle_percent, 100.0 * (double)idle / (double)thread_time,
			   "creation: idle");
		check_worst(g, &a, "creation", "0.p0.0");
		CHECK_STR(a.finding,
			  "one thread creates 400 of the 400 tasks; from the first to the last that takes it "
			  "40.0 us of "
			  "the region's 40.2 us, 40.0 us of them in the creations themselves; its 4 threads "
			  "take them "
			  "faster than they come and have nothing to run for 38 % of their time",
			  "creation: the finding");
		CHECK_STR(a.text,
			  "let several threads create the tasks of a.c:30: a few tasks that create a part of "
			  "them "
			  "each, or a recursive division; or give each task more to do (taskloop with "
			  "grainsize, a "
			  "loop inside)",
			  "creation: the text");
	}
	grain_graph__free(g);
}

/* 60 ns of the creator's own code between creations of 40 ns: the same, but that only the latter can go. */
static void test_code_between(void)
{
	uint64_t wall = 40090, idle = 4 * wall - 39940 - 400 * 150;
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 4);
	log_team(&l, 1);
	for (int i = 1; i < 4; i++)
		log_barrier(&l, i);
	for (int i = 0; i < 400; i++) {
		int thread = 1 + i % 3;

		l.now[0] += i ? 60 : 0;
		log_create(&l, 0, i + 1, 3, 40);
		l.now[thread] = l.now[0];
		log_task(&l, thread, i + 1, 150);
	}
	log_barrier(&l, 0);
	log_end_team(&l, 1);
	g = log_graph(&l, "code between", NULL);
	if (!g)
		return;
	check_kinds(g, "code between", CREATION);
	if (find_advice(g, "code between", GRAIN_ADVICE_CREATION, &a))
		check_saves(&a, "code between", (400 * 40 + idle) / 4);
	grain_graph__free(g);
}

/*
 * Two threads, tasks of 50 ns: they are small as well. Merging 20 of them
 * leaves a twentieth of the creation and of the waits for it.
 */
static void test_small_and_creation(void)
{
	struct grain_graph *g = creator("small ones of one creator", 2, 400, 50);
	uint64_t idle = 2 * 40050 - 40000 - 400 * 50;
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "small ones of one creator", CREATION | SMALL);
	if (find_advice(g, "small ones of one creator", GRAIN_ADVICE_SMALL_TASKS, &a))
		check_saves(&a, "small ones of one creator", (40000 + idle) / 2 * 19 / 20);
	grain_graph__free(g);
}

/* Creation is half of the region, a last task the other half: no more than the first half goes. */
static void test_half(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 4);
	log_team(&l, 1);
	for (int i = 1; i < 4; i++)
		log_barrier(&l, i);
	for (int i = 0; i < 201; i++) {
		log_create(&l, 0, i + 1, 3, 100);
		l.now[1] = l.now[0];
		log_task(&l, 1, i + 1, i < 200 ? 10 : 20000);
	}
	log_barrier(&l, 0);
	log_end_team(&l, 1);
	g = log_graph(&l, "half", NULL);
	if (g && find_advice(g, "half", GRAIN_ADVICE_CREATION, &a))
		check_saves(&a, "half", 201 * 100);
	grain_graph__free(g);
}

/* Tasks that keep all threads busy: who creates them does not matter. */
static void test_busy(void)
{
	struct grain_graph *g = creator("busy", 4, 400, 295);

	if (!g)
		return;
	check_kinds(g, "busy", 0);
	grain_graph__free(g);
}

/* On one thread creating is just a cost. */
static void test_one_thread(void)
{
	struct grain_graph *g = creator("one thread", 1, 400, 150);

	if (!g)
		return;
	check_kinds(g, "one thread", 0);
	grain_graph__free(g);
}

/* Five tasks of `exec` on four threads, made at depth `depth`. */
static struct grain_graph *five(const char *name, int depth, unsigned exec)
{
	uint64_t created;
	struct log l;

	log_open(&l, 4);
	log_team(&l, 1);
	for (int i = 1; i < 4; i++)
		log_barrier(&l, i);
	if (depth > 1) {
		log_create(&l, 0, 6, 3, 10);
		log_barrier(&l, 0);
		log_event(&l, 0, "task-begin task=6");
	}
	for (int i = 1; i <= 5; i++)
		log_create(&l, 0, i, 3, 10);
	if (depth > 1)
		log_event(&l, 0, "task-end task=6");
	else
		log_barrier(&l, 0);
	created = l.now[0];
	for (int i = 0; i < 4; i++) {
		l.now[i] = created;
		log_task(&l, i, i + 1, exec);
	}
	log_task(&l, 3, 5, exec);
	log_end_team(&l, 1);
	return log_graph(&l, name, NULL);
}

static void test_few(void)
{
	struct grain_graph *g = five("few", 1, 100000);
	struct grain_advice a;

	if (!g)
		return;
	/* Siblings of equal length are balanced. */
	check_kinds(g, "few", FEW);
	if (find_advice(g, "few", GRAIN_ADVICE_FEW_GRAINS, &a)) {
		/*
		 * From when four of them end on three threads. Waits while five are created are not counted:
		 * they are for the creation.
		 */
		check_saves(&a, "few", 3 * 100000 / 4);
		CHECK(a.evidence.grains == 5 && a.evidence.threads == 4, "few: 5 for 4 threads");
		CHECK_STR(a.finding,
			  "its 4 threads have nothing to run for 37 % of their time (300 us of 800 us): "
			  "there are only 5 "
			  "grains in it, which typically run 100 us",
			  "few: the finding");
		CHECK_STR(a.text,
			  "create more tasks: divide what one of a.c:30 does into several; creating one "
			  "takes 10 ns",
			  "few: the text");
	}
	grain_graph__free(g);
	g = five("few nested ones", 2, 100000);
	if (!g)
		return;
	if (find_advice(g, "few nested ones", GRAIN_ADVICE_FEW_GRAINS, &a))
		CHECK_STR(a.text,
			  "create more tasks: go on creating them to a greater depth at a.c:30 (a later "
			  "cutoff); "
			  "creating one takes 10 ns",
			  "few nested ones: the text");
	grain_graph__free(g);
}

/* Three tasks in a region of one thread, in a member of a region of two. */
static void test_nested_region(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	fputs("@source 6 file=a.c line=60 func=k kind=parallel\n", l.head);
	log_team(&l, 1);
	log_barrier(&l, 1);
	log_event(&l, 0, "region-begin region=2 src=6 threads=1");
	log_event(&l, 0, "member-begin region=2 num=0");
	for (int i = 1; i <= 3; i++)
		log_create(&l, 0, i, 3, 10);
	log_barrier(&l, 0);
	for (int i = 1; i <= 3; i++)
		log_task(&l, 0, i, 10000);
	log_event(&l, 0, "wait-end kind=barrier-implicit");
	log_event(&l, 0, "member-end region=2 num=0");
	log_event(&l, 0, "region-end region=2");
	log_barrier(&l, 0);
	log_end_team(&l, 1);
	g = log_graph(&l, "nested region", NULL);
	if (!g)
		return;
	if (find_advice(g, "nested region", GRAIN_ADVICE_FEW_GRAINS, &a)) {
		struct grain_definition d;

		grain_graph__definition(g, a.definition, &d);
		CHECK_STR(d.source, "a.c:10", "nested region: the outer one is named");
		CHECK(a.evidence.grains == 3, "nested region: what runs in the inner one counts");
	}
	grain_graph__free(g);
}

/* Five tasks that are worth ten times their cost: more of them would not pay. */
static void test_few_small(void)
{
	struct grain_graph *g = five("few small ones", 1, 100);

	if (!g)
		return;
	check_kinds(g, "few small ones", LITTLE);
	grain_graph__free(g);
}

/* Two threads create tasks for two others, all of which are too short for that. */
static void test_two_creators(void)
{
	struct grain_graph *g;
	struct log l;

	log_open(&l, 4);
	log_team(&l, 1);
	log_barrier(&l, 2);
	log_barrier(&l, 3);
	for (int i = 0; i < 400; i++) {
		int from = i % 2, to = 2 + i % 2;

		log_create(&l, from, i + 1, 3, 100);
		l.now[to] = l.now[from];
		log_task(&l, to, i + 1, 30);
		l.now[to] = l.now[from];
	}
	log_barrier(&l, 0);
	log_barrier(&l, 1);
	for (int i = 2; i < 4; i++)
		l.now[i] += 30;
	log_end_team(&l, 1);
	g = log_graph(&l, "two creators", NULL);
	if (!g)
		return;
	CHECK(context_at(g, "0.p0.1.199").exec_ns == 30, "two creators: both create 200");
	for (size_t i = 0; i < grain_graph__advice_count(g); i++) {
		struct grain_advice a;

		grain_graph__advice(g, i, &a);
		CHECK(a.kind != GRAIN_ADVICE_CREATION, "two creators: not one bottleneck");
	}
	grain_graph__free(g);
}

/* Member 0 computes by itself before it makes seven tasks. */
static void test_serial(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	log_barrier(&l, 1);
	l.now[0] += 500000;
	for (int i = 1; i <= 7; i++)
		log_create(&l, 0, i, 3, 10);
	log_barrier(&l, 0);
	l.now[1] = l.now[0];
	for (int i = 1; i <= 7; i++)
		log_task(&l, i % 2, i, 10000);
	log_end_team(&l, 1);
	g = log_graph(&l, "serial", NULL);
	if (!g)
		return;
	check_kinds(g, "serial", LITTLE);
	if (find_advice(g, "serial", GRAIN_ADVICE_LITTLE_PARALLELISM, &a)) {
		/* Until the first task is being created, and while the last of an odd number runs. */
		check_saves(&a, "serial", (500000 + 10000) / 2);
		CHECK_STR(a.text,
			  "make more work available at a time: the critical path runs mostly outside of "
			  "tasks, in the "
			  "code that creates them; turn more of it into tasks",
			  "serial: the text");
	}
	grain_graph__free(g);
}

/* A region in which each thread does a part of its own. */
static void test_no_grains(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	l.now[0] += 10000;
	l.now[1] += 2000;
	log_barrier(&l, 0);
	log_barrier(&l, 1);
	log_end_team(&l, 1);
	g = log_graph(&l, "no grains", NULL);
	if (!g)
		return;
	check_kinds(g, "no grains", LITTLE);
	if (find_advice(g, "no grains", GRAIN_ADVICE_LITTLE_PARALLELISM, &a)) {
		check_saves(&a, "no grains", 8000 / 2);
		CHECK_STR(a.text,
			  "give its threads equal shares: it has neither tasks nor loops that could be "
			  "divided in "
			  "another way",
			  "no grains: the text");
		check_near(a.evidence.median_exec_ns, NAN, "no grains: nothing typical");
	}
	grain_graph__free(g);
}

int main(void)
{
	test_creation();
	test_code_between();
	test_half();
	test_small_and_creation();
	test_busy();
	test_one_thread();
	test_few();
	test_nested_region();
	test_few_small();
	test_two_creators();
	test_serial();
	test_no_grains();
	CHECK_DONE();
}
