/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edges of the critical path: by hand, and on random programs as what they
 * must be, one unbroken path whose fragments sum to the span.
 */
#include "tests/unit/graph_text.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

/* "1101": the continuations of a context, then whether its creation and its synchronization are critical. */
static void check_edges(const struct grain_graph *g, const char *id, const char *onward, bool created,
			bool joined)
{
	uint32_t index = context_named(g, id);
	struct grain_context c = context_at(g, id);
	char got[64] = "";

	for (uint32_t i = 0; i + 1 < c.item_count && i < sizeof got - 1; i++)
		got[i] = grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, c.first_item + i) ? '1' : '0';
	CHECK_STR(got, onward, "%s: its continuations", id);
	CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, index) == created, "%s: its creation", id);
	CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, index) == joined,
	      "%s: its synchronization", id);
}

/* fragment [0,10), fork, fragment [12,20), join, fragment [60,65); the task runs [15,end). */
static void test_task(int end, const char *onward, bool through, uint64_t span)
{
	struct grain_graph *g;
	char text[1024];

	snprintf(text, sizeof text,
		 GRAPH_HEAD
		 "0 1 0 group-begin\n10 1 0 create-begin task=1 src=2 flags=deferred\n"
		 "12 1 0 create-end task=1\n15 2 1 task-begin task=1\n%d 2 1 task-end task=1\n"
		 "20 1 0 wait-begin kind=taskgroup\n60 1 0 wait-end kind=taskgroup\n65 1 0 thread-end\n",
		 end);
	g = graph_of_text("one task", text);
	if (!g)
		return;
	CHECK(grain_graph__totals(g)->span_ns == span, "one task: the span is %llu",
	      (unsigned long long)span);
	check_edges(g, "0", onward, false, false);
	check_edges(g, "0.0", "", through, through);
	grain_graph__free(g);
}

/*
 * Two members and a barrier: 0 is longer before it (40 and 30), 1 behind it
 * (10 and 25). The path enters member 0, changes at the barrier.
 */
static void test_barrier(void)
{
	struct grain_graph *g = graph_of_text(
		"barrier", GRAPH_HEAD
		"0 1 0 region-begin region=1 src=1 threads=2\n0 1 0 member-begin region=1 num=0\n"
		"0 2 1 member-begin region=1 num=1\n30 2 1 wait-begin kind=barrier\n"
		"40 1 0 wait-begin kind=barrier\n40 1 0 wait-end kind=barrier\n"
		"40 2 1 wait-end kind=barrier\n50 1 0 wait-begin kind=barrier-implicit\n"
		"65 2 1 wait-begin kind=barrier-implicit\n65 1 0 wait-end kind=barrier-implicit\n"
		"65 2 1 wait-end kind=barrier-implicit\n65 1 0 member-end region=1 num=0\n"
		"65 2 1 member-end region=1 num=1\n70 1 0 region-end region=1\n75 1 0 thread-end\n");
	uint32_t members[2];

	if (!g)
		return;
	CHECK(grain_graph__totals(g)->span_ns == 70, "barrier: the span is 40 + 25 + 5");
	/* fragment of no time, region, fragment */
	check_edges(g, "0", "11", false, false);
	/* Behind the last barrier all paths are equally long: the region is left through one of the two. */
	for (int i = 0; i < 2; i++)
		members[i] = context_named(g, i ? "0.p0.1" : "0.p0.0");
	CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, members[0]) &&
		      !grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, members[1]),
	      "barrier: the path enters member 0");
	CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, members[0]) !=
		      grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, members[1]),
	      "barrier: the region is left through one");
	for (int i = 0; i < 2; i++) {
		struct grain_context c;

		grain_graph__context(g, members[i], &c);
		CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, c.first_item) == !i,
		      "barrier: member %d to the barrier", i);
		CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, c.first_item + 1) == i,
		      "barrier: the barrier to member %d", i);
		CHECK(grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, c.first_item + 2) == i,
		      "barrier: member %d to the region's end", i);
	}
	grain_graph__free(g);
}

