/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice about grains that take too long: against a baseline, for memory, for locks; and its ranking. */
#include "tests/unit/advice_log.h"

#define INFLATION (1u << GRAIN_ADVICE_INFLATION)
#define STALLS (1u << GRAIN_ADVICE_STALLS)
#define LOCKS (1u << GRAIN_ADVICE_LOCKS)
#define LITTLE (1u << GRAIN_ADVICE_LITTLE_PARALLELISM)

/* A task's begin or end, with what its thread counted so far. */
static void task_event(struct log *l, int thread, const char *what, int task, bool counted,
		       const uint64_t counts[2])
{
	if (counted)
		log_event(l, thread, "%s task=%d c0=%llu c1=%llu", what, task, (unsigned long long)counts[0],
			  (unsigned long long)counts[1]);
	else
		log_event(l, thread, "%s task=%d", what, task);
}

/* Four tasks of `exec` on one or two threads, each off its core for `off`, and with counters when there are.
 */
static struct grain_graph *four(const char *name, int threads, unsigned exec, unsigned off,
				const char *machine, unsigned stalls, const struct grain_load_opts *opts)
{
	bool counted = strstr(machine, "@counter");
	uint64_t created, counts[2][2] = {{0}};
	struct log l;

	log_open(&l, threads);
	fputs(machine, l.head);
	log_team(&l, 1);
	for (int i = 1; i < threads; i++)
		log_barrier(&l, i);
	for (int i = 1; i <= 4; i++)
		log_create(&l, 0, i, 2, 100);
	log_barrier(&l, 0);
	created = l.now[0];
	for (int i = 0; i < threads; i++)
		l.now[i] = created;
	for (int i = 0; i < 4; i++) {
		int t = i % threads;

		task_event(&l, t, "task-begin", i + 1, counted, counts[t]);
		if (off) {
			l.now[t] += 1000;
			log_event(&l, t, "off-cpu reason=preempted");
			l.now[t] += off;
			log_event(&l, t, "on-cpu reason=preempted");
			l.now[t] -= 1000 + off;
		}
		l.now[t] += exec;
		counts[t][0] += exec;
		counts[t][1] += stalls;
		task_event(&l, t, "task-end", i + 1, counted, counts[t]);
	}
	log_end_team(&l, 1);
	return log_graph(&l, name, opts);
}

/* The two-thread run against the baseline: what it says. */
static void against(const char *name, unsigned off, const char *machine, unsigned stalls, const char *text)
{
	struct grain_graph *base = four("baseline", 1, 100000, 0, "", 0, NULL), *g;
	struct grain_load_opts opts = {.baseline = base};
	struct grain_advice a;

	g = four(name, 2, 250000, off, machine, stalls, &opts);
	/*
	 * 600 of 1000 us are excess, 150 of 250 on the critical path: of the bound 1000 / 2 + 250 / 2 three
	 * fifths go; 500.4 us were observed.
	 */
	if (g && find_advice(g, name, GRAIN_ADVICE_INFLATION, &a)) {
		check_saves(&a, name, 300240);
		check_near(a.evidence.deviation, 2.5, "times as long as in the baseline");
		CHECK(a.evidence.grains == 4 && a.evidence.of == 4, "%s: all four", name);
		check_worst(g, &a, name, "0.p0.0.0");
		CHECK_STR(
			a.finding,
			"the 4 grains of a.c:20 run 2.5 times as long as in the baseline: 1.0 ms altogether "
			"instead of 400 us; 4 are beyond the threshold of 2",
			"%s: the finding", name);
		CHECK_STR(a.text, text, "%s: the text", name);
	}
	grain_graph__free(g);
	grain_graph__free(base);
}

#define TWO_NODES                                                                                            \
	"@machine host=n cores=2 sockets=2\n@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=1 socket=1 node=1\n"
#define COUNTERS "@counter 0 name=PAPI_TOT_CYC\n@counter 1 name=PAPI_RES_STL\n"

static void test_inflation(void)
{
	against("unknown cause", 0, "", 0,
		"look at what the threads share while they run a.c:20: memory bandwidth, cache lines that "
		"several "
		"write (false sharing), the clock frequency; counters of cycles and stalls would tell");
	against("preempted", 150000, "", 0,
		"this is not the program's fault: its threads were off their cores for 600 us of that time; "
		"use no "
		"more threads than free cores, and measure while nothing else runs");
	against("two nodes", 0, TWO_NODES, 0,
		"keep data near the threads that use it: let the threads that compute at a.c:20 also "
		"initialize "
		"its "
		"data (first touch), or spread it over the nodes (numactl --interleave), and bind threads "
		"(OMP_PROC_BIND=close)");
	against("stalled", 0, COUNTERS, 200000,
		"improve how a.c:20 goes through memory: in the order in which data lies (loop order), in "
		"blocks "
		"that fit the cache, without threads writing to the same cache lines");
	/* Two cores a socket; siblings run on 0 and 5: of six pairs four are 5 apart. */
	against("scattered", 0,
		"@machine host=n cores=8 sockets=4\n@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=5 socket=2 "
		"node=0\n",
		0,
		"keep siblings of a.c:20 on cores that share a cache: bind threads (OMP_PROC_BIND=close, "
		"affinity "
		"clause), create larger tasks near their data");
}

