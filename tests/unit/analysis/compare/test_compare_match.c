/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matching by identifier against the naive way: every context's identifier as
 * text, looked up among the sorted texts of the other graph. Random programs
 * on teams of 1 to 4 threads, and shapes by hand.
 */
#include "analysis/compare/compare.h"
#include "tests/unit/compare_graphs.h"
#include "tests/unit/random_loops.h"

#include <errno.h>

#define PROGRAMS 30
#define NESTED 30000
#define TEAM_OF(n) "0 1 0 region-begin region=1 src=1 threads=" n "\n10 1 0 member-begin region=1 num=0\n"
#define SECOND "10 2 1 member-begin region=1 num=1\n"
#define TEAM_END                                                                                             \
	"90 1 0 wait-begin kind=barrier-implicit\n95 1 0 wait-end kind=barrier-implicit\n"                   \
	"96 1 0 member-end region=1 num=0\n97 1 0 region-end region=1\n"
#define SECOND_END                                                                                           \
	"90 2 1 wait-begin kind=barrier-implicit\n95 2 1 wait-end kind=barrier-implicit\n"                   \
	"96 2 1 member-end region=1 num=1\n"

struct named {
	char *id;
	uint32_t context;
};

static struct program program;
static int wrong, found, missing, unequal_shapes;

static int by_id(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static struct named *name_all(const struct grain_graph *g)
{
	size_t n = grain_graph__context_count(g);
	struct named *list = calloc(n, sizeof *list);

	for (uint32_t i = 0; i < n; i++) {
		size_t length = grain_graph__context_id(g, i, NULL, 0);

		list[i].id = malloc(length + 1);
		list[i].context = i;
		grain_graph__context_id(g, i, list[i].id, length + 1);
	}
	qsort(list, n, sizeof *list, by_id);
	return list;
}

static void free_names(struct named *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].id);
	free(list);
}

/* Every context of the run has the match that its text has; orphans have none. */
static void check_naively(const struct grain_graph *base, const struct grain_graph *run,
			  const struct grain_compare *c)
{
	size_t base_count = grain_graph__context_count(base), run_count = grain_graph__context_count(run);
	struct named *before = name_all(base), *after = name_all(run);
	bool same = true;

	for (size_t i = 0; i < run_count; i++) {
		struct named *at = bsearch(&after[i], before, base_count, sizeof *before, by_id);
		uint32_t expected = at && at->id[0] != '?' ? at->context : GRAIN_NONE;

		wrong += grain_compare__match(c, after[i].context) != expected;
		found += expected != GRAIN_NONE;
		missing += expected == GRAIN_NONE;
	}
	for (size_t i = 0; i < base_count; i++) {
		struct grain_context context;

		grain_graph__context(base, before[i].context, &context);
		if ((context.kind != GRAIN_TASK && context.kind != GRAIN_CHUNK) || context.runtime)
			continue;
		same &= before[i].id[0] != '?' && bsearch(&before[i], after, run_count, sizeof *after, by_id);
	}
	for (size_t i = 0; i < run_count; i++) {
		struct grain_context context;

		grain_graph__context(run, after[i].context, &context);
		if ((context.kind != GRAIN_TASK && context.kind != GRAIN_CHUNK) || context.runtime)
			continue;
		same &= after[i].id[0] != '?' &&
			bsearch(&after[i], before, base_count, sizeof *before, by_id);
	}
	if (c) {
		struct grain_compare_totals t;

		grain_compare__totals(c, &t);
		wrong += t.same_shape != same;
		unequal_shapes += !same;
	}
	free_names(before, base_count);
	free_names(after, run_count);
}

enum damage { WHOLE, CUT, HOLE };