/* fragment, book-keeping, chunk, book-keeping, chunk, book-keeping, fragment: all in a row. */
static void test_chunks(void)
{
	struct grain_graph *g =
		graph_of_text("chunks", GRAPH_HEAD
			      "0 1 0 group-begin\n3 1 0 loop-begin loop=1 src=1\n"
			      "4 1 0 chunk-begin loop=1 lower=0 upper=0\n9 1 0 chunk-end loop=1\n"
			      "10 1 0 chunk-begin loop=1 lower=1 upper=1\n20 1 0 chunk-end loop=1\n"
			      "21 1 0 loop-end loop=1\n25 1 0 wait-begin kind=taskgroup\n"
			      "25 1 0 wait-end kind=taskgroup\n30 1 0 thread-end\n");

	if (!g)
		return;
	CHECK(grain_graph__totals(g)->span_ns == 3 + 5 + 10 + 4 + 5, "chunks: the span");
	check_edges(g, "0", "11111111", false, false);
	check_edges(g, "0/l0[0,0]", "", true, true);
	check_edges(g, "0/l0[1,1]", "", true, true);
	grain_graph__free(g);
}

/* ---- the path from its start to its end ------------------------------------ */

static struct program program;
static int walked, broken, strays;

static uint32_t behind_end(const struct grain_graph *g, uint32_t context);

/*
 * The item at which the path goes on behind a join, GRAIN_NONE: it ends there; two ways are an error. A
 * member's last item may be the join at its region's end.
 */
static uint32_t behind_join(const struct grain_graph *g, uint32_t join)
{
	uint32_t found = GRAIN_NONE;

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		for (uint32_t k = c.first_item; k < c.first_item + c.item_count; k++) {
			struct grain_item item;

			grain_graph__item(g, k, &item);
			if (item.kind != GRAIN_JOIN || item.ref != join)
				continue;
			if (k == c.first_item + c.item_count - 1 &&
			    grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, i)) {
				broken += found != GRAIN_NONE;
				found = behind_end(g, i);
			}
			if (!grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, k))
				continue;
			broken += found != GRAIN_NONE;
			walked++;
			found = k + 1;
		}
	}
	return found;
}

static uint32_t context_of(const struct grain_graph *g, uint32_t item)
{
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		if (item >= c.first_item && item < c.first_item + c.item_count)
			return i;
	}
	return GRAIN_NONE;
}

static uint32_t item_with(const struct grain_graph *g, uint32_t context, enum grain_item_kind kind,
			  uint32_t ref)
{
	struct grain_context c;
	struct grain_item item;

	grain_graph__context(g, context, &c);
	for (uint32_t k = c.first_item; k < c.first_item + c.item_count; k++) {
		grain_graph__item(g, k, &item);
		if (item.kind == kind && item.ref == ref)
			return k;
	}
	return GRAIN_NONE;
}

/* Where the path goes from the end of a context. */
static uint32_t behind_end(const struct grain_graph *g, uint32_t context)
{
	struct grain_context c;
	struct grain_dependence d;
	uint32_t next = GRAIN_NONE, k;

	grain_graph__context(g, context, &c);
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		struct grain_context to;

		grain_graph__dependence(g, i, &d);
		if (d.from != context || !d.critical)
			continue;
		walked++;
		broken += next != GRAIN_NONE;
		if (d.to == GRAIN_NONE) {
			next = behind_join(g, d.join);
		} else {
			grain_graph__context(g, d.to, &to);
			next = to.first_item;
		}
	}
	if (!grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, context))
		return next;
	walked++;
	broken += next != GRAIN_NONE;
	if (c.kind != GRAIN_CHUNK && c.kind != GRAIN_IMPLICIT)
		return behind_join(g, c.join);
	if (c.kind == GRAIN_CHUNK) {
		k = item_with(g, c.parent, GRAIN_CHUNK_ITEM, context);
	} else {
		struct grain_region r;

		grain_graph__region(g, c.region, &r);
		k = item_with(g, r.parent, GRAIN_REGION, c.region);
	}
	if (!grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, k))
		return GRAIN_NONE;
	walked++;
	return k + 1;
}

