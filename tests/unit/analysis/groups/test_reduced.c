/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduced graphs: the programs of PPOPP16 figure 3 by hand, every node and
 * edge; sums and the absence of cycles for random programs.
 */
#include "analysis/include/grain_reduced.h"
#include "tests/unit/random_graph.h"

#define PROGRAMS 40

static void node_name(const struct grain_graph *g, const struct grain_reduced *reduced, uint32_t node,
		      char *name, size_t size)
{
	char first[100] = "", second[100] = "";
	struct grain_reduced_node n;

	grain_reduced__node(reduced, node, &n);
	if (n.context != GRAIN_NONE)
		grain_graph__context_id(g, n.context, first, sizeof first);
	if (n.join != GRAIN_NONE)
		grain_graph__join_id(g, n.join, second, sizeof second);
	switch (n.kind) {
	case GRAIN_REDUCED_CONTEXT:
		snprintf(name, size, "%s", first);
		break;
	case GRAIN_REDUCED_FORK:
		snprintf(name, size, "%s+%s", first, second);
		break;
	case GRAIN_REDUCED_REGION:
		grain_graph__region_id(g, n.region, second, sizeof second);
		snprintf(name, size, "%s", second);
		break;
	case GRAIN_REDUCED_JOIN:
		if (n.join == GRAIN_NONE)
			grain_graph__region_id(g, n.region, first, sizeof first);
		snprintf(name, size, n.join == GRAIN_NONE ? "%s:end" : "%s",
			 n.join == GRAIN_NONE ? first : second);
		break;
	case GRAIN_REDUCED_BOOKKEEPING:
		grain_graph__loop_id(g, n.loop, second, sizeof second);
		snprintf(name, size, "%s~%s", first, second);
		break;
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "NAME members sum min max" of each node, "kind FROM > TO" of each edge; "!" where critical. */
static void check_whole(const struct grain_graph *g, const char *name, const char *const *expected,
			size_t count)
{
	struct grain_reduced *reduced = NULL;
	char **lines, from[220], to[220], *got = NULL, *wanted = NULL;
	static const char *const kinds[] = {"creation", "continuation", "synchronization", "dependence"};
	size_t nodes, edges, size;
	FILE *f;

	CHECK(grain_reduced__new(g, &reduced) == 0, "%s: is reduced", name);
	nodes = grain_reduced__node_count(reduced);
	edges = grain_reduced__edge_count(reduced);
	lines = calloc(nodes + edges + count + 1, sizeof *lines);
	for (uint32_t i = 0; i < nodes; i++) {
		struct grain_reduced_node n;

		grain_reduced__node(reduced, i, &n);
		node_name(g, reduced, i, from, sizeof from);
		if (asprintf(&lines[i], "%s%s %u %llu %llu %llu", n.critical ? "!" : "", from, n.members,
			     (unsigned long long)n.sum_ns, (unsigned long long)n.min_ns,
			     (unsigned long long)n.max_ns) < 0)
			abort();
	}
	for (uint32_t i = 0; i < edges; i++) {
		struct grain_reduced_edge e;

		grain_reduced__edge(reduced, i, &e);
		node_name(g, reduced, e.from, from, sizeof from);
		node_name(g, reduced, e.to, to, sizeof to);
		if (asprintf(&lines[nodes + i], "%s%s %s > %s", e.critical ? "!" : "", kinds[e.kind], from,
			     to) < 0)
			abort();
	}
	qsort(lines, nodes + edges, sizeof *lines, compare_texts);
	f = open_memstream(&got, &size);
	for (size_t i = 0; i < nodes + edges; i++) {
		fprintf(f, "%s\n", lines[i]);
		free(lines[i]);
	}
	fclose(f);
	memcpy(lines, expected, count * sizeof *lines);
	qsort(lines, count, sizeof *lines, compare_texts);
	f = open_memstream(&wanted, &size);
	for (size_t i = 0; i < count; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	CHECK_STR(got, wanted, "%s: every node and every edge", name);
	free(got);
	free(wanted);
	free(lines);
	grain_reduced__free(reduced);
}
#define CHECK_WHOLE(g, name, expected) check_whole(g, name, expected, sizeof(expected) / sizeof *(expected))

/* Figure 3a, c to e: foo makes bar and baz and waits for both. */
static void test_tasks(void)
{
	static const char *const expected[] = {
		"!0 4 30 5 10", /* 10, 8, 7 and 5 */
		"!0+0/j0 2 5 2 3",
		"!0.0 1 19 19 19",
		"0.1 1 8 8 8",
		"!0/j0 1 22 22 22", /* baz ran in it */
		"!continuation 0 > 0+0/j0",
		"!creation 0+0/j0 > 0.0",
		"creation 0+0/j0 > 0.1",
		"continuation 0+0/j0 > 0/j0",
		"!synchronization 0.0 > 0/j0",
		"synchronization 0.1 > 0/j0",
	};
	struct grain_graph *g = graph_of_text("tasks", GRAPH_HEAD
					      "0 1 0 thread-begin\n"
					      "10 1 0 create-begin task=1 src=2 flags=deferred\n"
					      "12 1 0 create-end task=1\n"
					      "20 1 0 create-begin task=2 src=3 flags=deferred\n"
					      "23 1 0 create-end task=2\n30 1 0 wait-begin kind=taskwait\n"
					      "31 2 1 task-begin task=1\n32 1 0 task-begin task=2\n"
					      "40 1 0 task-end task=2\n50 2 1 task-end task=1\n"
					      "60 1 0 wait-end kind=taskwait\n65 1 0 thread-end\n");
	if (!g)
		return;
	check_totals(g, "tasks", 30 + 19 + 8, 10 + 19 + 5);
	CHECK_WHOLE(g, "tasks", expected);
	grain_graph__free(g);
}

/* The wait follows at once: the path goes to it by way of the child alone. */
static void test_last_child(void)
{
	static const char *const expected[] = {
		"!0 1 10 10 10",
		"!0+0/j0 1 2 2 2",
		"!0.0 1 5 5 5",
		"!0/j0 1 1 1 1",
		"!continuation 0 > 0+0/j0",
		"!creation 0+0/j0 > 0.0",
		"continuation 0+0/j0 > 0/j0",
		"!synchronization 0.0 > 0/j0",
	};
	struct grain_graph *g = graph_of_text("last child", GRAPH_HEAD
					      "0 1 0 thread-begin\n"
					      "10 1 0 create-begin task=1 src=2 flags=deferred\n"
					      "12 1 0 create-end task=1\n12 1 0 wait-begin kind=taskwait\n"
					      "13 1 0 task-begin task=1\n18 1 0 task-end task=1\n"
					      "18 1 0 wait-end kind=taskwait\n18 1 0 thread-end\n");

	if (!g)
		return;
	CHECK_WHOLE(g, "last child", expected);
	grain_graph__free(g);
}

/*
 * Figure 3b, g and h: the book-keeping of each thread in one, the chunks side
 * by side. Where a loop's end and its barrier are at one time there is no
 * fragment between them.
 */
static void test_loop(void)
{
	static const char *const expected[] = {
		"!0 1 0 0 0",
		"!0.p0 1 0 0 0",
		"!0.p0.0 2 20 10 10",
		"0.p0.1 2 15 5 10",
		"!0.p0.0~0.p0/l0 3 6 1 3",
		"0.p0.1~0.p0/l0 3 13 1 8",
		"!0.p0/l0[0,3] 1 30 30 30",
		"!0.p0/l0[12,15] 1 10 10 10",
		"0.p0/l0[4,7] 1 20 20 20",
		"0.p0/l0[8,11] 1 15 15 15",
		"!0.p0/b0 2 6 2 4",
		"!0.p0/b1 2 5 0 5",
		"!continuation 0 > 0.p0",
		"!creation 0.p0 > 0.p0.0",
		"creation 0.p0 > 0.p0.1",
		"!continuation 0.p0.0 > 0.p0.0~0.p0/l0",
		"continuation 0.p0.1 > 0.p0.1~0.p0/l0",
		"!continuation 0.p0.0~0.p0/l0 > 0.p0/l0[0,3]",
		"!continuation 0.p0.0~0.p0/l0 > 0.p0/l0[12,15]",
		"continuation 0.p0.1~0.p0/l0 > 0.p0/l0[4,7]",
		"continuation 0.p0.1~0.p0/l0 > 0.p0/l0[8,11]",
		"!continuation 0.p0.0~0.p0/l0 > 0.p0/b0",
		"continuation 0.p0.1~0.p0/l0 > 0.p0/b0",
		"!synchronization 0.p0/l0[0,3] > 0.p0/b0",
		"!synchronization 0.p0/l0[12,15] > 0.p0/b0",
		"synchronization 0.p0/l0[4,7] > 0.p0/b0",
		"synchronization 0.p0/l0[8,11] > 0.p0/b0",
		"!continuation 0.p0/b0 > 0.p0/b1",
	};
	struct grain_graph *g = graph_of_text(
		"loop", GRAPH_HEAD
		"@source 4 file=a.c line=40 func=main kind=loop\n"
		"0 1 0 region-begin region=1 src=1 threads=2\n"
		"0 1 0 member-begin region=1 num=0\n0 2 1 member-begin region=1 num=1\n"
		"10 1 0 loop-begin loop=7 src=4 sched=dynamic\n10 2 1 loop-begin loop=7 src=4\n"
		"12 1 0 chunk-begin loop=7 lower=0 upper=3\n14 2 1 chunk-begin loop=7 lower=4 upper=7\n"
		"34 2 1 chunk-end loop=7\n35 2 1 chunk-begin loop=7 lower=8 upper=11\n"
		"42 1 0 chunk-end loop=7\n45 1 0 chunk-begin loop=7 lower=12 upper=15\n"
		"50 2 1 chunk-end loop=7\n55 1 0 chunk-end loop=7\n"
		"56 1 0 loop-end loop=7\n56 1 0 wait-begin kind=barrier-implicit\n"
		"58 2 1 loop-end loop=7\n58 2 1 wait-begin kind=barrier-implicit\n"
		"60 1 0 wait-end kind=barrier-implicit\n60 2 1 wait-end kind=barrier-implicit\n"
		"65 2 1 wait-begin kind=barrier-implicit\n70 1 0 wait-begin kind=barrier-implicit\n"
		"70 1 0 wait-end kind=barrier-implicit\n70 2 1 wait-end kind=barrier-implicit\n"
		"70 1 0 member-end region=1 num=0\n70 2 1 member-end region=1 num=1\n"
		"70 1 0 region-end region=1\n");

	if (!g)
		return;
	check_totals(g, "loop", 20 + 15 + 30 + 10 + 20 + 15, 10 + 40 + 10);
	CHECK_WHOLE(g, "loop", expected);
	grain_graph__free(g);
}

/* The critical path leaves the first task by the dependence, not to the join. */
static void test_dependence(void)
{
	static const char *const expected[] = {
		"!0 2 3 1 2",
		"!0+0/j0 2 2 1 1",
		"!0.0 1 10 10 10",
		"!0.1 1 15 15 15",
		"!0/j0 1 1 1 1",
		"!continuation 0 > 0+0/j0",
		"!creation 0+0/j0 > 0.0",
		"creation 0+0/j0 > 0.1",
		"continuation 0+0/j0 > 0/j0",
		"synchronization 0.0 > 0/j0",
		"!synchronization 0.1 > 0/j0",
		"!dependence 0.0 > 0.1",
	};
	struct grain_graph *g =
		graph_of_text("dependence", GRAPH_HEAD
			      "0 1 0 thread-begin\n2 1 0 create-begin task=1 src=2 flags=deferred\n"
			      "2 1 0 depend task=1 addr=1 kind=out\n3 1 0 create-end task=1\n"
			      "3 1 0 create-begin task=2 src=2 flags=deferred\n"
			      "3 1 0 depend task=2 addr=1 kind=in\n4 1 0 create-end task=2\n"
			      "4 1 0 wait-begin kind=taskwait\n4 1 0 task-begin task=1\n"
			      "14 1 0 task-end task=1\n15 1 0 task-begin task=2\n"
			      "30 1 0 task-end task=2\n30 1 0 wait-end kind=taskwait\n"
			      "31 1 0 thread-end\n");

	if (!g)
		return;
	CHECK_WHOLE(g, "dependence", expected);
	grain_graph__free(g);
}

/* ---- random programs -------------------------------------------------- */

static struct program program;
static int wrong_items, wrong_sums, wrong_ends, cycles, wrong_critical, fewer;

static void check_nodes(const struct grain_graph *g, const struct grain_reduced *reduced)
{
	uint64_t work = 0;
	uint32_t all = 0, placed = 0, chunk_items = 0;

	for (uint32_t i = 0; i < grain_reduced__node_count(reduced); i++) {
		struct grain_reduced_node n;
		uint64_t sum = 0, least = UINT64_MAX, most = 0;

		grain_reduced__node(reduced, i, &n);
		for (uint32_t k = 0; k < n.members; k++) {
			static const enum grain_item_kind kinds[] = {GRAIN_FRAGMENT, GRAIN_FORK, GRAIN_REGION,
								     GRAIN_JOIN, GRAIN_BOOKKEEPING};
			struct grain_item item;

			grain_graph__item(g, grain_reduced__item(reduced, i, k), &item);
			wrong_items += item.kind != kinds[n.kind];
			wrong_items += k && grain_reduced__item(reduced, i, k) <=
						    grain_reduced__item(reduced, i, k - 1);
			sum += item.own_ns;
			least = item.own_ns < least ? item.own_ns : least;
			most = item.own_ns > most ? item.own_ns : most;
		}
		placed += n.members;
		wrong_sums += sum != n.sum_ns || most != n.max_ns || (n.members && least != n.min_ns);
		if (n.kind == GRAIN_REDUCED_CONTEXT)
			work += n.sum_ns;
		wrong_items += n.kind == GRAIN_REDUCED_CONTEXT && n.context != i;
	}
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		all += c.item_count;
		chunk_items += c.kind == GRAIN_CHUNK;
	}
	wrong_items += placed + chunk_items != all;
	wrong_sums += work != grain_graph__totals(g)->work_ns;
	fewer += grain_reduced__node_count(reduced) < all;
}

/* Takes away what nothing leads to until nothing is left. */
static void check_cycles(const struct grain_reduced *reduced)
{
	size_t nodes = grain_reduced__node_count(reduced), edges = grain_reduced__edge_count(reduced),
	       left = nodes;
	uint32_t *into = calloc(nodes + 1, sizeof *into);
	bool *gone = calloc(nodes + 1, sizeof *gone), any = true;
	struct grain_reduced_edge e;

	for (size_t i = 0; i < edges; i++) {
		grain_reduced__edge(reduced, i, &e);
		wrong_ends += e.from >= nodes || e.to >= nodes || e.from == e.to;
		into[e.to]++;
	}
	while (any) {
		any = false;
		for (uint32_t n = 0; n < nodes; n++) {
			if (gone[n] || into[n])
				continue;
			gone[n] = any = true;
			left--;
			for (size_t i = 0; i < edges; i++) {
				grain_reduced__edge(reduced, i, &e);
				into[e.to] -= e.from == n;
			}
		}
	}
	cycles += left > 0;
	free(into);
	free(gone);
}

/* A context that the critical path runs through is entered by it, unless it is the first. */
static void check_critical(const struct grain_graph *g, const struct grain_reduced *reduced)
{
	uint32_t *entered = calloc(grain_reduced__node_count(reduced) + 1, sizeof *entered), not_entered = 0;
	struct grain_reduced_edge e;

	for (size_t i = 0; i < grain_reduced__edge_count(reduced); i++) {
		grain_reduced__edge(reduced, i, &e);
		entered[e.to] += e.critical;
	}
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;
		struct grain_item first;

		grain_graph__context(g, i, &c);
		if (!c.item_count)
			continue;
		grain_graph__item(g, c.first_item, &first);
		not_entered += first.critical && !entered[i];
		wrong_critical += entered[i] > 1 || (entered[i] && !first.critical);
	}
	wrong_critical += not_entered != 1;
	free(entered);
}

static void check_random(uint32_t seed, int threads)
{
	struct grain_graph *g = graph_of_program(&program, seed, threads);
	struct grain_reduced *reduced = NULL;

	if (g && grain_reduced__new(g, &reduced) == 0) {
		check_nodes(g, reduced);
		check_cycles(reduced);
		check_critical(g, reduced);
	} else {
		CHECK(0, "random: program %u is reduced", seed);
	}
	grain_reduced__free(reduced);
	grain_graph__free(g);
}

int main(void)
{
	test_tasks();
	test_last_child();
	test_loop();
	test_dependence();
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		for (int threads = 1; threads <= MAX_THREADS; threads++)
			check_random(seed, threads);
	CHECK(fewer > PROGRAMS && wrong_items == 0, "random: every item in one node of its kind");
	CHECK(wrong_sums == 0, "random: sums and extremes, all fragments are the work");
	CHECK(wrong_ends == 0 && cycles == 0, "random: no cycles");
	CHECK(wrong_critical == 0, "random: the critical path enters each of its contexts once");
	grain_reduced__free(NULL);
	CHECK_DONE();
}
