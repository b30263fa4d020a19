/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of PPOPP16 section 4.3.4 (Freqmine, figure 10) rebuilt: 1,292 chunks
 * of which few are large, load balance 35.5 on 48 cores, 7 cores suffice and
 * give 1.06.
 *
 * Five large chunks, one of 37,630 ns and four of 35,500, each alone on a
 * member. 43 members run the 1,287 small ones: 33 of them 30 chunks that sum to
 * 1,060 (29 of 35 and one of 45), 7 of them 30 that sum to 2,000 (29 of 66 and
 * one of 86), 3 of them 29 that sum to 2,000 (28 of 68 and one of 96):
 * 5 + 33 * 30 + 7 * 30 + 3 * 29 = 1,292.
 *
 * Of 48 sums the two in the middle are 1,060: 37,630 / 1,060 = 35.5.
 *
 * All chunks together are 37,630 + 4 * 35,500 + 33 * 1,060 + 10 * 2,000 =
 * 234,610. Six cores have 6 * 37,630 = 225,780 in the time of the longest: too
 * little. On seven: the large ones on one each leave 4 * 2,130 = 8,520, the
 * other two 75,260, for 54,980 of small ones, the largest of which is 96.
 *
 * On seven members, the large ones alone, the 34,980 of the first 33 members on
 * the sixth, the 20,000 of the ten on the seventh, the median is 35,500:
 * 37,630 / 35,500 = 1.06.
 */
#include "tests/unit/graph_text.h"

#define CHUNKS 1292

struct part {
	int member, of_seven; /* who runs it */
	unsigned ns;
};

static struct part parts[CHUNKS];
static int count;

static void add(int member, int of_seven, int chunks, unsigned ns)
{
	while (chunks-- > 0)
		parts[count++] = (struct part){member, of_seven, ns};
}

static void fill(void)
{
	int member = 0;

	add(member++, 0, 1, 37630);
	for (int i = 1; i <= 4; i++)
		add(member++, i, 1, 35500);
	for (int i = 0; i < 33; i++) {
		add(member, 5, 29, 35);
		add(member++, 5, 1, 45);
	}
	for (int i = 0; i < 7; i++) {
		add(member, 6, 29, 66);
		add(member++, 6, 1, 86);
	}
	for (int i = 0; i < 3; i++) {
		add(member, 6, 28, 68);
		add(member++, 6, 1, 96);
	}
	CHECK(count == CHUNKS && member == 48, "%d chunks on %d members", count, member);
}

static struct grain_graph *run(int members)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct grain_graph *g;

	if (!f)
		exit(1);
	fprintf(f, GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=%d\n", members);
	for (int m = 0; m < members; m++) {
		unsigned ns = 0;

		fprintf(f,
			"0 %d %d member-begin region=1 num=%d\n0 %d %d loop-begin loop=1 src=1 sched=dynamic "
			"chunk=1\n",
			m + 1, m, m, m + 1, m);
		for (int i = 0; i < CHUNKS; i++) {
			if ((members == 48 ? parts[i].member : parts[i].of_seven) != m)
				continue;
			fprintf(f,
				"%u %d %d chunk-begin loop=1 lower=%d upper=%d\n%u %d %d chunk-end loop=1\n",
				ns, m + 1, m, i, i, ns + parts[i].ns, m + 1, m);
			ns += parts[i].ns;
		}
		fprintf(f,
			"%u %d %d loop-end loop=1\n%u %d %d wait-begin kind=barrier-implicit\n"
			"40000 %d %d wait-end kind=barrier-implicit\n40000 %d %d member-end region=1 "
			"num=%d\n",
			ns, m + 1, m, ns, m + 1, m, m + 1, m, m + 1, m, m);
	}
	fprintf(f, "40000 1 0 region-end region=1\n");
	fclose(f);
	g = graph_of_text(members == 48 ? "48 cores" : "7 cores", text);
	free(text);
	return g;
}

static void check(int members, double balance)
{
	struct grain_graph *g = run(members);
	struct grain_problem_summary p;
	struct grain_loop loop;

	if (!g)
		return;
	grain_graph__loop(g, 0, &loop);
	CHECK(loop.chunks == CHUNKS && loop.members == (uint32_t)members, "%d cores: the loop", members);
	CHECK(loop.exec_ns == 234610, "%d cores: all chunks together", members);
	check_near(loop.load_balance, balance, "load balance");
	CHECK(loop.minimum_cores == 7, "%d cores: 7 suffice", members);
	check_near(context_at(g, "0.p0/l0[0,0]").load_balance, balance, "load balance of its chunks");
	grain_graph__problem(g, GRAIN_PROBLEM_LOAD_BALANCE, &p);
	CHECK(p.grains == CHUNKS, "%d cores: every chunk is flagged", members);
	grain_graph__free(g);
}