/* CUT: its log ends early; HOLE: some lines in its middle are missing. Analysed all the same. */
static struct grain_graph *run_program(uint32_t seed, int threads, enum damage damage)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_load_opts opts = {.keep_going = true};
	struct grain_graph *g = NULL;
	struct grain_error err = {{0}};
	char *text = NULL, *line, *next;
	size_t size;
	FILE *log = open_memstream(&text, &size), *file;
	int fd = mkstemp(path), number = 0, from = 15 + (int)seed * 6;

	program_generate(&program, seed);
	program_run(&program, threads, seed * 31 + (uint32_t)threads, log);
	fclose(log);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return NULL;
	for (line = text; *line; line = next, number++) {
		next = strchr(line, '\n') + 1;
		if (damage == WHOLE || number < from || (damage == HOLE && number > from + 6))
			fwrite(line, 1, (size_t)(next - line), file);
	}
	fclose(file);
	if (grain_graph__load(path, &opts, &g, &err) < 0)
		printf("# program %u: %s\n", seed, err.text);
	unlink(path);
	free(text);
	return g;
}

static void compare_programs(struct grain_graph *base, struct grain_graph *run)
{
	struct grain_compare *c = NULL;

	if (!base || !run || grain_compare__new(base, run, &c) < 0)
		wrong++;
	else
		check_naively(base, run, c);
	free_comparison(base, run, c);
}

static void test_random(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		for (int threads = 1; threads <= MAX_THREADS; threads++)
			compare_programs(run_program(seed, 1 + (int)(seed + 1) % MAX_THREADS, WHOLE),
					 run_program(seed, threads, WHOLE));
	CHECK(wrong == 0 && found > 40 * PROGRAMS && unequal_shapes == 0,
	      "random programs: %d contexts found, %d not, all shapes equal", found, missing);
	found = missing = 0;
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		compare_programs(run_program(seed, 2, WHOLE), run_program(seed + 1, 3, WHOLE));
	CHECK(wrong == 0 && found > PROGRAMS && missing > 10 * PROGRAMS && unequal_shapes > PROGRAMS / 2,
	      "different programs: %d contexts found, %d not, %d shapes differ", found, missing,
	      unequal_shapes);
	for (enum damage damage = CUT; damage <= HOLE; damage++) {
		found = missing = 0;
		for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
			compare_programs(run_program(seed, 2, WHOLE), run_program(seed, 2, damage));
			compare_programs(run_program(seed, 3, damage), run_program(seed, 2, WHOLE));
		}
		CHECK(wrong == 0 && found > PROGRAMS && missing > PROGRAMS,
		      "%s logs: %d contexts found, %d not", damage == CUT ? "cut off" : "torn", found,
		      missing);
	}
}

static void check_match(const struct grain_compare *c, const struct grain_graph *base,
			const struct grain_graph *run, const char *id, bool expected)
{
	uint32_t context = context_named(run, id);
	uint32_t match = context == GRAIN_NONE ? GRAIN_NONE : grain_compare__match(c, context);

	CHECK(context != GRAIN_NONE && match == (expected ? context_named(base, id) : GRAIN_NONE), "%s %s",
	      id, expected ? "is matched" : "has no match");
}

static void check_absent(const struct grain_compare *c, const struct grain_graph *run, const char *id,
			 enum grain_compare_reason reason)
{
	uint32_t context = context_named(run, id);

	CHECK(context != GRAIN_NONE && grain_compare__reason(c, context) == reason, "%s: reason %d", id,
	      reason);
}

