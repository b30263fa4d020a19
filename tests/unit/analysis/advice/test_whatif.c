/* SPDX-License-Identifier: BSD-2-Clause */
/* What if: by hand, and on random programs once more over all nodes and edges. */
#include "analysis/include/grain_whatif.h"
#include "tests/unit/advice_log.h"
#include "tests/unit/brute_force.h"
#include "tests/unit/random_run.h"

#include <errno.h>

#define PROGRAMS 12
#define KINDS 3 /* of tasks in random programs */

static uint32_t definition_of(const struct grain_graph *g, const char *source)
{
	for (uint32_t i = 0; i < grain_graph__definition_count(g); i++) {
		struct grain_definition d;

		grain_graph__definition(g, i, &d);
		if (!strcmp(d.source, source))
			return i;
	}
	return GRAIN_NONE;
}

static void check_whatif(const struct grain_graph *g, const char *name, const char *source, double factor,
			 uint32_t cores, struct grain_whatif expected)
{
	struct grain_whatif w = {0};
	int r = grain_graph__whatif(g, definition_of(g, source), factor, cores, &w);

	CHECK(r == 0 && w.work_ns == expected.work_ns && w.span_ns == expected.span_ns,
	      "%s: work and span with %s %g times faster", name, source, factor);
	CHECK(w.least_ns == expected.least_ns && w.most_ns == expected.most_ns &&
		      w.before_least_ns == expected.before_least_ns &&
		      w.before_most_ns == expected.before_most_ns,
	      "%s: bounds of the makespan with %s %g times faster", name, source, factor);
	CHECK(w.saves_ns == expected.saves_ns, "%s: what %s %g times faster saves", name, source, factor);
	if (check_failures)
		printf("# %d: work %llu span %llu least %llu most %llu before %llu %llu saves %llu\n", r,
		       (unsigned long long)w.work_ns, (unsigned long long)w.span_ns,
		       (unsigned long long)w.least_ns, (unsigned long long)w.most_ns,
		       (unsigned long long)w.before_least_ns, (unsigned long long)w.before_most_ns,
		       (unsigned long long)w.saves_ns);
}

/* f takes 100 ns, g 60, beside each other; all else takes no time but the creations, 10 ns each. */
static struct grain_graph *fork_join(void)
{
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	log_barrier(&l, 1);
	log_create(&l, 0, 1, 2, 10);
	log_create(&l, 0, 2, 3, 10);
	log_barrier(&l, 0);
	l.now[1] = 20;
	log_task(&l, 0, 1, 100);
	log_task(&l, 1, 2, 60);
	log_end_team(&l, 1);
	return log_graph(&l, "fork-join", NULL);
}

static void test_fork_join(void)
{
	struct grain_graph *g = fork_join();

	if (!g)
		return;
	/* 160 / 2 + 100 / 2 is 130 before; wall is 120. */
	check_whatif(g, "fork-join", "a.c:20", 1, 2, (struct grain_whatif){160, 100, 100, 130, 100, 130, 0});
	check_whatif(g, "fork-join", "a.c:20", 2, 2,
		     (struct grain_whatif){110, 60, 60, 85, 100, 130, 120 * (130 - 85) / 130});
	check_whatif(g, "fork-join", "a.c:30", 2, 2,
		     (struct grain_whatif){130, 100, 100, 115, 100, 130, 120 * (130 - 115) / 130});
	/* Slower: work 260, span 200. */
	check_whatif(g, "fork-join", "a.c:20", 0.5, 2,
		     (struct grain_whatif){260, 200, 200, 230, 100, 130, 0});
	check_whatif(g, "fork-join", "a.c:20", 2, 1,
		     (struct grain_whatif){110, 60, 110, 110, 160, 160, 120 * (160 - 110) / 160});
	/* A definition of something else than grains: the members, which take no time. */
	check_whatif(g, "fork-join", "a.c:10", 2, 2, (struct grain_whatif){160, 100, 100, 130, 100, 130, 0});
	grain_graph__free(g);
}

/* f waits for g, which waits for another f; each takes 101 ns before it and nothing after. */
static void test_chain(void)
{
	struct grain_graph *g;
	struct log l;

	log_open(&l, 1);
	log_team(&l, 1);
	log_create(&l, 0, 1, 2, 10);
	log_barrier(&l, 0);
	for (int i = 1; i <= 3; i++) {
		log_event(&l, 0, "task-begin task=%d", i);
		l.now[0] += 101;
		if (i == 3)
			break;
		log_create(&l, 0, i + 1, i == 1 ? 3 : 2, 10);
		log_event(&l, 0, "wait-begin kind=taskwait");
	}
	for (int i = 3; i >= 1; i--) {
		log_event(&l, 0, "task-end task=%d", i);
		if (i > 1)
			log_event(&l, 0, "wait-end kind=taskwait");
	}
	log_end_team(&l, 1);
	g = log_graph(&l, "chain", NULL);
	if (!g)
		return;
	/* 50.5 ns are rounded to 51. Wall is 303 and three creations: no more goes than 100 ns of work. */
	check_whatif(g, "chain", "a.c:20", 2, 4, (struct grain_whatif){203, 203, 203, 203, 303, 303, 100});
	check_whatif(g, "chain", "a.c:30", 101, 4, (struct grain_whatif){203, 203, 203, 203, 303, 303, 100});
	grain_graph__free(g);
}

