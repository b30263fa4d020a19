/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice about loops: a chunk size where chunks are small, fewer cores where one chunk dominates. */
#include "tests/unit/advice_log.h"

#define SMALL (1u << GRAIN_ADVICE_SMALL_CHUNKS)
#define IMBALANCE (1u << GRAIN_ADVICE_IMBALANCE)
#define FEW (1u << GRAIN_ADVICE_FEW_GRAINS)

/* `chunks` of `size` iterations each, dealt in turn, with equal book-keeping and execution. */
static void even_loop(struct log *l, int loop, int chunks, int size, unsigned bookkeeping, unsigned exec)
{
	for (int i = 0; i < l->threads; i++) {
		log_event(l, i, "loop-begin loop=%d src=4 sched=dynamic lower=0 upper=%d step=1 chunk=%d",
			  loop, chunks * size - 1, size);
	}
	for (int i = 0; i < chunks; i++)
		log_chunk(l, i % l->threads, loop, i * size, i * size + size - 1, bookkeeping, exec);
	for (int i = 0; i < l->threads; i++)
		log_loop_end(l, i, loop);
}

static struct grain_graph *even(const char *name, int threads, int regions, int chunks, int size,
				unsigned bookkeeping, unsigned exec)
{
	struct log l;

	log_open(&l, threads);
	for (int i = 1; i <= regions; i++) {
		log_team(&l, i);
		even_loop(&l, i, chunks, size, bookkeeping, exec);
		log_end_team(&l, i);
	}
	return log_graph(&l, name, NULL);
}

/*
 * 400 chunks of 3 iterations, 50 ns of work for 100 ns of book-keeping. 20
 * times as many iterations make that a tenth; 400 chunks leave room for 50
 * times. 19/20 of 40 us go, from two threads. Getting a chunk is no idling.
 */
static void test_small(void)
{
	struct grain_graph *g = even("small chunks", 2, 1, 400, 3, 100, 50);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "small chunks", SMALL);
	if (find_advice(g, "small chunks", GRAIN_ADVICE_SMALL_CHUNKS, &a)) {
		check_saves(&a, "small chunks", 400 * 100 * 19 / 20 / 2);
		CHECK(a.evidence.chunk == 60 && a.evidence.times == 20,
		      "small chunks: 60 iterations a chunk");
		CHECK(a.evidence.grains == 400 && a.evidence.of == 400 && a.evidence.vanish == 380,
		      "small chunks: all 400, 380 go");
		check_near(a.evidence.median_exec_ns, 50, "small chunks: what they run");
		check_near(a.evidence.median_cost_ns, 100, "small chunks: what they cost");
		CHECK_STR(
			a.finding,
			"400 of the 400 chunks of the loop at a.c:40 run shorter than it takes to get them; "
			"typically they run 50 ns, and getting one takes 100 ns",
			"small chunks: the finding");
		CHECK_STR(a.text,
			  "hand out more iterations at a time: schedule(dynamic, 60) instead of 3; that "
			  "leaves at "
			  "least 4 chunks a thread",
			  "small chunks: the text");
	}
	grain_graph__free(g);
}

/* 40 chunks: 8 must stay. */
static void test_room(void)
{
	struct grain_graph *g = even("40 chunks", 2, 1, 40, 1, 100, 50);
	struct grain_advice a;

	if (!g)
		return;
	if (find_advice(g, "40 chunks", GRAIN_ADVICE_SMALL_CHUNKS, &a)) {
		check_saves(&a, "40 chunks", 40 * 100 * 4 / 5 / 2);
		CHECK(a.evidence.chunk == 5, "40 chunks: 5 iterations a chunk");
	}
	grain_graph__free(g);
}

/* 8 chunks, a hundred times: no larger ones are possible, but static shares are. */
static void test_short(void)
{
	struct grain_graph *g = even("short loop", 2, 100, 8, 1, 100, 50);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "short loop", SMALL);
	if (find_advice(g, "short loop", GRAIN_ADVICE_SMALL_CHUNKS, &a)) {
		check_saves(&a, "short loop", 100 * 8 * 100 / 2);
		CHECK(a.evidence.chunk == 0, "short loop: no chunk size");
		CHECK_STR(a.text,
			  "the loop is short: schedule(static) divides it once, without getting chunks; or "
			  "share an "
			  "outer loop among the threads instead of this one",
			  "short loop: the text");
	}
	grain_graph__free(g);
}

