/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of contexts: kind, relations, times and metrics. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/page/page_fill.h"

/* The largest number that a browser represents exactly. A larger stride counts as unknown. */
#define LARGEST_STRIDE (INT64_C(1) << 53)

enum {
	FLAG_UNDEFERRED = 4,
	FLAG_CRITICAL = 8,
	FLAG_INCOMPLETE = 16,
	FLAG_DISCARDED = 32,
	FLAG_RUNTIME = 64,
	FLAG_DETACHED = 128,
	FLAG_BOUNDED = 256,
};

struct to {
	/* What the context is: */
	struct page_column *flags, *parent, *definition, *region, *join, *loop, *depth;
	/* Times: */
	struct page_column *begin, *finish, *exec, *create, *wait, *bookkeeping, *lock, *off;
	struct page_column *problems, *balance, *metric[GRAIN_PROBLEM_COUNT];
	struct page_column *lower, *length, *chunks, *stride;
	/* The last values of columns that store differences. */
	int64_t last_join, last_loop, last_bound, last_parent;
	uint64_t last_begin, last_finish;
	uint64_t *balance_of_join;
};

/*
 * Encodes three significant digits as one number. 0: absent. 1: zero. Else 2 + 900 (e + 6) + m - 100 for the
 * value m 10^(e - 2), with 100 <= m < 1000 and -6 <= e.
 */
static uint64_t three_digits(double value)
{
	static const double powers[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,	1e2,
					1e3,  1e4,  1e5,  1e6,	1e7,  1e8,  1e9,  1e10, 1e11,
					1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20};
	const int last = (int)(sizeof(powers) / sizeof(powers[0])) - 1;
	int e = 6, m;

	if (isnan(value))
		return 0;
	if (value < powers[0])
		return 1;
	value = value < 9.99e19 ? value : 9.99e19;
	while (e < last && value >= powers[e + 1])
		e++;
	while (value < powers[e])
		e--;
	/* Rounds as round(), without a call. */
	m = (int)(value / powers[e] * 100 + .5);
	if (m >= 1000) {
		m = 100;
		e++;
	}
	return 2 + 900 * (uint64_t)e + (uint64_t)m - 100;
}

static int64_t or_none(uint32_t index)
{
	return index == GRAIN_NONE ? -1 : (int64_t)index;
}

static void add_columns(struct page_fill *f, struct to *to)
{
	struct page_columns *out = f->out;
	struct page_column **const columns[] = {&to->flags,   &to->parent, &to->definition, &to->region,
						&to->join,    &to->loop,   &to->depth,	    &to->begin,
						&to->finish,  &to->exec,   &to->create,	    &to->wait,
						&to->lock,    &to->off,	   &to->problems,   &to->bookkeeping,
						&to->balance, &to->lower,  &to->length,	    &to->chunks,
						&to->stride};
	static const char *const names[] = {"flags",	    "parent",	    "definition",    "member_region",
					    "join",	    "chunk_loop",   "depth",	     "begin",
					    "finish",	    "exec",	    "create",	     "wait",
					    "lock",	    "off",	    "problems",	     "bookkeeping",
					    "load_balance", "bounds_lower", "bounds_length", "bounds_chunks",
					    "bounds_stride"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		*columns[i] = page_columns__add(out, names[i]);
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary summary;

		grain_graph__problem(f->graph, (enum grain_problem)p, &summary);
		out->metric[p] = summary.available && p != GRAIN_PROBLEM_LOAD_BALANCE;
		if (out->metric[p])
			to->metric[p] = page_columns__add(out, summary.name);
	}
	out->counters = grain_graph__counter_count(f->graph);
	if (out->counters > PAGE_COUNTERS_MAX)
		out->counters = PAGE_COUNTERS_MAX;
	for (size_t i = 0; i < out->counters; i++) {
		char name[32];

		snprintf(name, sizeof(name), "counter_%zu", i);
		out->counter[i] = page_columns__add(out, name);
	}
}

/* Whether a browser can represent the context's bounds exactly. *loop is the loop of a chunk. */
static bool bounds_of(const struct page_fill *f, uint32_t context, const struct grain_context *c,
		      struct grain_iterations *it, int64_t *loop)
{
	if (c->kind != GRAIN_CHUNK && c->kind != GRAIN_TASK)
		return false;
	if (!grain_graph__iterations(f->graph, context, it))
		return false;
	*loop = or_none(it->loop);
	return page_fill__bounded(it);
}

static void fill_bounds(struct to *to, const struct grain_iterations *it)
{
	page_column__signed(to->lower, it->lower - to->last_bound);
	page_column__signed(to->length, it->upper - it->lower);
	page_column__number(to->chunks, it->chunks - 1);
	if (it->chunks > 1)
		page_column__signed(to->stride, it->stride > -LARGEST_STRIDE && it->stride < LARGEST_STRIDE
							? it->stride
							: 0);
	to->last_bound = it->upper;
}

/*
 * Writes the parent. 0: none. For a chunk: 1 + the difference to the parent of the chunk before it. Else: 1 +
 * the difference to the context itself.
 */
static void fill_parent(struct to *to, uint32_t i, const struct grain_context *c)
{
	if (c->parent == GRAIN_NONE) {
		page_column__number(to->parent, 0);
	} else if (c->kind == GRAIN_CHUNK) {
		page_column__number(to->parent,
				    1 + page_column__zigzag((int64_t)c->parent - to->last_parent));
		to->last_parent = c->parent;
	} else {
		page_column__signed(to->parent, (int64_t)i - c->parent);
	}
}

