// SPDX-License-Identifier: BSD-2-Clause
/* Repeats of programs made by hand: their bodies, durations, odd repetitions; programs in parts. */
#include "analysis/include/grain_sequences.h"
#include "tests/unit/graph_text.h"

#define HEAD                                                                                                 \
	"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=1\n"                         \
	"@source 1 file=a.c line=10 func=main kind=parallel\n"                                               \
	"@source 2 file=a.c line=20 func=main kind=parallel\n"                                               \
	"@source 3 file=a.c line=30 func=main kind=parallel\n"                                               \
	"@source 4 file=a.c line=40 func=main kind=loop\n@source 5 file=a.c line=50 func=main kind=loop\n"

struct program {
	char *text;
	size_t bytes;
	FILE *out;
	unsigned long long now;
	unsigned regions, loops;
};

static void begin(struct program *p, const char *head)
{
	*p = (struct program){.now = 1000};
	p->out = open_memstream(&p->text, &p->bytes);
	if (!p->out)
		exit(1);
	fputs(head, p->out);
}

/* A region of one member, then `after` outside of regions. */
static void region(struct program *p, unsigned source, unsigned length, unsigned after)
{
	unsigned n = ++p->regions;

	fprintf(p->out, "%llu 1 0 region-begin region=%u src=%u threads=1\n", p->now, n, source);
	fprintf(p->out, "%llu 1 0 member-begin region=%u num=0\n", p->now, n);
	p->now += length;
	fprintf(p->out, "%llu 1 0 member-end region=%u num=0\n", p->now, n);
	fprintf(p->out, "%llu 1 0 region-end region=%u\n", p->now, n);
	p->now += after;
}

static void loop(struct program *p, unsigned source, unsigned length)
{
	unsigned n = ++p->loops;

	fprintf(p->out, "%llu 1 0 loop-begin loop=%u src=%u sched=dynamic lower=0 upper=0 step=1\n", p->now,
		n, source);
	fprintf(p->out, "%llu 1 0 chunk-begin loop=%u lower=0 upper=0\n", p->now, n);
	p->now += length;
	fprintf(p->out, "%llu 1 0 chunk-end loop=%u\n%llu 1 0 loop-end loop=%u\n", p->now, n, p->now, n);
}

static struct grain_sequences *sequences_of(struct program *p, const char *name, struct grain_graph **graph)
{
	struct grain_sequences *s = NULL;

	fclose(p->out);
	*graph = graph_of_text(name, p->text);
	free(p->text);
	if (!*graph || grain_sequences__new(*graph, &s))
		exit(1);
	return s;
}

static void done(struct grain_sequences *s, struct grain_graph *g)
{
	grain_sequences__free(s);
	grain_graph__free(g);
}

/* Twenty steps of two regions; the thirteenth takes longer in its second one, the 17th after its first. */
static void test_odd(void)
{
	struct grain_repeat_element e;
	struct grain_odd_repetition odd;
	struct grain_sequences *s;
	struct grain_graph *g;
	struct grain_repeat r;
	struct program p;

	begin(&p, HEAD);
	region(&p, 3, 500, 0);
	for (int step = 1; step <= 20; step++) {
		region(&p, 1, 100, step == 17 ? 70 : 20);
		region(&p, 2, step == 13 ? 300 : 80, 0);
	}
	region(&p, 3, 500, 0);
	s = sequences_of(&p, "steps", &g);
	CHECK(grain_sequences__count(s) == 1, "steps: one repeat");
	grain_sequences__get(s, 0, &r);
	CHECK(r.count == 20 && r.runs == 1 && r.length == 2 && r.regions == 40 && r.parent == GRAIN_NONE &&
		      r.region == GRAIN_NONE && r.least == 20 && r.most == 20,
	      "steps: 20 of 2 regions");
	CHECK(r.min_ns == 200 && r.median_ns == 200 && r.max_ns == 420 && r.sum_ns == 20 * 200 + 220 + 50 &&
		      r.outside_ns == 20 * 20 + 50,
	      "steps: durations");
	CHECK(r.start_ns == 1500 && r.end_ns == r.start_ns + r.sum_ns, "steps: when");
	grain_sequences__element(s, 0, 1, &e);
	CHECK(e.repeat == GRAIN_NONE && !e.loop && e.median_ns == 80 && e.sum_ns == 20 * 80 + 220 &&
		      e.after_ns == 0 && e.least == 1 && e.most == 1,
	      "steps: the second region");
	CHECK(r.odd == 2 && r.odd_count == 2, "steps: two are odd");
	grain_sequences__odd(s, 0, 0, &odd);
	CHECK(odd.number == 13 && odd.start_ns == 1500 + 12 * 200 && odd.length_ns == 420 &&
		      odd.longer_ns == 220 && odd.element == 1 && !odd.after && odd.element_longer_ns == 220,
	      "steps: the 13th, in its second region");
	grain_sequences__odd(s, 0, 1, &odd);
	CHECK(odd.number == 17 && odd.longer_ns == 50 && odd.element == 0 && odd.after &&
		      odd.element_longer_ns == 50,
	      "steps: the 17th, after its first region");
	CHECK(r.strip_count == 20 && r.strip_every == 1, "steps: a value of the strip for each");
	CHECK(r.capacity_ns > 0, "steps: the account has these regions");
	done(s, g);
}