/* The first item of what the item creates and the path enters. */
static uint32_t entered(const struct grain_graph *g, const struct grain_item *item)
{
	struct grain_context c;
	struct grain_region r = {.threads = 1};
	uint32_t child = item->ref;

	if (item->kind != GRAIN_FORK && item->kind != GRAIN_CHUNK_ITEM && item->kind != GRAIN_REGION)
		return GRAIN_NONE;
	if (item->kind == GRAIN_REGION)
		grain_graph__region(g, item->ref, &r);
	for (uint32_t i = 0; i < r.threads; i++) {
		if (item->kind == GRAIN_REGION)
			child = grain_graph__member(g, r.first_member + i);
		if (!grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, child))
			continue;
		walked++;
		grain_graph__context(g, child, &c);
		return c.first_item;
	}
	return GRAIN_NONE;
}

static int flagged(const struct grain_graph *g)
{
	struct grain_dependence d;
	int n = 0;

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		n += grain_graph__edge_critical(g, GRAIN_EDGE_CREATION, i);
		n += grain_graph__edge_critical(g, GRAIN_EDGE_SYNCHRONIZATION, i);
		for (uint32_t k = c.first_item; k < c.first_item + c.item_count; k++)
			n += grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, k);
	}
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		grain_graph__dependence(g, i, &d);
		n += d.critical;
	}
	return n;
}

/* Walks the path from the initial task's first item and counts its edges; its fragments' sum. */
static uint64_t walk(const struct grain_graph *g)
{
	struct grain_context c;
	uint64_t length = 0;
	uint32_t at;
	int steps = 0;

	walked = 0;
	grain_graph__context(g, 0, &c);
	for (at = c.first_item; at != GRAIN_NONE && steps < 1000000; steps++) {
		struct grain_item item;
		uint32_t context = context_of(g, at), next;

		grain_graph__item(g, at, &item);
		grain_graph__context(g, context, &c);
		if (item.kind == GRAIN_FRAGMENT)
			length += item.own_ns;
		next = entered(g, &item);
		if (next == GRAIN_NONE && item.kind == GRAIN_JOIN) {
			next = behind_join(g, item.ref);
		} else if (next == GRAIN_NONE && grain_graph__edge_critical(g, GRAIN_EDGE_CONTINUATION, at)) {
			next = at + 1;
			walked++;
		} else if (next == GRAIN_NONE && at == c.first_item + c.item_count - 1) {
			next = behind_end(g, context);
		}
		at = next;
	}
	broken += steps == 1000000;
	return length;
}

static void test_random(void)
{
	int wrong = 0;
	uint64_t edges = 0;

	for (uint32_t seed = 1; seed <= 40; seed++) {
		char *log = NULL;
		size_t size;
		FILE *f = open_memstream(&log, &size);
		struct grain_graph *g;

		if (!f)
			return;
		program_generate(&program, seed);
		program_run(&program, 1 + (int)(seed % MAX_THREADS), seed * 13, f);
		fclose(f);
		g = graph_of_text("random", log);
		free(log);
		if (!g)
			continue;
		wrong += walk(g) != grain_graph__totals(g)->span_ns;
		edges += (uint64_t)walked;
		strays += abs(flagged(g) - walked);
		grain_graph__free(g);
	}
	CHECK(edges > 1000 && wrong == 0, "random: %llu edges, their fragments sum to the span",
	      (unsigned long long)edges);
	CHECK(broken == 0, "random: never two ways to go on");
	CHECK(strays == 0, "random: no edge is critical that the path does not take");
}

int main(void)
{
	/* 10 + 40 + 5 through the task, 10 + 8 + 5 beside it. */
	test_task(55, "1001", true, 55);
	test_task(20, "1111", false, 23);
	test_barrier();
	test_chunks();
	test_random();
	CHECK_DONE();
}