static void fill_structure(struct page_fill *f, struct to *to, uint32_t i, const struct grain_context *c)
{
	struct grain_iterations it;
	int64_t loop = -1;
	bool bounded = bounds_of(f, i, c, &it, &loop);
	unsigned flags = (unsigned)c->kind | (c->undeferred ? FLAG_UNDEFERRED : 0) |
			 (c->critical ? FLAG_CRITICAL : 0) | (c->incomplete ? FLAG_INCOMPLETE : 0) |
			 (c->discarded ? FLAG_DISCARDED : 0) | (c->runtime ? FLAG_RUNTIME : 0) |
			 (c->detached ? FLAG_DETACHED : 0) | (bounded ? FLAG_BOUNDED : 0);

	page_column__number(to->flags, flags);
	fill_parent(to, i, c);
	page_column__number(to->definition, (uint32_t)(c->definition + 1));
	if (c->kind == GRAIN_IMPLICIT)
		page_column__number(to->region, (uint32_t)(c->region + 1));
	page_column__signed(to->join, or_none(c->join) - to->last_join);
	to->last_join = or_none(c->join);
	if (c->kind == GRAIN_CHUNK) {
		page_column__signed(to->loop, loop - to->last_loop);
		to->last_loop = loop;
	}
	if (bounded) {
		fill_bounds(to, &it);
		f->out->bounds = true;
	}
	page_column__signed(to->depth, (int64_t)c->depth - (c->parent < i ? f->depths[c->parent] : 0));
}

/*
 * Writes a begin or end. 0: the value that its fragments imply (`known`), or not known. Else 1 + the
 * difference to that value, or to the value of the last context.
 */
static void fill_end(struct page_column *column, bool known, uint64_t base, uint64_t *last, bool seen,
		     uint64_t value)
{
	if (!known && !seen) {
		page_column__number(column, 0);
		return;
	}
	if (!known)
		base = *last;
	if (!seen)
		value = base;
	page_column__number(column,
			    known && value == base ? 0 : 1 + page_column__zigzag((int64_t)(value - base)));
	*last = value;
}

static void fill_times(struct page_fill *f, struct to *to, const struct grain_context *c,
		       const struct page_body *b)
{
	bool known = b->first <= b->last;
	uint64_t start_ns = f->out->start_ns, exec = page_fill__ticks(f, c->exec_ns);

	fill_end(to->begin, known, b->first, &to->last_begin, c->start_ns >= start_ns,
		 page_fill__time(f, c->start_ns));
	fill_end(to->finish, known, b->last, &to->last_finish, c->end_ns >= start_ns,
		 page_fill__time(f, c->end_ns));
	page_column__signed(to->exec, (int64_t)(exec - b->exec));
	page_column__number(to->create, page_fill__ticks(f, c->create_ns));
	page_column__number(to->wait, page_fill__ticks(f, c->wait_ns));
	page_column__number(to->bookkeeping, page_fill__ticks(f, c->bookkeeping_ns));
	page_column__number(to->lock, page_fill__ticks(f, c->lock_ns));
	f->out->cpu_known |= c->cpu_known;
	page_column__number(to->off, c->cpu_known && c->exec_ns > c->cpu_ns
					     ? exec - page_fill__ticks(f, c->cpu_ns)
					     : 0);
}

static void fill_metrics(struct page_fill *f, struct to *to, uint32_t i, const struct grain_context *c)
{
	uint64_t balance = 1 + three_digits(c->load_balance);
	uint64_t *of_join = c->join == GRAIN_NONE ? NULL : &to->balance_of_join[c->join];

	/* 0 means: the same as the last context with this join. */
	page_column__number(to->balance, of_join && *of_join == balance ? 0 : balance);
	if (of_join)
		*of_join = balance;
	page_column__number(to->problems, c->problems);
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++)
		if (to->metric[p])
			page_column__number(to->metric[p],
					    three_digits(grain_context__metric(c, (enum grain_problem)p)));
	for (size_t k = 0; k < f->out->counters; k++) {
		uint64_t value;
		bool known = grain_graph__counter(f->graph, i, k, &value);

		if (f->out->counters_exact)
			page_column__number(f->out->counter[k], known ? value + 1 : 0);
		else
			page_column__number(f->out->counter[k], three_digits(known ? (double)value : NAN));
	}
}

int page_fill__contexts(struct page_fill *f)
{
	struct to to = {.last_begin = 0};
	int error = 0;

	to.balance_of_join = calloc(f->out->joins + 1, sizeof(*to.balance_of_join));
	if (!to.balance_of_join)
		return -ENOMEM;
	add_columns(f, &to);
	for (uint32_t i = 0; i < f->out->contexts && !error; i++) {
		struct grain_context c;
		struct page_body body;

		grain_graph__context(f->graph, i, &c);
		f->out->parents[i] = c.parent;
		f->depths[i] = c.depth;
		error = page_gather__add(f, i, &c, &body);
		if (!error)
			error = page_names__add(f, i, &c);
		fill_structure(f, &to, i, &c);
		fill_times(f, &to, &c, &body);
		fill_metrics(f, &to, i, &c);
	}
	free(to.balance_of_join);
	return error;
}