/* Hidden shares are the same work only in teams of one size; likewise what is made in them. */
static void test_shares(void)
{
#define SHARE(tid, n, task)                                                                                  \
	"20 " tid " loop-begin loop=1 src=1 sched=static bounds=hidden\n20 " tid                             \
	" chunk-begin loop=1 bounds=hidden\n30 " tid " create-begin task=" task                              \
	" src=2 flags=undeferred\n31 " tid " task-begin task=" task "\n34 " tid " task-end task=" task       \
	"\n35 " tid " create-end task=" task "\n40 " tid " chunk-end loop=1\n40 " tid " loop-end loop=1\n"
	static const char one[] = GRAPH_HEAD TEAM_OF("1") SHARE("1 0", "0", "1") TEAM_END;
	static const char two[] = GRAPH_HEAD TEAM_OF("2") SHARE("1 0", "0", "1")
		TEAM_END SECOND SHARE("2 1", "1", "2") SECOND_END;
	struct grain_graph *base = graph_against("shares on 1", one, NULL, NULL);
	struct grain_graph *run = graph_against("shares on 2", two, base, NULL);
	struct grain_compare *c = compare_of("shares", base, run);
	struct grain_compare_totals t;

	if (c) {
		check_match(c, base, run, "0.p0.0", true);
		check_match(c, base, run, "0.p0/l0[t0]", false);
		check_match(c, base, run, "0.p0/l0[t0].0", false);
		check_match(c, base, run, "0.p0/l0[t1]", false);
		check_absent(c, run, "0.p0/l0[t0]", GRAIN_COMPARE_OTHER_WORK);
		check_absent(c, run, "0.p0/l0[t0].0", GRAIN_COMPARE_NOT_FOUND);
		check_absent(c, run, "0.p0/l0[t1]", GRAIN_COMPARE_NOT_FOUND);
		grain_compare__totals(c, &t);
		CHECK(t.matched == 0 && !t.same_shape && t.base_only == 1 && t.run_only == 3,
		      "shares on 1 and on 2: the share's task only in the base; share and task of 1 in the "
		      "run");
	}
	free_comparison(base, NULL, c);
	c = compare_of("shares again", run, run);
	if (c) {
		check_match(c, run, run, "0.p0/l0[t1]", true);
		check_match(c, run, run, "0.p0/l0[t1].0", true);
		grain_compare__totals(c, &t);
		CHECK(t.matched_percent == 100 && t.same_shape, "shares of equal teams match");
	}
	free_comparison(NULL, run, c);
}

/* Shares whose first chunk and number of chunks are known. */
static void test_derived(void)
{
#define DERIVED(lower, upper, count)                                                                         \
	GRAPH_HEAD TEAM_OF("1") "20 1 0 loop-begin loop=1 src=1 sched=static chunk=5 stride=5\n"             \
				"20 1 0 chunk-begin loop=1 lower=" lower " upper=" upper " count=" count     \
				"\n40 1 0 chunk-end loop=1\n40 1 0 loop-end loop=1\n" TEAM_END
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{DERIVED("0", "4", "4"), true},
		{DERIVED("0", "4", "3"), false},
		{DERIVED("5", "9", "4"), false},
	};
	struct grain_graph *base = graph_against("derived: base", cases[0].text, NULL, NULL);

	for (size_t i = 0; base && i < sizeof cases / sizeof *cases; i++) {
		struct grain_graph *run = graph_against("derived: run", cases[i].text, base, NULL);
		struct grain_compare *c = compare_of("derived", base, run);

		if (c)
			check_match(c, base, run, "0.p0/l0[t0]", cases[i].matches);
		free_comparison(NULL, run, c);
	}
	grain_graph__free(base);
}