/* The same with five of eight chunks that run longer than that. */
static void test_partly_short(void)
{
	struct grain_graph *g;
	struct log l;

	log_open(&l, 2);
	for (int loop = 1; loop <= 20; loop++) {
		log_team(&l, loop);
		for (int i = 0; i < 2; i++)
			log_loop(&l, i, loop, "sched=dynamic lower=0 upper=7 step=1 chunk=1");
		for (int i = 0; i < 8; i++)
			log_chunk(&l, i % 2, loop, i, i, 100, i < 3 ? 90 : 110);
		for (int i = 0; i < 2; i++)
			log_loop_end(&l, i, loop);
		log_end_team(&l, loop);
	}
	g = log_graph(&l, "partly short", NULL);
	if (!g)
		return;
	check_kinds(g, "partly short", 0);
	grain_graph__free(g);
}

/* Chunks that run 20 times their book-keeping. */
static void test_sound(void)
{
	struct grain_graph *g = even("sound chunks", 2, 1, 40, 1, 100, 2000);

	if (!g)
		return;
	check_kinds(g, "sound chunks", 0);
	grain_graph__free(g);
}

/* One thread pays for chunks as well, and balances nothing. */
static void test_one_thread(void)
{
	struct grain_graph *g = even("one thread", 1, 1, 400, 1, 100, 50);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "one thread", SMALL);
	if (find_advice(g, "one thread", GRAIN_ADVICE_SMALL_CHUNKS, &a))
		check_saves(&a, "one thread", 400 * 100 * 19 / 20);
	grain_graph__free(g);
}

/*
 * As Freqmine: four threads, one chunk of 100 us, 39 of 50 ns that cost 1 us
 * each. 20 times as many iterations a chunk would be right but for the long
 * one. All the others fit on one more core.
 */
static void test_dominated(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 4);
	log_team(&l, 1);
	for (int i = 0; i < 4; i++)
		log_loop(&l, i, 1, "sched=dynamic lower=0 upper=39 step=1 chunk=1");
	log_chunk(&l, 0, 1, 17, 17, 1000, 100000);
	for (int i = 0; i < 39; i++)
		log_chunk(&l, 1 + i % 3, 1, i < 17 ? i : i + 1, i < 17 ? i : i + 1, 1000, 50);
	for (int i = 0; i < 4; i++)
		log_loop_end(&l, i, 1);
	log_end_team(&l, 1);
	g = log_graph(&l, "dominated", NULL);
	if (!g)
		return;
	/* That threads are idle is what the loop's balance explains. */
	check_kinds(g, "dominated", IMBALANCE);
	if (find_advice(g, "dominated", GRAIN_ADVICE_IMBALANCE, &a)) {
		/*
		 * Threads 1 to 3 wait from 13 * 1050 ns to the end at 101 us: 87350 ns each, 1/4 of that
		 * each.
		 */
		check_saves(&a, "dominated", 3 * 87350 / 4);
		CHECK(a.evidence.minimum_cores == 2 && a.evidence.threads == 4, "dominated: 2 of 4 cores do");
		check_worst(g, &a, "dominated", "0.p0/l0[17,17]");
		CHECK_STR(a.finding,
			  "the busiest of 4 threads in the loop at a.c:40 executes 100 us, their mean is "
			  "25.5 us; "
			  "the others wait for it. The longest chunk (iteration 17) takes 100 us",
			  "dominated: the finding");
		CHECK_STR(a.text,
			  "divide the longest chunk of a.c:40 (tasks or a loop inside it, or a smaller chunk "
			  "size "
			  "where it has several iterations); most chunks are shorter than getting them "
			  "takes, but "
			  "larger ones would make the longest longer; if it cannot be divided, "
			  "num_threads(2) takes no "
			  "longer than 4 threads",
			  "dominated: the text");
	}
	grain_graph__free(g);
}