/* As long as in the baseline but for a twentieth, and no baseline at all. */
static void test_not_inflated(void)
{
	struct grain_graph *base = four("baseline", 1, 100000, 0, "", 0, NULL), *g;
	struct grain_load_opts opts = {.baseline = base};

	g = four("a twentieth", 2, 105000, 0, TWO_NODES, 0, &opts);
	if (g)
		check_kinds(g, "a twentieth", 0);
	grain_graph__free(g);
	g = four("no baseline", 2, 250000, 0, TWO_NODES, 0, NULL);
	if (g)
		check_kinds(g, "no baseline", 0);
	grain_graph__free(g);
	grain_graph__free(base);
}

/*
 * 60 of 100 us stalled; a third would be at the threshold. Of 4 * 26.67 us on
 * 2 threads, one task of them on the critical path, 4/15 of 200.4 us go.
 */
static void test_stalls(void)
{
	struct grain_graph *g = four("stalls", 2, 100000, 0, COUNTERS, 60000, NULL);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "stalls", STALLS);
	if (find_advice(g, "stalls", GRAIN_ADVICE_STALLS, &a)) {
		check_saves(&a, "stalls", 53440);
		check_near(a.evidence.stalled_percent, 80.0 / 3, "beyond the threshold");
		CHECK_STR(
			a.finding,
			"4 of the 4 grains of a.c:20 compute for less than 2 times as long as they wait for "
			"memory; "
			"waiting beyond that takes 107 us of their 400 us",
			"stalls: the finding");
	}
	grain_graph__free(g);
	g = four("few stalls", 2, 100000, 0, COUNTERS, 30000, NULL);
	if (g)
		check_kinds(g, "few stalls", 0);
	grain_graph__free(g);
}

/* Two threads take turns in a critical section, 1000 ns at a time, five times each. */
static void test_locks(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 2; i++) {
			log_event(&l, i, "lock-begin kind=critical addr=7 src=5");
			l.now[i] = (uint64_t)round * 2000 + (uint64_t)i * 1000;
			log_event(&l, i, "lock-got kind=critical addr=7 src=5");
			l.now[i] += 1000;
			log_event(&l, i, "lock-end kind=critical addr=7 src=5");
		}
	}
	log_barrier(&l, 0);
	log_barrier(&l, 1);
	log_end_team(&l, 1);
	g = log_graph(&l, "locks", NULL);
	if (!g)
		return;
	/* The first thread is done 1000 ns before the other. */
	check_kinds(g, "locks", LOCKS | LITTLE);
	if (find_advice(g, "locks", GRAIN_ADVICE_LOCKS, &a)) {
		/*
		 * 9000 ns, spread over both threads.
		 */
		check_saves(&a, "locks", 9000 / 2);
		CHECK(a.problem == GRAIN_PROBLEM_COUNT && a.evidence.wait_ns == 9000 &&
			      a.evidence.grains == 10,
		      "locks: 9000 ns in ten entries, and no metric's problem");
		CHECK_STR(a.finding,
			  "threads waited 9.0 us to enter the critical section or lock at a.c:50, 900 ns on "
			  "average "
			  "of 10 waits",
			  "locks: the finding");
		CHECK_STR(a.text,
			  "enter a.c:50 less often or for a shorter time: gather results per thread and "
			  "combine them "
			  "once (reduction), use atomic for a single update, or several locks for separate "
			  "data",
			  "locks: the text");
		grain_graph__advice(g, 0, &a);
		CHECK(a.kind == GRAIN_ADVICE_LOCKS, "locks: the most at stake comes first");
	}
	grain_graph__free(g);
}

/* One thread that takes long to get a lock waits for nobody. */
static void test_lonely_lock(void)
{
	struct grain_graph *g;
	struct log l;

	log_open(&l, 1);
	log_team(&l, 1);
	log_event(&l, 0, "lock-begin kind=critical addr=7 src=5");
	l.now[0] += 5000;
	log_event(&l, 0, "lock-got kind=critical addr=7 src=5");
	l.now[0] += 5000;
	log_event(&l, 0, "lock-end kind=critical addr=7 src=5");
	log_barrier(&l, 0);
	log_end_team(&l, 1);
	g = log_graph(&l, "a lock of one thread", NULL);
	if (g)
		check_kinds(g, "a lock of one thread", 0);
	grain_graph__free(g);
}

int main(void)
{
	test_inflation();
	test_not_inflated();
	test_stalls();
	test_locks();
	test_lonely_lock();
	CHECK_DONE();
}