/* Steps with an inner loop of 3 to 6 turns. */
static void test_nested(void)
{
	struct grain_repeat_element e;
	struct grain_sequences_info info;
	struct grain_sequences *s;
	struct grain_graph *g;
	struct grain_repeat r;
	struct program p;

	begin(&p, HEAD);
	for (int step = 0; step < 12; step++) {
		region(&p, 1, 100, 0);
		for (int turn = 0; turn < 3 + step % 4; turn++)
			region(&p, 2, 10, 0);
		region(&p, 3, 50, 0);
	}
	s = sequences_of(&p, "nested", &g);
	grain_sequences__info(s, &info);
	CHECK(grain_sequences__count(s) == 2 && info.regions == 78 && !info.partial && !info.unfinished,
	      "nested: two repeats");
	grain_sequences__get(s, 0, &r);
	CHECK(r.count == 12 && r.length == 3 && r.regions == 78, "nested: twelve steps");
	CHECK(info.repeated_ns == r.sum_ns && info.wall_ns == r.sum_ns, "nested: all of the time");
	grain_sequences__element(s, 0, 1, &e);
	CHECK(e.repeat == 1 && e.least == 3 && e.most == 6, "nested: an inner loop of 3 to 6");
	grain_sequences__get(s, 1, &r);
	CHECK(r.parent == 0 && r.count == 54 && r.runs == 12 && r.least == 3 && r.most == 6 &&
		      r.length == 1 && r.median_ns == 10,
	      "nested: all turns of the inner loop");
	done(s, g);
}

/* One region that has all steps as loops. */
static void test_loops(void)
{
	struct grain_repeat_element e;
	struct grain_sequences *s;
	struct grain_graph *g;
	struct grain_repeat r;
	struct program p;

	begin(&p, HEAD);
	fprintf(p.out,
		"1000 1 0 region-begin region=1 src=1 threads=1\n1000 1 0 member-begin region=1 num=0\n");
	for (int step = 0; step < 10; step++) {
		loop(&p, 4, 100);
		loop(&p, 5, step == 4 ? 90 : 50);
	}
	fprintf(p.out, "%llu 1 0 member-end region=1 num=0\n%llu 1 0 region-end region=1\n", p.now, p.now);
	s = sequences_of(&p, "loops", &g);
	CHECK(grain_sequences__count(s) == 1, "loops: one repeat");
	grain_sequences__get(s, 0, &r);
	CHECK(r.count == 10 && r.length == 2 && r.region == 0 && r.odd == 1 && r.capacity_ns == 0,
	      "loops: ten steps in the region, one is odd");
	grain_sequences__element(s, 0, 1, &e);
	CHECK(e.loop && e.median_ns == 50, "loops: the second loop");
	done(s, g);
}

/* What was recorded in windows: nothing goes over their edges. */
static void test_windows(void)
{
	struct grain_sequences_info info;
	struct grain_sequences *s;
	struct grain_graph *g;
	struct grain_repeat r;
	struct program p;

	begin(&p, HEAD "@window begin_ns=0 end_ns=3000\n@window begin_ns=5000 end_ns=9000\n");
	for (int step = 0; step < 4; step++)
		region(&p, 1, 100, 0);
	p.now = 5000;
	for (int step = 0; step < 5; step++)
		region(&p, 1, 100, 0);
	s = sequences_of(&p, "windows", &g);
	grain_sequences__info(s, &info);
	grain_sequences__get(s, 0, &r);
	CHECK(info.partial && r.count == 9 && r.runs == 2 && r.most == 5 && r.max_ns == 100,
	      "windows: a run in each");
	done(s, g);
}

static void test_nothing(void)
{
	struct grain_sequences *s;
	struct grain_graph *g;
	struct program p;

	begin(&p, HEAD "0 1 0 thread-begin\n10 1 0 thread-end\n");
	s = sequences_of(&p, "no region", &g);
	CHECK(grain_sequences__count(s) == 0, "no region: nothing is repeated");
	done(s, g);
	begin(&p, HEAD);
	region(&p, 1, 5, 5);
	region(&p, 2, 5, 5);
	s = sequences_of(&p, "two regions", &g);
	CHECK(grain_sequences__count(s) == 0, "two regions: nothing is repeated");
	done(s, g);
}

/* Logs that break the rules of regions: what is left is folded. */
static void test_damaged(void)
{
	struct grain_load_opts opts = {.keep_going = true};
	struct grain_sequences *s = NULL;
	struct grain_graph *g;
	struct program p;

	begin(&p, HEAD);
	for (int step = 0; step < 6; step++) {
		fprintf(p.out, "%llu 1 0 region-begin region=%u src=1 threads=1\n", p.now, ++p.regions);
		if (step % 2)
			fprintf(p.out, "%llu 1 0 region-end region=%u\n", p.now + 5, p.regions);
		fprintf(p.out, "%llu 2 0 member-begin region=%u num=0\n", p.now + 6, p.regions);
		p.now += 10;
	}
	fprintf(p.out, "%llu 1 0 region-end region=77\n", p.now);
	fclose(p.out);
	g = graph_of_text_opts("damaged", p.text, &opts);
	free(p.text);
	CHECK(g && grain_sequences__new(g, &s) == 0, "damaged: survives");
	done(s, g);
}

int main(void)
{
	test_odd();
	test_nested();
	test_loops();
	test_windows();
	test_nothing();
	test_damaged();
	CHECK_DONE();
}