/* The first thread's chunks have little benefit, because it waits. Larger chunks would not change that. */
static void test_waiting(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 2; i++)
		log_loop(&l, i, 1, "sched=dynamic lower=0 upper=39 step=1 chunk=1");
	for (int i = 0; i < 40; i++)
		log_chunk(&l, i % 5 > 0, 1, i, i, 100, 200);
	for (int i = 0; i < 2; i++)
		log_loop_end(&l, i, 1);
	log_end_team(&l, 1);
	g = log_graph(&l, "waiting", NULL);
	if (!g)
		return;
	CHECK(context_at(g, "0.p0/l0[0,0]").problems & 1u << GRAIN_PROBLEM_PARALLEL_BENEFIT,
	      "waiting: they have no benefit");
	check_kinds(g, "waiting", IMBALANCE | 1u << GRAIN_ADVICE_LITTLE_PARALLELISM);
	/* 2400 ns more than the mean are twelve chunks. */
	if (find_advice(g, "waiting", GRAIN_ADVICE_IMBALANCE, &a))
		CHECK_STR(a.text,
			  "the chunks of a.c:40 are small enough: threads came late to it or were held up in "
			  "it; look "
			  "at what they do before it (nowait where it does not matter), and measure while "
			  "nothing else "
			  "runs",
			  "waiting: the text");
	grain_graph__free(g);
}

/* Long chunks lie side by side: 20 in one would be longer than a thread's share, 10 are not. */
static void test_cluster(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 2; i++)
		log_loop(&l, i, 1, "sched=dynamic lower=0 upper=399 step=1 chunk=1");
	/* 8 of 2400 ns and 392 of 50 ns make 38800 ns, 19400 for each thread. */
	for (int i = 0; i < 400; i++)
		log_chunk(&l, i % 2, 1, i, i, 100, i >= 200 && i < 208 ? 2400 : 50);
	for (int i = 0; i < 2; i++)
		log_loop_end(&l, i, 1);
	log_end_team(&l, 1);
	g = log_graph(&l, "cluster", NULL);
	if (!g)
		return;
	check_kinds(g, "cluster", SMALL);
	/* Iterations 200 to 219 take 19800 ns, 200 to 209 take 19300. */
	if (find_advice(g, "cluster", GRAIN_ADVICE_SMALL_CHUNKS, &a))
		CHECK(a.evidence.chunk == 10, "cluster: half as large as without it");
	grain_graph__free(g);
}

/* A loop that is executed three times, once with a chunk that takes long: what the two others say holds. */
static void test_one_of_three(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	for (int loop = 1; loop <= 3; loop++) {
		log_team(&l, loop);
		for (int i = 0; i < 2; i++)
			log_loop(&l, i, loop, "sched=guided lower=0 upper=399 step=1 chunk=1");
		for (int i = 0; i < 400; i++)
			log_chunk(&l, i % 2, loop, i, i, 100, loop == 2 && i == 7 ? 100000 : 50);
		for (int i = 0; i < 2; i++)
			log_loop_end(&l, i, loop);
		log_end_team(&l, loop);
	}
	g = log_graph(&l, "one of three", NULL);
	if (!g)
		return;
	if (find_advice(g, "one of three", GRAIN_ADVICE_SMALL_CHUNKS, &a)) {
		check_saves(&a, "one of three", 2 * 400 * 100 * 19 / 20 / 2);
		CHECK(strstr(a.text, "schedule(guided, 20) instead of 1") != NULL,
		      "one of three: the chunk size");
	}
	if (find_advice(g, "one of three", GRAIN_ADVICE_IMBALANCE, &a)) {
		check_worst(g, &a, "one of three", "0.p1/l0[7,7]");
		CHECK(!strstr(a.text, "larger ones"), "one of three: larger chunks are not warned of");
	}
	grain_graph__free(g);
}

/* The long chunk did not run most of its time. */
static void test_preempted(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 2; i++) {
		log_loop(&l, i, 1, "sched=static bounds=hidden");
		log_event(&l, i, "chunk-begin loop=1 bounds=hidden");
		l.now[i] += 10000;
		if (i) {
			log_event(&l, i, "off-cpu reason=preempted");
			l.now[i] += 30000;
			log_event(&l, i, "on-cpu reason=preempted");
		}
		log_event(&l, i, "chunk-end loop=1");
		log_loop_end(&l, i, 1);
	}
	log_end_team(&l, 1);
	g = log_graph(&l, "preempted", NULL);
	if (!g)
		return;
	if (find_advice(g, "preempted", GRAIN_ADVICE_IMBALANCE, &a)) {
		check_near(a.evidence.off_cpu_percent, 75, "preempted: so much of it");
		CHECK_STR(a.text,
			  "this is not the program's fault: the thread of the longest was off its core for "
			  "30.0 us; use "
			  "no more threads than free cores, and measure while nothing else runs",
			  "preempted: the text");
	}
	grain_graph__free(g);
}