/* Copies of one range, sections, unsigned bounds, what is made in a chunk, and a single in each region. */
static void test_names(void)
{
#define LOOP(sign, first, second)                                                                            \
	"20 1 0 loop-begin loop=1 src=1 " sign "\n20 1 0 chunk-begin loop=1 " first "\n"                     \
	"21 1 0 create-begin task=1 src=2 flags=undeferred\n22 1 0 task-begin task=1\n"                      \
	"23 1 0 task-end task=1\n24 1 0 create-end task=1\n30 1 0 chunk-end loop=1\n"                        \
	"30 1 0 chunk-begin loop=1 " second "\n40 1 0 chunk-end loop=1\n40 1 0 loop-end loop=1\n"
#define SECTIONS(n)                                                                                          \
	"41 1 0 sections-begin loop=2 src=1\n41 1 0 section-begin loop=2 lower=" n "\n"                      \
	"42 1 0 section-end loop=2\n42 1 0 sections-end loop=2\n"
#define ENCLOSED(body) GRAPH_HEAD TEAM_OF("1") body TEAM_END
	static const char base_text[] =
		ENCLOSED(LOOP("", "lower=0 upper=4", "lower=0 upper=4") SECTIONS("0"));
	static const char other_text[] =
		ENCLOSED(LOOP("", "lower=0 upper=4", "lower=0 upper=5") SECTIONS("1"));
	static const char loops_text[] =
		ENCLOSED(LOOP("", "lower=0 upper=4",
			      "lower=0 upper=4") "41 1 0 loop-begin loop=2 src=1\n41 1 0 chunk-begin loop=2 "
						 "lower=0 upper=0\n"
						 "42 1 0 chunk-end loop=2\n42 1 0 loop-end loop=2\n");
	static const char signed_text[] =
		ENCLOSED(LOOP("", "lower=-2 upper=-1", "lower=0 upper=1") SECTIONS("0"));
	static const char unsigned_text[] =
		ENCLOSED(LOOP("unsigned=1", "lower=18446744073709551614 upper=18446744073709551615",
			      "lower=0 upper=1") SECTIONS("0"));
	struct grain_graph *base = graph_against("names: base", base_text, NULL, NULL);
	struct grain_graph *run = graph_against("names: run", base_text, base, NULL);
	struct grain_compare *c = compare_of("names", base, run);

	if (c) {
		check_match(c, base, run, "0.p0/l0[0,4]", true);
		check_match(c, base, run, "0.p0/l0[0,4].0", true);
		check_match(c, base, run, "0.p0/l0[0,4;1]", true);
		check_match(c, base, run, "0.p0/x1[0]", true);
	}
	free_comparison(NULL, run, c);
	run = graph_against("names: other", other_text, base, NULL);
	c = compare_of("other names", base, run);
	if (c) {
		check_match(c, base, run, "0.p0/l0[0,4]", true);
		check_match(c, base, run, "0.p0/l0[0,5]", false);
		check_match(c, base, run, "0.p0/x1[1]", false);
	}
	free_comparison(NULL, run, c);
	run = graph_against("names: loops", loops_text, base, NULL);
	c = compare_of("a loop for sections", base, run);
	if (c) {
		check_match(c, base, run, "0.p0/l0[0,4;1]", true);
		check_match(c, base, run, "0.p0/l1[0,0]", false);
	}
	free_comparison(base, run, c);
	base = graph_against("signed", signed_text, NULL, NULL);
	run = graph_against("unsigned", unsigned_text, base, NULL);
	c = compare_of("signs", base, run);
	if (c) {
		check_match(c, base, run, "0.p0/l0[0,1]", true);
		check_match(c, base, run, "0.p0/l0[18446744073709551614,18446744073709551615]", false);
		check_naively(base, run, c);
		CHECK(wrong == 0, "signs: as the texts say");
	}
	free_comparison(base, run, c);
}

/*
 * A taskloop over 0..7: in two tasks, in two that the runtime's own task makes
 * in part, and in four.
 */
static void test_taskloop(void)
{
#define TASK(t, n, bounds)                                                                                   \
	t " create-begin task=" n " src=3 flags=taskloop\n" t " task-bounds task=" n " taskloop=5 " bounds   \
	  "\n" t " create-end task=" n "\n"
#define BODY(t, n) t "0 3 1 task-begin task=" n "\n" t "5 3 1 task-end task=" n "\n"
#define GROUP "5 1 0 group-begin\n"
#define WAIT "18 1 0 wait-begin kind=taskgroup\n" BODY("3", "10") BODY("4", "11")
#define OVER "90 1 0 wait-end kind=taskgroup\n"
	static const char two[] = GRAPH_HEAD GROUP TASK("10 1 0", "10", "lower=0 upper=3")
		TASK("11 1 0", "11", "lower=4 upper=7") WAIT OVER;
	static const char split[] = GRAPH_HEAD GROUP
		"10 1 0 create-begin task=20 src=3 flags=taskloop,split\n11 1 0 create-end task=20\n"
		"20 2 1 task-begin task=20\n" TASK("21 2 1", "11", "lower=4 upper=7")
			TASK("22 2 1", "10", "lower=0 upper=3") "23 2 1 task-end task=20\n" WAIT OVER;
	static const char four[] = GRAPH_HEAD GROUP TASK("10 1 0", "10", "lower=0 upper=1")
		TASK("11 1 0", "11", "lower=2 upper=3") TASK("12 1 0", "12", "lower=4 upper=5")
			TASK("13 1 0", "13", "lower=6 upper=7") WAIT BODY("5", "12") BODY("6", "13") OVER;
	struct grain_graph *base = graph_against("taskloop in two", two, NULL, NULL);
	struct grain_graph *run = graph_against("taskloop split", split, base, NULL);
	struct grain_compare *c = compare_of("taskloop", base, run);
	struct grain_compare_totals t;

	if (c) {
		check_match(c, base, run, "0.0", true);
		check_match(c, base, run, "0.1", true);
		check_match(c, base, run, "0.t0", false);
		check_absent(c, run, "0.t0", GRAIN_COMPARE_NO_GRAIN);
		grain_compare__totals(c, &t);
		CHECK(t.matched_percent == 100 && t.same_shape,
		      "taskloop: who made the tasks does not matter");
		check_naively(base, run, c);
		CHECK(wrong == 0, "taskloop: as the texts say");
	}
	free_comparison(NULL, run, c);
	run = graph_against("taskloop in four", four, base, NULL);
	c = compare_of("taskloop otherwise", base, run);
	if (c) {
		check_absent(c, run, "0.0", GRAIN_COMPARE_OTHER_WORK);
		check_absent(c, run, "0.1", GRAIN_COMPARE_OTHER_WORK);
		check_absent(c, run, "0.2", GRAIN_COMPARE_NOT_FOUND);
		grain_compare__totals(c, &t);
		CHECK(t.matched == 0 && t.base_only == 0 && t.run_only == 2 && !t.same_shape,
		      "taskloop: other iterations are other grains");
	}
	free_comparison(base, run, c);
}

