// SPDX-License-Identifier: BSD-2-Clause
/* Folding of symbols: what comes out of short lists, by hand; long and hostile lists in time. */
#include "analysis/sequences/folding.h"
#include "tests/unit/check.h"
#include "tests/unit/noise.h"

#include <stdlib.h>
#include <time.h>

#define LETTERS 26

static void write_symbol(const struct folding *f, uint32_t symbol, FILE *out)
{
	const struct folding_rule *rule;

	if (symbol >= FOLDING_BREAKS) {
		fputc('|', out);
		return;
	}
	if (symbol < f->leaves) {
		fputc('A' + (int)symbol, out);
		return;
	}
	rule = &f->rules[symbol - f->leaves];
	fputc('(', out);
	for (uint32_t i = 0; i < rule->length; i++)
		write_symbol(f, f->pool[rule->body + i], out);
	fputc(')', out);
}

/* Folds letters; '|' is a break. "A3(BC)": A, then three times BC. */
static void folds(const char *text, const char *expected)
{
	size_t count = strlen(text), bytes;
	uint32_t symbols[256], breaks = 0, entries = 0, covered = 0;
	struct folding f;
	char *got = NULL;
	FILE *out = open_memstream(&got, &bytes);

	for (size_t i = 0; i < count; i++) {
		symbols[i] = text[i] == '|' ? FOLDING_BREAKS + breaks++ : (uint32_t)(text[i] - 'A');
		entries += text[i] != '|';
	}
	if (!out || folding__fold(&f, symbols, count, LETTERS))
		exit(1);
	for (size_t i = 0; i < f.count; i++) {
		const struct folding_run *run = NULL;

		if (f.symbols[i] >= LETTERS && f.symbols[i] < FOLDING_BREAKS)
			run = folding__run_at(&f, f.symbols[i] - LETTERS, f.firsts[i]);
		if (run)
			fprintf(out, "%u", run->count);
		covered += f.firsts[i + 1] - f.firsts[i];
		write_symbol(&f, f.symbols[i], out);
	}
	fclose(out);
	CHECK_STR(got, expected, "%s folds", text);
	CHECK(covered == entries && !f.unfinished, "%s: nothing is lost", text);
	free(got);
	folding__free(&f);
}

static void test_by_hand(void)
{
	folds("", "");
	folds("A", "A");
	folds("ABCDE", "ABCDE");
	folds("AAA", "3(A)");
	folds("ABAB", "2(AB)");
	/* A step that ends as it begins, and one that has the same region twice. */
	folds("ABAABAABA", "3(ABA)");
	folds("AABCAABCAABC", "3(AABC)");
	/* Before the loop comes what also ends each step. */
	folds("RABRABRABR", "R3(ABR)");
	/* The first and the last step are seen in part. */
	folds("BCABCABCABCAB", "B4(CAB)");
	/* A step more every third time. */
	folds("ABCABCABCDABCABCABCDABCABCABCD", "3((ABC)D)");
	/* The inner loop has one to three turns: the step is the same. */
	folds("SABTSABABTSABABABTSABT", "4(S(AB)T)");
	/* Inner loops in several places of the step, and what is done once a step. */
	folds("PEQPEEQPEEEEEQZPEQPEEQPEEEEEQZPEQPEEQPEEEEEQZ", "3((P(E)Q)Z)");
	/* Nothing goes over a break. */
	folds("AB|AB|AB", "AB|AB|AB");
	folds("ABABAB|ABABAB", "3(AB)|3(AB)");
	/* The same loop, after something that ends as it does. */
	folds("XABABABYBABABABZABABAB", "X3(AB)YB3(AB)Z3(AB)");
}

/* Each repetition begins where the first symbol of its body is. */
static void check_begins(const struct folding *f, const uint32_t *symbols, uint32_t rule)
{
	const struct folding_rule *r = &f->rules[rule];

	for (uint32_t i = 0; i < r->runs; i++) {
		const struct folding_run *run = &f->runs[r->first_run + i];

		for (uint32_t k = 0; k < run->count; k++) {
			uint32_t at = f->begins[run->begin + k], symbol = f->pool[r->body];

			if (folding__run_at(f, rule, f->begins[run->begin]) != run || run->end <= at)
				CHECK(false, "run %u of rule %u", i, rule);
			if (symbol < f->leaves && symbols[at] != symbol)
				CHECK(false, "repetition %u of run %u of rule %u", k, i, rule);
		}
	}
}

static void test_random(void)
{
	enum { COUNT = 400 };
	uint32_t symbols[COUNT];

	for (int round = 0; round < 2000; round++) {
		uint32_t letters = 1 + (uint32_t)(noise() % 5), covered = 0;
		struct folding f;

		for (uint32_t i = 0; i < COUNT; i++)
			symbols[i] = i >= 50 && noise() % 10 ? symbols[i - 1 - (uint32_t)round % 20]
							     : (uint32_t)(noise() % letters);
		if (folding__fold(&f, symbols, COUNT, LETTERS))
			exit(1);
		for (size_t i = 0; i < f.count; i++)
			covered += f.firsts[i + 1] - f.firsts[i];
		for (uint32_t i = 0; i < f.rule_count; i++)
			check_begins(&f, symbols, i);
		if (covered != COUNT)
			CHECK(false, "round %d: %u entries", round, covered);
		folding__free(&f);
	}
	CHECK(true, "random lists: runs are where their bodies are");
}

enum shape { STEPS, COIN, DICE, RULER, BROKEN, SHAPES };

static uint32_t symbol_of(enum shape shape, uint32_t i)
{
	switch (shape) {
	case STEPS:
		return i % 490 < 70 ? i % 490 : 70 + i % 7;
	case COIN:
		return (uint32_t)(noise() % 2);
	case DICE:
		return (uint32_t)(noise() % 26);
	case RULER:
		return (uint32_t)__builtin_ctz(i + 1);
	default:
		return noise() % 1000 ? i % 400 : 7;
	}
}

static void test_scale(void)
{
	static const char *const names[] = {"steps", "two symbols", "26 symbols", "a ruler", "broken steps"};
	enum { COUNT = 1000000 };
	uint32_t *symbols = malloc(COUNT * sizeof(*symbols));

	if (!symbols)
		exit(1);
	for (enum shape shape = STEPS; shape < SHAPES; shape++) {
		struct timespec from, to;
		struct folding f;
		double s;

		for (uint32_t i = 0; i < COUNT; i++)
			symbols[i] = symbol_of(shape, i);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		if (folding__fold(&f, symbols, COUNT, 500))
			exit(1);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
		printf("# %s: %.2f s, %zu symbols left\n", names[shape], s, f.count);
		CHECK(s < 5 && f.begin_count <= 4 * COUNT + 64 && f.pool_count <= COUNT,
		      "a million symbols, %s: within time and memory", names[shape]);
		if (shape == STEPS)
			CHECK(f.count < 2000 && !f.unfinished, "a million regions in steps fold");
		folding__free(&f);
	}
	free(symbols);
}

int main(void)
{
	test_by_hand();
	test_random();
	test_scale();
	CHECK_DONE();
}
