/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How to use the analysis library: reads a trace or an event log and says what
 * is in it.
 *
 *     cc -I. -o grains tests/example/grains.c build/libanalysis.a $(pkg-config --libs hwloc) -lzstd -lz -lm
 *     ./grains FILE
 *
 * The headers analysis/include/grain*.h are the interface, from C and from C++. A graph
 * does not change once it is loaded; all elements are numbered from 0, and
 * strings belong to the graph.
 */
#include "analysis/include/grain.h"
#include "analysis/include/grain_whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EXPENSIVE 10

/* "0.p0.s0.1"; identifiers are as long as the program is deep. */
static char *context_id(const struct grain_graph *graph, uint32_t context)
{
	size_t length = grain_graph__context_id(graph, context, NULL, 0);
	char *id = malloc(length + 1);

	if (id)
		grain_graph__context_id(graph, context, id, length + 1);
	return id;
}

/* "fib.c:8" */
static const char *source(const struct grain_graph *graph, uint32_t definition)
{
	struct grain_definition d;

	if (definition == GRAIN_NONE)
		return "unknown";
	grain_graph__definition(graph, definition, &d);
	return d.source;
}

static void print_totals(const struct grain_graph *graph)
{
	const struct grain_info *info = grain_graph__info(graph);
	const struct grain_totals *totals = grain_graph__totals(graph);
	const struct grain_truth *truth = grain_graph__truth(graph);

	printf("%s: %" PRIu64 " tasks and %" PRIu64 " chunks on %" PRIu32 " threads in %" PRIu64 " ns\n",
	       info->command, totals->tasks, totals->chunks, info->threads, totals->wall_ns);
	printf("work %" PRIu64 " ns, span %" PRIu64 " ns, %" PRIu64 " grains incomplete\n", totals->work_ns,
	       totals->span_ns, truth->incomplete_grains);
}

struct cost {
	uint64_t exec_ns;
	uint32_t context;
};

static int by_cost(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->exec_ns != y->exec_ns)
		return x->exec_ns > y->exec_ns ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

/* Tasks and chunks are grains; the initial task and the members of teams are contexts, too, but no grains. */
static bool is_grain(const struct grain_context *c)
{
	return (c->kind == GRAIN_TASK && !c->runtime) || c->kind == GRAIN_CHUNK;
}

static int print_expensive(const struct grain_graph *graph)
{
	size_t count = grain_graph__context_count(graph), grains = 0, i;
	struct cost *costs = calloc(count ? count : 1, sizeof *costs);

	if (!costs)
		return -1;
	for (i = 0; i < count; i++) {
		struct grain_context c;

		grain_graph__context(graph, (uint32_t)i, &c);
		if (is_grain(&c))
			costs[grains++] = (struct cost){.exec_ns = c.exec_ns, .context = (uint32_t)i};
	}
	qsort(costs, grains, sizeof *costs, by_cost);
	printf("\nmost expensive grains\n");
	for (i = 0; i < grains && i < MOST_EXPENSIVE; i++) {
		char *id = context_id(graph, costs[i].context);
		struct grain_context c;

		grain_graph__context(graph, costs[i].context, &c);
		printf("%8" PRIu64 " ns  %-20s %s", c.exec_ns, source(graph, c.definition), id ? id : "?");
		/* A metric that cannot be had is NAN, never 0. */
		if (!isnan(c.parallel_benefit))
			printf(", parallel benefit %.2f", c.parallel_benefit);
		printf("%s\n", c.critical ? ", critical" : "");
		free(id);
	}
	free(costs);
	return 0;
}

static void print_problems(const struct grain_graph *graph)
{
	int p;

	printf("\nproblems\n");
	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary s;

		grain_graph__problem(graph, (enum grain_problem)p, &s);
		if (s.available)
			printf("%s: %" PRIu64 " grains beyond %g\n", s.name, s.grains, s.threshold);
		else
			printf("%s: absent, %s\n", s.name, s.why);
	}
}

static void print_advice(const struct grain_graph *graph)
{
	size_t i, count = grain_graph__advice_count(graph);

	printf("\nadvice\n");
	for (i = 0; i < count; i++) {
		struct grain_advice a;

		grain_graph__advice(graph, i, &a);
		printf("%s at %s saves up to %" PRIu64 " ns\n", grain_advice__kind_name(a.kind),
		       source(graph, a.definition), a.saves_ns);
		printf("  why: %s\n  do:  %s\n", a.finding, a.text);
	}
}

static void print_whatif(const struct grain_graph *graph)
{
	struct grain_whatif_question q[GRAIN_WHATIF_USUAL];
	size_t i, count = grain_graph__usual_questions(graph, q, GRAIN_WHATIF_USUAL);

	printf("\nwhat if\n");
	for (i = 0; i < count; i++) {
		struct grain_whatif w;

		if (grain_graph__whatif(graph, q[i].definition, q[i].factor,
					grain_graph__info(graph)->threads, &w) < 0)
			continue;
		printf("%s ran %g times as fast: span %" PRIu64 " ns, at least %" PRIu64
		       " ns instead of %" PRIu64 "\n",
		       source(graph, q[i].definition), q[i].factor, w.span_ns, w.least_ns, w.before_least_ns);
	}
}

/*
 * The graph itself: a context is a list of items, in order. A fork leads to
 * the child that it creates, a region to its members, a chunk item to the
 * chunk; a context's `join` is where its end is waited for. Indices of
 * children are larger than those of parents, so that no recursion is needed.
 */
static void walk(const struct grain_graph *graph)
{
	static const char *const names[] = {"fragments", "forks",	 "regions",
					    "joins",	 "book-keeping", "chunks"};
	uint64_t count[GRAIN_CHUNK_ITEM + 1] = {0}, own_ns[GRAIN_CHUNK_ITEM + 1] = {0}, critical_ns = 0;
	size_t i, contexts = grain_graph__context_count(graph);
	uint32_t k;
	int kind;

	for (i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(graph, (uint32_t)i, &c);
		for (k = c.first_item; k < c.first_item + c.item_count; k++) {
			struct grain_item item;

			grain_graph__item(graph, k, &item);
			count[item.kind]++;
			own_ns[item.kind] += item.own_ns;
			if (item.kind == GRAIN_FRAGMENT && item.critical)
				critical_ns += item.own_ns;
		}
	}
	printf("\nthe graph\n");
	for (kind = GRAIN_FRAGMENT; kind <= GRAIN_CHUNK_ITEM; kind++)
		printf("%" PRIu64 " %s, %" PRIu64 " ns\n", count[kind], names[kind], own_ns[kind]);
	printf("%" PRIu64 " ns of the fragments are on the critical path\n", critical_ns);
}

int main(int argc, char **argv)
{
	struct grain_graph *graph = NULL;
	struct grain_error err = {""};
	int error;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	/* NULL: default options. The error says what is wrong, where, and what to do. */
	error = grain_graph__load(argv[1], NULL, &graph, &err);
	if (error < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	print_totals(graph);
	error = print_expensive(graph);
	print_problems(graph);
	print_advice(graph);
	print_whatif(graph);
	walk(graph);
	grain_graph__free(graph);
	return error < 0 || fflush(stdout) ? 1 : 0;
}