/* The second thread's half of a static loop takes four times as long. */
static void test_static(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 2; i++) {
		log_loop(&l, i, 1, "sched=static bounds=hidden");
		log_event(&l, i, "chunk-begin loop=1 bounds=hidden");
		l.now[i] += i ? 40000 : 10000;
		log_event(&l, i, "chunk-end loop=1");
		log_loop_end(&l, i, 1);
	}
	log_end_team(&l, 1);
	g = log_graph(&l, "static", NULL);
	if (!g)
		return;
	check_kinds(g, "static", IMBALANCE);
	if (find_advice(g, "static", GRAIN_ADVICE_IMBALANCE, &a)) {
		check_saves(&a, "static", 40000 - 25000);
		CHECK(a.evidence.minimum_cores == 0, "static: shares do not say how many cores would do");
		check_worst(g, &a, "static", "0.p0/l0[t1]");
		CHECK_STR(a.text,
			  "hand out the iterations of a.c:40 as threads become free: schedule(dynamic) with "
			  "chunks "
			  "of which each thread gets several, or schedule(guided)",
			  "static: the text");
	}
	grain_graph__free(g);
}

/* Five equal chunks on two threads: nothing dominates, the last one is too large. */
static void last_chunk(const char *name, int size, const char *text)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	even_loop(&l, 1, 5, size, 10, 10000);
	log_end_team(&l, 1);
	g = log_graph(&l, name, NULL);
	if (!g)
		return;
	if (find_advice(g, name, GRAIN_ADVICE_IMBALANCE, &a))
		CHECK_STR(a.text, text, "%s: the text", name);
	grain_graph__free(g);
}

/* Two sections, one of which takes 50 times as long. */
static void test_sections(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 2; i++) {
		log_event(&l, i, "sections-begin loop=1 src=4");
		log_event(&l, i, "section-begin loop=1 lower=%d", i);
		l.now[i] += i ? 50000 : 1000;
		log_event(&l, i, "section-end loop=1");
		log_event(&l, i, "sections-end loop=1");
		log_barrier(&l, i);
	}
	log_end_team(&l, 1);
	g = log_graph(&l, "sections", NULL);
	if (!g)
		return;
	if (find_advice(g, "sections", GRAIN_ADVICE_IMBALANCE, &a)) {
		check_saves(&a, "sections", 49000 / 2);
		CHECK(strstr(a.finding, ". The longest section (number 1) takes 50.0 us") != NULL,
		      "sections: the longest is said");
		CHECK(!strncmp(a.text, "divide the longest section of a.c:40 ", 37), "sections: the text");
	}
	grain_graph__free(g);
}

/* Bounds as the program has them, where they do not fit a signed number. */
static void test_unsigned(void)
{
	struct grain_graph *g;
	struct grain_advice a;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	for (int i = 0; i < 2; i++)
		log_loop(&l, i, 1,
			 "sched=dynamic lower=18446744073709551600 upper=18446744073709551603 step=1 chunk=2 "
			 "unsigned=1");
	for (int i = 0; i < 2; i++) {
		l.now[i] += 10;
		log_event(&l, i, "chunk-begin loop=1 lower=%llu upper=%llu",
			  18446744073709551600ull + 2u * (unsigned)i,
			  18446744073709551601ull + 2u * (unsigned)i);
		l.now[i] += i ? 50000 : 1000;
		log_event(&l, i, "chunk-end loop=1");
		log_loop_end(&l, i, 1);
	}
	log_end_team(&l, 1);
	g = log_graph(&l, "unsigned", NULL);
	if (!g)
		return;
	if (find_advice(g, "unsigned", GRAIN_ADVICE_IMBALANCE, &a))
		CHECK(strstr(a.finding, "(iterations 18446744073709551602 to 18446744073709551603)") != NULL,
		      "unsigned: the longest is said");
	grain_graph__free(g);
}

static void test_last_chunk(void)
{
	last_chunk("last chunk", 100,
		   "hand out the last iterations of a.c:40 in smaller pieces: a smaller chunk size or "
		   "schedule(guided), or the longest iterations first");
	last_chunk("last iteration", 1,
		   "begin with the longest iterations of a.c:40, or divide them: with one at a time the last "
		   "ones "
		   "decide");
}

int main(void)
{
	test_small();
	test_room();
	test_short();
	test_partly_short();
	test_sound();
	test_one_thread();
	test_dominated();
	test_waiting();
	test_cluster();
	test_one_of_three();
	test_preempted();
	test_static();
	test_last_chunk();
	test_sections();
	test_unsigned();
	CHECK_DONE();
}
