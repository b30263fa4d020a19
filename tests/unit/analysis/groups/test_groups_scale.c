/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A million tasks, each inside the one before, and a million of one parent:
 * no recursion, time and memory in proportion. The graphs are made by hand,
 * as reading a file would take longer than what is measured.
 */
#include "analysis/event/event_build.h"
#include "analysis/include/grain_groups.h"
#include "analysis/include/grain_reduced.h"
#include "analysis/graph/graph.h"
#include "tests/unit/check.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* With sanitizers, which are slow, fewer tasks are enough: they look for other faults. */
#ifdef __SANITIZE_ADDRESS__
#define TASKS 100000u
#else
#define TASKS 1000000u
#endif
#define SECONDS 2.0
/* The memory of a group, if three problems are available. A context takes 8 bytes more. */
#define BYTES_PER_GROUP 100

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void add_item(struct grain_graph *g, uint32_t context, enum grain_item_kind kind, uint32_t ref)
{
	struct item *item = &g->items[g->item_count++];

	if (!g->contexts[context].item_count++)
		g->contexts[context].first_item = (uint32_t)(g->item_count - 1);
	*item = (struct item){.kind = kind, .ref = ref, .own_ns = kind == GRAIN_FRAGMENT};
	if (kind == GRAIN_FORK)
		g->contexts[ref].item = (uint32_t)(g->item_count - 1);
}

/* Each context executes for 1 before its fork, or before its first. */
static struct grain_graph *make(bool chain)
{
	struct grain_graph *g = calloc(1, sizeof *g);
	uint32_t i;

	if (!g)
		abort();
	g->stream = calloc(1, sizeof *g->stream);
	g->context_count = TASKS + 1;
	g->contexts = calloc(g->context_count, sizeof *g->contexts);
	g->items = calloc(2 * (size_t)TASKS + 2, sizeof *g->items);
	g->definitions = calloc(1, sizeof *g->definitions);
	g->definition_count = 1;
	g->join_count = 1;
	g->joins = calloc(1, sizeof *g->joins);
	g->joins[0].region = GRAIN_NONE;
	for (i = 0; i < 3; i++)
		g->problems[i].available = true;
	for (i = 0; i <= TASKS; i++) {
		g->contexts[i] = (struct context){
			.kind = i ? GRAIN_TASK : GRAIN_INITIAL,
			.parent = i == 0  ? GRAIN_NONE
				  : chain ? i - 1
					  : 0,
			.join = i && !chain ? 0 : GRAIN_NONE,
			.region = GRAIN_NONE,
			.item = GRAIN_NONE,
			.exec_ns = 1,
			.load_balance = 1,
			.flags = CONTEXT_BEGUN | CONTEXT_ENDED | CONTEXT_CREATED,
			.problems = i % 2,
		};
	}
	/* What these say is not to be used. */
	g->contexts[2].flags |= CONTEXT_INCOMPLETE;
	g->contexts[4].flags |= CONTEXT_DISCARDED;
	g->contexts[2].load_balance = g->contexts[4].load_balance = 9;
	for (i = 0; i <= TASKS; i++) {
		if (chain || i == 0)
			add_item(g, i, GRAIN_FRAGMENT, GRAIN_NONE);
		if (chain && i < TASKS)
			add_item(g, i, GRAIN_FORK, i + 1);
	}
	for (i = 1; i <= TASKS && !chain; i++)
		add_item(g, 0, GRAIN_FORK, i);
	if (!chain)
		add_item(g, 0, GRAIN_JOIN, 0);
	return g;
}

static void release(struct grain_graph *g)
{
	free(g->stream);
	free(g->contexts);
	free(g->items);
	free(g->definitions);
	free(g->joins);
	free(g);
}

static void check_time(double since, const char *what, const char *name)
{
#ifdef __SANITIZE_ADDRESS__
	(void)since;
	printf("# %s: %s: time says nothing with a sanitizer\n", name, what);
#else
	double spent = cpu_seconds() - since;

	CHECK(spent < SECONDS, "%s: %s in less than %g s of CPU time", name, what, SECONDS);
	printf("# %.3f s\n", spent);
#endif
}

static void check_groups(const struct grain_graph *g, const char *name, bool chain)
{
	struct grain_groups *groups = NULL;
	struct grain_group root;
	uint32_t *numbers;
	uint64_t length = 0;
	size_t before = allocated(), n, bytes;
	double since = cpu_seconds(), similar = 0;
	bool bits[4];

	CHECK(grain_groups__new(g, &groups) == 0, "%s: is grouped", name);
	if (!groups)
		return;
	check_time(since, "groups", name);
	n = grain_groups__count(groups);
	bytes = allocated() - before;
	grain_groups__get(groups, grain_groups__root(groups), &root);
	/* Every task with a child has a family and a group of siblings, the root too. */
	CHECK(n == (chain ? 2 * (size_t)TASKS : 2) && root.exec_ns == TASKS + 1 && root.grains == TASKS &&
		      root.problem_grains[0] == TASKS / 2 && root.load_balance == 1 &&
		      root.strength == (chain ? 3 * (uint64_t)TASKS : TASKS + 2),
	      "%s: %zu groups, all grains in one root", name, n);
	if (chain && bytes)
		CHECK(bytes < BYTES_PER_GROUP * n, "%s: %zu bytes a group", name, bytes / n);
	numbers = malloc(n * sizeof *numbers);
	since = cpu_seconds();
	CHECK(grain_groups__classes(groups, numbers) == 0 && numbers[0] != numbers[n - 1], "%s: classes",
	      name);
	check_time(since, "classes", name);
	since = cpu_seconds();
	CHECK(grain_groups__similarity(groups, (uint32_t)n - 1, (uint32_t)n - 2, 3, &similar) == 0 &&
		      similar > 0 && similar < 1,
	      "%s: similarity", name);
	check_time(since, "similarity of the largest two", name);
	since = cpu_seconds();
	/* All of the chain, or two of the fan. */
	CHECK(grain_groups__local_path(groups, (uint32_t)n - 1, bits, &length) == 0 &&
		      length == (chain ? TASKS + 1 : 1),
	      "%s: local path", name);
	check_time(since, "local path of the root", name);
	CHECK(grain_groups__path(groups, 0, numbers, n) == n && numbers[0] == n - 1 && numbers[n - 1] == 0,
	      "%s: the way to the first group", name);
	free(numbers);
	grain_groups__free(groups);
}

static void check_reduced(const struct grain_graph *g, const char *name, bool chain)
{
	struct grain_reduced *reduced = NULL;
	struct grain_reduced_node node;
	double since = cpu_seconds();

	CHECK(grain_reduced__new(g, &reduced) == 0, "%s: is reduced", name);
	if (!reduced)
		return;
	check_time(since, "reduction", name);
	/* Contexts, the join, forks; a fork is alone in the chain, and one for all in the fan. */
	CHECK(grain_reduced__node_count(reduced) == TASKS + 1 + 1 + (chain ? TASKS : 1), "%s: nodes", name);
	grain_reduced__node(reduced, TASKS + 2, &node);
	CHECK(node.kind == GRAIN_REDUCED_FORK && node.members == (chain ? 1 : TASKS), "%s: a fork", name);
	grain_reduced__free(reduced);
}

int main(void)
{
	for (int chain = 0; chain < 2; chain++) {
		struct grain_graph *g = make(chain);

		check_groups(g, chain ? "chain" : "fan", chain);
		check_reduced(g, chain ? "chain" : "fan", chain);
		release(g);
	}
	CHECK_DONE();
}