/* f (100 ns) before g (50 ns), and a g of 120 ns beside them. */
static void test_dependence(void)
{
	struct grain_graph *g;
	struct log l;

	log_open(&l, 2);
	log_team(&l, 1);
	log_barrier(&l, 1);
	for (int i = 1; i <= 3; i++) {
		log_event(&l, 0, "create-begin task=%d src=%d flags=deferred", i, i == 1 ? 2 : 3);
		if (i < 3)
			log_event(&l, 0, "depend task=%d addr=1 kind=%s", i, i == 1 ? "out" : "in");
		log_event(&l, 0, "create-end task=%d", i);
	}
	log_barrier(&l, 0);
	log_task(&l, 0, 1, 100);
	log_task(&l, 0, 2, 50);
	log_task(&l, 1, 3, 120);
	log_end_team(&l, 1);
	g = log_graph(&l, "dependence", NULL);
	if (!g)
		return;
	/* f at half: 50 + 50 is less than 120. */
	check_whatif(g, "dependence", "a.c:20", 2, 2,
		     (struct grain_whatif){220, 120, 120, 170, 150, 210, 150 * 40 / 210});
	/* g at half: 100 + 25, beside 60. */
	check_whatif(g, "dependence", "a.c:30", 2, 2,
		     (struct grain_whatif){185, 125, 125, 155, 150, 210, 150 * 55 / 210});
	grain_graph__free(g);
}

static void test_errors(void)
{
	const double bad[] = {0, -1, NAN, INFINITY, 1e-300};
	struct grain_graph *g = fork_join();
	struct grain_whatif w = {.work_ns = 7};
	int refused = 0;

	if (!g)
		return;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		refused += grain_graph__whatif(g, definition_of(g, "a.c:20"), bad[i], 2, &w) == -EINVAL;
	CHECK(refused == 5, "errors: factors that are none");
	CHECK(grain_graph__whatif(g, (uint32_t)grain_graph__definition_count(g), 2, 2, &w) == -EINVAL &&
		      grain_graph__whatif(g, GRAIN_NONE, 2, 2, &w) == -EINVAL,
	      "errors: definitions that do not exist");
	CHECK(grain_graph__whatif(g, definition_of(g, "a.c:20"), 2, 0, &w) == -EINVAL, "errors: no cores");
	CHECK(w.work_ns == 7, "errors: nothing is written then");
	grain_graph__free(g);
}

/* Times that are too long to be added up once they are divided. */
static void test_too_slow(void)
{
	struct grain_whatif_question q;
	struct grain_graph *g;
	struct grain_error err = {""};
	struct grain_whatif w;
	struct log l;

	log_open(&l, 1);
	log_team(&l, 1);
	log_create(&l, 0, 1, 2, 10);
	log_barrier(&l, 0);
	log_task(&l, 0, 1, 10000000000000000);
	log_end_team(&l, 1);
	g = log_graph(&l, "too slow", NULL);
	if (!g)
		return;
	CHECK(grain_graph__whatif(g, definition_of(g, "a.c:20"), 0.003, 1, &w) == 0 &&
		      grain_graph__parse_question(g, "a.c:20=0.003", &q, &err) == 0,
	      "too slow: a century is not");
	CHECK(grain_graph__whatif(g, definition_of(g, "a.c:20"), 0.001, 1, &w) == -EINVAL &&
		      grain_graph__parse_question(g, "a.c:20=0.001", &q, &err) == -EINVAL,
	      "too slow: three centuries are");
	grain_graph__free(g);
}

static void test_questions(void)
{
	static const char *const bad[] = {"",	       "a.c:20",   "=2",	"a.c:20=",
					  "a.c:20=x",  "a.c:20=0", "a.c:20=-1", "a.c:2=2",
					  "a.c:200=2", "a.c:10=2", "a.c:20=nan"};
	struct grain_graph *g = fork_join();
	struct grain_whatif_question q[GRAIN_WHATIF_USUAL];
	struct grain_error err = {""};
	int refused = 0;

	if (!g)
		return;
	CHECK(grain_graph__parse_question(g, "a.c:30=2.5", q, &err) == 0 &&
		      q->definition == definition_of(g, "a.c:30") && q->factor == 2.5,
	      "questions: a source and a factor");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err.text[0] = '\0';
		refused += grain_graph__parse_question(g, bad[i], q, &err) == -EINVAL && err.text[0];
	}
	CHECK(refused == sizeof bad / sizeof *bad, "questions: what is none, with a reason");
	CHECK_STR(err.text, "'a.c:20=nan' is no what-if: the factor is a number above 0, as in fib.c:8=2",
		  "questions: the reason");
	/* g is not on the critical path. */
	CHECK(grain_graph__usual_questions(g, q, GRAIN_WHATIF_USUAL) == 1 &&
		      q->definition == definition_of(g, "a.c:20") && q->factor == 2,
	      "questions: the usual one");
	CHECK(grain_graph__usual_questions(g, q, 0) == 0, "questions: no room");
	grain_graph__free(g);
}