/* Rule 8 of the metrics: members without a chunk count with 0; absent when the median is 0. */
static void test_idle_members(void)
{
	static const char *const tails[] = {"", "0 3 2 loop-begin loop=1 src=1\n0 3 2 loop-end loop=1\n"};

	for (int idle = 0; idle < 2; idle++) {
		struct grain_loop loop;
		struct grain_graph *g;
		char text[4096];

		/* Members 0 and 1 run 60 and 40; member 2 enters without a chunk, or does not enter. */
		snprintf(
			text, sizeof text,
			GRAPH_HEAD
			"0 1 0 region-begin region=1 src=1 threads=3\n0 1 0 member-begin region=1 num=0\n"
			"0 2 1 member-begin region=1 num=1\n0 3 2 member-begin region=1 num=2\n"
			"0 1 0 loop-begin loop=1 src=1 sched=dynamic\n0 2 1 loop-begin loop=1 src=1\n%s"
			"0 1 0 chunk-begin loop=1 lower=0 upper=0\n0 2 1 chunk-begin loop=1 lower=1 upper=1\n"
			"40 2 1 chunk-end loop=1\n60 1 0 chunk-end loop=1\n60 1 0 loop-end loop=1\n"
			"40 2 1 loop-end loop=1\n60 1 0 wait-begin kind=barrier-implicit\n"
			"40 2 1 wait-begin kind=barrier-implicit\n0 3 2 wait-begin kind=barrier-implicit\n"
			"70 1 0 wait-end kind=barrier-implicit\n70 2 1 wait-end kind=barrier-implicit\n"
			"70 3 2 wait-end kind=barrier-implicit\n70 1 0 member-end region=1 num=0\n"
			"70 2 1 member-end region=1 num=1\n70 3 2 member-end region=1 num=2\n"
			"70 1 0 region-end region=1\n",
			tails[idle]);
		g = graph_of_text(idle ? "three enter" : "two enter", text);
		if (!g)
			return;
		grain_graph__loop(g, 0, &loop);
		/* 60 / median of 40 60, and of 0 40 60 */
		check_near(loop.load_balance, idle ? 60 / 40.0 : 60 / 50.0, "load balance of who entered");
		CHECK(loop.minimum_cores == 2, "100 in 60: two cores");
		grain_graph__free(g);
	}
}

static void test_all_in_one(void)
{
	/* One of three members runs everything: the median is 0. */
	struct grain_graph *g = graph_of_text(
		"all in one",
		GRAPH_HEAD "0 1 0 region-begin region=1 src=1 threads=3\n0 1 0 member-begin region=1 num=0\n"
			   "0 2 1 member-begin region=1 num=1\n0 3 2 member-begin region=1 num=2\n"
			   "0 1 0 loop-begin loop=1 src=1\n0 2 1 loop-begin loop=1 src=1\n"
			   "0 3 2 loop-begin loop=1 src=1\n0 2 1 loop-end loop=1\n0 3 2 loop-end loop=1\n"
			   "0 1 0 chunk-begin loop=1 lower=0 upper=0\n40 1 0 chunk-end loop=1\n"
			   "40 1 0 chunk-begin loop=1 lower=1 upper=1\n50 1 0 chunk-end loop=1\n"
			   "50 1 0 loop-end loop=1\n50 1 0 wait-begin kind=barrier-implicit\n"
			   "0 2 1 wait-begin kind=barrier-implicit\n0 3 2 wait-begin kind=barrier-implicit\n"
			   "50 1 0 wait-end kind=barrier-implicit\n50 2 1 wait-end kind=barrier-implicit\n"
			   "50 3 2 wait-end kind=barrier-implicit\n50 1 0 member-end region=1 num=0\n"
			   "50 2 1 member-end region=1 num=1\n50 3 2 member-end region=1 num=2\n"
			   "50 1 0 region-end region=1\n");
	struct grain_loop loop;

	if (!g)
		return;
	grain_graph__loop(g, 0, &loop);
	CHECK(isnan(loop.load_balance), "all in one: absent");
	CHECK(loop.minimum_cores == 1, "all in one: one core suffices");
	grain_graph__free(g);
}

int main(void)
{
	fill();
	check(48, 37630 / 1060.0);
	check_near(37630 / 1060.0, 35.5, "the paper's number");
	check(7, 37630 / 35500.0);
	check_near(37630 / 35500.0, 1.06, "the paper's number");
	test_idle_members();
	test_all_in_one();
	CHECK_DONE();
}