/* Each task creates the next and waits for it: as deep as it is long. */
static char *nested_text(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int time = 0;

	fputs(GRAPH_HEAD, f);
	for (int i = 0; i < NESTED; i++, time += 3)
		fprintf(f,
			"%d 1 0 create-begin task=%d src=2 flags=deferred\n%d 1 0 create-end task=%d\n"
			"%d 1 0 wait-begin kind=taskwait\n%d 1 0 task-begin task=%d\n",
			time, i, time + 1, i, time + 1, time + 2, i);
	for (int i = NESTED; i-- > 0; time += 2)
		fprintf(f, "%d 1 0 task-end task=%d\n%d 1 0 wait-end kind=taskwait\n", time, i, time + 1);
	fclose(f);
	return text;
}

static void test_nested(void)
{
	char *text = nested_text();
	struct grain_graph *base = graph_against("nested: base", text, NULL, NULL);
	struct grain_graph *run = graph_against("nested: run", text, base, NULL);
	struct grain_compare *c = compare_of("nested", base, run);
	struct grain_compare_totals t;
	uint32_t last = NESTED; /* after the initial task */

	if (c) {
		grain_compare__totals(c, &t);
		CHECK(t.matched == NESTED && t.same_shape, "nested: %d levels match", NESTED);
		CHECK(grain_compare__match(c, last) == last, "nested: the innermost too");
	}
	free_comparison(base, run, c);
	free(text);
}

/* Within any bound it succeeds or says that it is too little, and counts what it gives back. */
static void test_bound(void)
{
	struct grain_graph *base = run_program(3, 2, WHOLE), *run = run_program(3, 4, WHOLE);
	uint64_t step = 256, needed = 0;
	int failures = 0, leaks = 0, other = 0;

	for (uint64_t bound = 0; base && run && !needed && bound < UINT64_C(1) << 22; bound += step) {
		struct memory memory = {.max = bound};
		struct match match;
		int error = match__find(base, run, &memory, &match);

		if (error == 0) {
			match__release(&match, &memory);
			needed = bound;
		}
		failures += error != 0;
		other += error != 0 && error != -E2BIG;
		leaks += memory.used != 0;
	}
	CHECK(needed && failures > 3 && !other && !leaks, "bound: %d bounds too small, %llu bytes suffice",
	      failures, (unsigned long long)needed);
	free_comparison(base, run, NULL);
}

int main(void)
{
	test_random();
	test_shares();
	test_derived();
	test_names();
	test_taskloop();
	test_nested();
	test_bound();
	CHECK_DONE();
}
