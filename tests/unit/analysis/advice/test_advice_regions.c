// SPDX-License-Identifier: BSD-2-Clause
/* Advice on regions that are too small, and what it keeps others from saying; the least that is worth advice.
 */
#include "tests/unit/advice_log.h"

#define SMALL_REGIONS (1U << GRAIN_ADVICE_SMALL_REGIONS)
#define IMBALANCE (1U << GRAIN_ADVICE_IMBALANCE)

/*
 * Regions with a loop. They take `begin` ns until their members work: member 0 on one half in `first` ns,
 * member 1 on the other in `second`.
 */
static struct grain_graph *regions(const char *name, int count, uint64_t begin, uint64_t first,
				   uint64_t second)
{
	struct log l;

	log_open(&l, 2);
	for (int r = 1; r <= count; r++) {
		l.now[0] = log_latest(&l);
		log_event(&l, 0, "region-begin region=%d src=1 threads=2", r);
		l.now[0] += begin;
		l.now[1] = l.now[0];
		for (int i = 0; i < 2; i++) {
			log_event(&l, i, "member-begin region=%d num=%d", r, i);
			log_loop(&l, i, r, "sched=static lower=0 upper=39 step=1");
			log_chunk(&l, i, r, 20 * i, 20 * i + 19, 10, i ? second : first);
			log_loop_end(&l, i, r);
		}
		log_end_team(&l, r);
	}
	return log_graph(&l, name, NULL);
}

/* Regions of 2 us. That their loops are uneven, or have few chunks, is no advice: it would divide them
 * further. */
static void test_small(void)
{
	struct grain_graph *g = regions("small", 20, 1000, 500, 1000);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "small", SMALL_REGIONS);
	/* Both threads lose 1000 ns to each begin, 20 to its loop, and 500 to the longer half. */
	if (find_advice(g, "small", GRAIN_ADVICE_SMALL_REGIONS, &a))
		check_saves(&a, "small", 20 * (2 * 1000 + 2 * 10 + 500) / 2);
	grain_graph__free(g);
}

/* 9 of them are few. */
static void test_few(void)
{
	struct grain_graph *g = regions("few", 9, 1000, 1000, 1000);

	if (!g)
		return;
	check_kinds(g, "few", 0);
	grain_graph__free(g);
}

/* Long regions, whose loop is uneven. */
static void test_long(void)
{
	struct grain_graph *g = regions("long", 20, 0, 30000, 60000);
	struct grain_advice a;

	if (!g)
		return;
	check_kinds(g, "long", IMBALANCE);
	if (find_advice(g, "long", GRAIN_ADVICE_IMBALANCE, &a))
		check_saves(&a, "long", 20 * 15000);
	grain_graph__free(g);
}

/* 980 of 20000 ns are lost, which is less than a twentieth: 2.45 % of the wall time, but nothing to speak of.
 */
static void test_efficient(void)
{
	struct grain_graph *g = regions("efficient", 20, 0, 19000, 20000);

	if (!g)
		return;
	check_kinds(g, "efficient", 0);
	grain_graph__free(g);
}

int main(void)
{
	test_small();
	test_few();
	test_long();
	test_efficient();
	CHECK_DONE();
}