/* Gives the tasks of a random program one of KINDS definitions each. */
static char *colour(char *text)
{
	static const char sources[] = "@source 3 file=a.c line=3 func=g kind=task\n"
				      "@source 4 file=a.c line=4 func=h kind=task\n";
	char *at = text, *out = malloc(strlen(text) + sizeof sources);
	size_t head = strcspn(text, "\n") + 1;

	while ((at = strstr(at, "create-begin task="))) {
		unsigned long task = strtoul(at + strlen("create-begin task="), NULL, 10);

		at = strstr(at, "src=");
		at[4] = (char)('2' + task % KINDS);
	}
	memcpy(out, text, head);
	strcpy(out + head, sources);
	strcat(out, text + head);
	free(text);
	return out;
}

static char *grains_json(const struct grain_graph *g)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	grain_graph__write_grains_json(g, f);
	fclose(f);
	return text;
}

static int asked, wrong_work, wrong_span, wrong_same, wrong_order, wrong_bounds, changed, shorter;

/* The same by the list of nodes and edges. */
static void expect(struct brute *b, uint32_t definition, double factor, uint64_t *work, uint64_t *span)
{
	uint64_t *weights = calloc(b->node_count + 1, sizeof *weights);

	*work = 0;
	for (uint32_t n = 0; n < b->node_count; n++) {
		struct brute_node *node = &b->nodes[n];

		weights[n] = node->weight;
		if (node->kind != BRUTE_FRAGMENT)
			continue;
		if (b->contexts[node->context].definition == definition)
			node->weight = (uint64_t)llround((double)node->weight / factor);
		*work += node->weight;
	}
	brute_relax(b, NULL, false, false, b->to);
	*span = brute_span(b);
	for (uint32_t n = 0; n < b->node_count; n++)
		b->nodes[n].weight = weights[n];
	free(weights);
}

static void check_random(uint32_t seed, int threads)
{
	static const double factors[] = {0.25, 1, 1.7, 2, 1000};
	char *text = colour(run_program(seed, threads, seed * 31 + (uint32_t)threads)), *before, *after;
	struct grain_graph *g = load_text(text);
	const struct grain_totals *t;
	struct brute *b;

	free(text);
	if (!g) {
		wrong_work++;
		return;
	}
	t = grain_graph__totals(g);
	before = grains_json(g);
	b = brute_new(g);
	for (uint32_t d = 0; d < grain_graph__definition_count(g); d++) {
		uint64_t last_span = UINT64_MAX;

		for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
			struct grain_whatif w = {0};
			uint64_t work, span;

			asked++;
			grain_graph__whatif(g, d, factors[i], (uint32_t)threads, &w);
			expect(b, d, factors[i], &work, &span);
			wrong_work += w.work_ns != work;
			wrong_span += w.span_ns != span;
			wrong_order += w.span_ns > last_span;
			last_span = w.span_ns;
			wrong_bounds += w.least_ns > w.most_ns || w.least_ns < w.span_ns ||
					w.span_ns > w.work_ns || w.saves_ns > t->wall_ns;
			shorter += factors[i] > 1 && w.span_ns < t->span_ns;
			if (factors[i] == 1)
				wrong_same += w.work_ns != t->work_ns || w.span_ns != t->span_ns ||
					      w.least_ns != w.before_least_ns ||
					      w.most_ns != w.before_most_ns || w.saves_ns;
		}
	}
	after = grains_json(g);
	changed += strcmp(before, after) != 0;
	free(before);
	free(after);
	brute_free(b);
	grain_graph__free(g);
}

static void test_random(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
		check_random(seed, 1);
		check_random(seed, 3);
	}
	CHECK(asked > PROGRAMS * 2 * 5 && shorter > asked / 10, "random: %d questions, %d shorten the span",
	      asked, shorter);
	CHECK(wrong_work == 0, "random: work");
	CHECK(wrong_span == 0, "random: span");
	CHECK(wrong_same == 0, "random: once as fast changes nothing");
	CHECK(wrong_order == 0, "random: the faster, the shorter the span");
	CHECK(wrong_bounds == 0, "random: bounds in order");
	CHECK(changed == 0, "random: the graph is as before");
	if (check_failures)
		printf("# wrong: work %d span %d same %d order %d bounds %d of %d\n", wrong_work, wrong_span,
		       wrong_same, wrong_order, wrong_bounds, asked);
}

int main(void)
{
	test_fork_join();
	test_chain();
	test_dependence();
	test_errors();
	test_too_slow();
	test_questions();
	test_random();
	CHECK_DONE();
}
