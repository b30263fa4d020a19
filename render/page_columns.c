/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/page_columns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more contexts than this, times are rounded. */
#define EXACT_CONTEXTS 200000
/* ... so that a usual grain is still at least so many ticks long. */
#define USUAL_TICKS 128

struct fragment {
	uint64_t start, end; /* ticks */
	uint32_t context;
	uint16_t cpu;
	bool critical;
};

struct filler {
	struct page_columns *out;
	const struct grain_graph *graph;
	struct fragment *fragments;
	size_t *first; /* of each thread's, and the end of the last */
	/* Per join: what its latest context had. */
	uint64_t *share, *balance;
	char *id, *parent_id;
	size_t id_room;
};

struct page_column *page_columns__add(struct page_columns *columns, const char *name)
{
	struct page_column *c = &columns->column[columns->count];

	if (columns->count == PAGE_COLUMNS_MAX)
		abort();
	columns->count++;
	*c = (struct page_column){.name = name, .capacity = 4096, .data = malloc(4096)};
	return c;
}

static bool has_room(struct page_column *c, size_t more)
{
	uint8_t *data;
	size_t capacity = c->capacity;

	if (!c->data || c->bytes + more <= capacity)
		return c->data != NULL;
	while (capacity < c->bytes + more)
		capacity *= 2;
	data = realloc(c->data, capacity);
	if (!data)
		free(c->data);
	c->data = data;
	c->capacity = capacity;
	return data != NULL;
}

void page_column__number(struct page_column *c, uint64_t value)
{
	if (!has_room(c, 10))
		return;
	for (; value >= 0x80; value >>= 7)
		c->data[c->bytes++] = (uint8_t)(value | 0x80);
	c->data[c->bytes++] = (uint8_t)value;
}

void page_column__signed(struct page_column *c, int64_t value)
{
	page_column__number(c, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void page_column__text(struct page_column *c, const char *text, size_t bytes)
{
	if (!has_room(c, bytes))
		return;
	memcpy(c->data + c->bytes, text, bytes);
	c->bytes += bytes;
}

void page_columns__free(struct page_columns *columns)
{
	if (!columns)
		return;
	for (size_t i = 0; i < columns->count; i++)
		free(columns->column[i].data);
	free(columns->tids);
	columns->count = 0;
	columns->tids = NULL;
}

/*
 * Three significant digits in one number: 0 absent, 1 zero, else
 * 2 + 900 (e + 6) + m - 100 for m 10^(e - 2), 100 <= m < 1000, -6 <= e.
 */
static uint64_t three_digits(double value)
{
	int e;
	double m;

	if (isnan(value))
		return 0;
	if (value < 1e-6)
		return 1;
	if (value > 1e15)
		value = 1e15;
	e = (int)floor(log10(value));
	m = round(value * pow(10, 2 - e));
	if (m >= 1000) {
		m = 100;
		e++;
	}
	return 2 + 900 * (uint64_t)(e + 6) + (uint64_t)m - 100;
}

static uint64_t ticks(const struct filler *f, uint64_t ns)
{
	const struct page_columns *c = f->out;

	return ns < c->start_ns ? 0 : (ns - c->start_ns + c->tick_ns / 2) / c->tick_ns;
}

/* ---- fragments ---------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct fragment *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->context < y->context ? -1 : x->context > y->context;
}

static int find_thread(struct page_columns *c, uint32_t tid, uint32_t *last)
{
	uint32_t *tids;

	if (*last < c->thread_count && c->tids[*last] == tid)
		return 0;
	for (*last = 0; *last < c->thread_count; ++*last)
		if (c->tids[*last] == tid)
			return 0;
	tids = realloc(c->tids, (c->thread_count + 1) * sizeof *tids);
	if (!tids)
		return -ENOMEM;
	c->tids = tids;
	c->tids[c->thread_count++] = tid;
	return 0;
}

/* Calls of one pass over all fragments: the first counts, the second places. */
static int each_fragment(struct filler *f, size_t *counts, bool place)
{
	uint32_t thread = 0;

	for (uint32_t i = 0; i < f->out->contexts; i++) {
		struct grain_context c;

		grain_graph__context(f->graph, i, &c);
		for (uint32_t k = 0; k < c.item_count; k++) {
			struct grain_item item;
			int error;

			grain_graph__item(f->graph, c.first_item + k, &item);
			if (item.kind != GRAIN_FRAGMENT || item.end_ns == item.start_ns)
				continue;
			error = find_thread(f->out, item.tid, &thread);
			if (error)
				return error;
			if (!place) {
				f->out->fragments++;
				continue;
			}
			f->fragments[counts[thread]++] = (struct fragment){.start = ticks(f, item.start_ns),
									   .end = ticks(f, item.end_ns),
									   .context = i,
									   .cpu = item.cpu,
									   .critical = item.critical};
		}
	}
	return 0;
}

static int count_by_thread(struct filler *f)
{
	uint32_t thread = 0;
	size_t sum = 0;

	f->first = calloc(f->out->thread_count + 1, sizeof *f->first);
	if (!f->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->out->contexts; i++) {
		struct grain_context c;

		grain_graph__context(f->graph, i, &c);
		for (uint32_t k = 0; k < c.item_count; k++) {
			struct grain_item item;

			grain_graph__item(f->graph, c.first_item + k, &item);
			if (item.kind == GRAIN_FRAGMENT && item.end_ns != item.start_ns &&
			    !find_thread(f->out, item.tid, &thread))
				f->first[thread]++;
		}
	}
	for (size_t t = 0; t <= f->out->thread_count; t++) {
		size_t n = f->first[t];

		f->first[t] = sum;
		sum += n;
	}
	return 0;
}

static int gather_fragments(struct filler *f)
{
	size_t *at = NULL, n;
	int error = each_fragment(f, NULL, false);

	if (!error)
		error = count_by_thread(f);
	n = f->out->thread_count;
	if (!error) {
		f->fragments = malloc((f->out->fragments + 1) * sizeof *f->fragments);
		at = malloc((n + 1) * sizeof *at);
		error = f->fragments && at ? 0 : -ENOMEM;
	}
	if (!error) {
		memcpy(at, f->first, (n + 1) * sizeof *at);
		error = each_fragment(f, at, true);
	}
	for (size_t t = 0; t < n && !error; t++)
		qsort(f->fragments + f->first[t], f->first[t + 1] - f->first[t], sizeof *f->fragments,
		      by_start);
	free(at);
	return error;
}

static void fill_fragments(struct filler *f)
{
	struct page_columns *out = f->out;
	struct page_column *counts = page_columns__add(out, "thread_fragments"),
			   *gap = page_columns__add(out, "fragment_gap"),
			   *length = page_columns__add(out, "fragment_length"),
			   *context = page_columns__add(out, "fragment_context"),
			   *cpu = page_columns__add(out, "fragment_cpu");

	for (size_t t = 0; t < out->thread_count; t++) {
		uint64_t end = 0;
		int64_t last = 0, last_cpu = 0;

		page_column__number(counts, f->first[t + 1] - f->first[t]);
		for (size_t i = f->first[t]; i < f->first[t + 1]; i++) {
			const struct fragment *x = &f->fragments[i];

			page_column__signed(gap, (int64_t)(x->start - end));
			page_column__number(length, (x->end - x->start) << 1 | x->critical);
			page_column__signed(context, (int64_t)x->context - last);
			page_column__signed(cpu, (int64_t)x->cpu - last_cpu);
			end = x->end;
			last = x->context;
			last_cpu = x->cpu;
		}
	}
}

/* ---- contexts ----------------------------------------------------------- */

static int grow_ids(struct filler *f, size_t need)
{
	char *id, *parent;

	if (need <= f->id_room)
		return 0;
	id = realloc(f->id, need * 2);
	f->id = id ? id : f->id;
	parent = realloc(f->parent_id, need * 2);
	f->parent_id = parent ? parent : f->parent_id;
	if (!id || !parent)
		return -ENOMEM;
	f->id_room = need * 2;
	return 0;
}

static int take_id(struct filler *f, uint32_t context, bool parent, size_t *length)
{
	int error = 0;

	*length = grain_graph__context_id(f->graph, context, parent ? f->parent_id : f->id, f->id_room);
	if (*length >= f->id_room) {
		error = grow_ids(f, *length + 1);
		if (!error)
			grain_graph__context_id(f->graph, context, parent ? f->parent_id : f->id, f->id_room);
	}
	return error;
}

/*
 * An identifier as it differs from its parent's: characters that go from the
 * parent's end, then either ".N" (2 N + 1 would be its number) or a text of so
 * many bytes, which is in the column of texts.
 */
static int fill_name(struct filler *f, uint32_t context, uint32_t parent, struct page_column *names,
		     struct page_column *texts)
{
	size_t length, parent_length = 0, same = 0, digits;
	uint64_t ordinal = 0;
	int error = take_id(f, context, false, &length);

	if (!error && parent != GRAIN_NONE)
		error = take_id(f, parent, true, &parent_length);
	if (error)
		return error;
	while (same < length && same < parent_length && f->id[same] == f->parent_id[same])
		same++;
	digits = same + 1;
	while (digits < length && f->id[digits] >= '0' && f->id[digits] <= '9' && ordinal < 1u << 30)
		ordinal = 10 * ordinal + (uint64_t)(f->id[digits++] - '0');
	if (same == parent_length && same && f->id[same] == '.' && digits == length) {
		page_column__number(names, 2 * ordinal + 1);
		return 0;
	}
	page_column__number(names, 2 * (length - same));
	page_column__number(names, parent_length - same);
	page_column__text(texts, f->id + same, length - same);
	return 0;
}

enum {
	FLAG_UNDEFERRED = 4,
	FLAG_CRITICAL = 8,
	FLAG_INCOMPLETE = 16,
	FLAG_DISCARDED = 32,
	FLAG_RUNTIME = 64,
};

static unsigned flags_of(const struct grain_context *c)
{
	return (unsigned)c->kind | (c->undeferred ? FLAG_UNDEFERRED : 0) | (c->critical ? FLAG_CRITICAL : 0) |
	       (c->incomplete ? FLAG_INCOMPLETE : 0) | (c->discarded ? FLAG_DISCARDED : 0) |
	       (c->runtime ? FLAG_RUNTIME : 0);
}

/* What its waiting costs besides its creation, in ticks; 0: its benefit is absent. */
static uint64_t share_of(const struct filler *f, const struct grain_context *c)
{
	double share;

	if (isnan(c->parallel_benefit))
		return 0;
	share = c->parallel_benefit > 0 ? (double)c->exec_ns / c->parallel_benefit - (double)c->create_ns : 0;
	return 1 + (uint64_t)fmax(0, round(share / (double)f->out->tick_ns));
}

/* 0: as the context before it at the same join; else the value + 1. */
static void fill_shared(struct page_column *column, uint64_t *of_join, uint32_t join, uint64_t value)
{
	bool same = join != GRAIN_NONE && of_join[join] == value + 1;

	page_column__number(column, same ? 0 : value + 1);
	if (join != GRAIN_NONE)
		of_join[join] = value + 1;
}

struct context_columns {
	struct page_column *flags, *parent, *definition, *region, *join, *name, *text, *loop, *create, *wait,
		*share, *balance, *parallelism, *problems, *metric[GRAIN_PROBLEM_COUNT];
};

static double metric_of(const struct grain_context *c, enum grain_problem problem)
{
	switch (problem) {
	case GRAIN_PROBLEM_WORK_DEVIATION:
		return c->work_deviation;
	case GRAIN_PROBLEM_SCATTER:
		return c->scatter;
	case GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION:
		return c->memory_hierarchy_utilization;
	case GRAIN_PROBLEM_CACHE_MISS_RATIO:
		return c->cache_miss_ratio;
	default:
		return NAN;
	}
}

static void add_context_columns(struct filler *f, struct context_columns *c)
{
	struct page_columns *out = f->out;

	*c = (struct context_columns){
		.flags = page_columns__add(out, "flags"),
		.parent = page_columns__add(out, "parent"),
		.definition = page_columns__add(out, "definition"),
		.region = page_columns__add(out, "member_region"),
		.join = page_columns__add(out, "join"),
		.name = page_columns__add(out, "name"),
		.text = page_columns__add(out, "name_text"),
		.loop = page_columns__add(out, "chunk_loop"),
		.create = page_columns__add(out, "create"),
		.wait = page_columns__add(out, "wait"),
		.share = page_columns__add(out, "share"),
		.balance = page_columns__add(out, "load_balance"),
		.parallelism = page_columns__add(out, "instantaneous_parallelism"),
		.problems = page_columns__add(out, "problems"),
	};
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary summary;

		grain_graph__problem(f->graph, (enum grain_problem)p, &summary);
		if (summary.available &&
		    (p == GRAIN_PROBLEM_WORK_DEVIATION || p == GRAIN_PROBLEM_SCATTER ||
		     p == GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION || p == GRAIN_PROBLEM_CACHE_MISS_RATIO))
			c->metric[p] = page_columns__add(out, summary.name);
	}
}

static int fill_contexts(struct filler *f)
{
	struct context_columns to;
	int64_t last_join = 0, last_loop = 0;

	add_context_columns(f, &to);
	for (uint32_t i = 0; i < f->out->contexts; i++) {
		struct grain_context c;
		struct grain_iterations iterations;
		int64_t join;
		int error;

		grain_graph__context(f->graph, i, &c);
		page_column__number(to.flags, flags_of(&c));
		page_column__number(to.parent, c.parent == GRAIN_NONE ? 0 : i - c.parent);
		page_column__number(to.definition, (uint32_t)(c.definition + 1));
		if (c.kind == GRAIN_IMPLICIT)
			page_column__number(to.region, (uint32_t)(c.region + 1));
		join = c.join == GRAIN_NONE ? -1 : (int64_t)c.join;
		page_column__signed(to.join, join - last_join);
		last_join = join;
		error = fill_name(f, i, c.parent, to.name, to.text);
		if (error)
			return error;
		if (c.kind == GRAIN_CHUNK) {
			int64_t loop = grain_graph__iterations(f->graph, i, &iterations)
					       ? (int64_t)iterations.loop
					       : -1;

			page_column__signed(to.loop, loop - last_loop);
			last_loop = loop;
		}
		page_column__number(to.create, (c.create_ns + f->out->tick_ns / 2) / f->out->tick_ns);
		page_column__number(to.wait, (c.wait_ns + f->out->tick_ns / 2) / f->out->tick_ns);
		fill_shared(to.share, f->share, c.join, share_of(f, &c));
		fill_shared(to.balance, f->balance, c.join, three_digits(c.load_balance));
		page_column__number(to.parallelism, three_digits(c.instantaneous_parallelism));
		page_column__number(to.problems, c.problems);
		for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++)
			if (to.metric[p])
				page_column__number(to.metric[p],
						    three_digits(metric_of(&c, (enum grain_problem)p)));
	}
	return 0;
}

/* ---- joins, regions, loops, dependences ---------------------------------- */

static void fill_span(const struct filler *f, struct page_column *c, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t start = ticks(f, start_ns), end = ticks(f, end_ns);

	page_column__number(c, start);
	page_column__number(c, end > start ? end - start : 0);
}

static void fill_joins(struct filler *f)
{
	struct page_column *c = page_columns__add(f->out, "joins");
	int64_t last = 0;

	for (uint32_t i = 0; i < f->out->joins; i++) {
		struct grain_join j;
		int64_t waiter;

		grain_graph__join(f->graph, i, &j);
		waiter = j.waiter == GRAIN_NONE ? -1 : (int64_t)j.waiter;
		page_column__number(c, (uint64_t)j.kind << 1 | j.critical);
		page_column__signed(c, waiter - last);
		page_column__number(c, (uint32_t)(j.region + 1));
		page_column__number(c, (uint32_t)(j.definition + 1));
		fill_span(f, c, j.start_ns, j.end_ns);
		last = waiter;
	}
}

static void fill_regions(struct filler *f)
{
	struct page_column *c = page_columns__add(f->out, "regions");

	for (uint32_t i = 0; i < f->out->regions; i++) {
		struct grain_region r;

		grain_graph__region(f->graph, i, &r);
		page_column__number(c, (uint32_t)(r.parent + 1));
		page_column__number(c, (uint32_t)(r.definition + 1));
		page_column__number(c, r.threads);
		fill_span(f, c, r.start_ns, r.end_ns);
	}
}

static void fill_loops(struct filler *f)
{
	struct page_column *c = page_columns__add(f->out, "loops");
	size_t n = grain_graph__loop_count(f->graph);

	for (uint32_t i = 0; i < n; i++) {
		struct grain_loop l;

		grain_graph__loop(f->graph, i, &l);
		page_column__number(c, (uint32_t)(l.context + 1));
		page_column__number(c, (uint32_t)(l.region + 1));
		page_column__number(c, (uint32_t)(l.definition + 1));
		page_column__number(c, (uint32_t)(l.join + 1));
		page_column__number(c, l.sections);
		fill_span(f, c, l.start_ns, l.end_ns);
	}
}

static void fill_dependences(struct filler *f)
{
	struct page_column *c = page_columns__add(f->out, "dependences");
	int64_t last_from = 0, last_to = 0;

	for (size_t i = 0; i < f->out->dependences; i++) {
		struct grain_dependence d;
		int64_t to;

		grain_graph__dependence(f->graph, i, &d);
		to = d.to != GRAIN_NONE ? d.to : d.join;
		page_column__number(c, (uint64_t)(d.to == GRAIN_NONE) << 1 | d.critical);
		page_column__signed(c, (int64_t)d.from - last_from);
		page_column__signed(c, to - last_to);
		last_from = d.from;
		last_to = to;
	}
}

/* ---- all of it ----------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A sample of execution times tells what is usual. */
static void choose_tick(struct filler *f)
{
	uint64_t sample[1024], n = 0, step = f->out->contexts / 1024 + 1;

	f->out->tick_ns = 1;
	if (f->out->contexts <= EXACT_CONTEXTS)
		return;
	for (uint32_t i = 0; i < f->out->contexts && n < 1024; i += (uint32_t)step) {
		struct grain_context c;

		grain_graph__context(f->graph, i, &c);
		if (c.exec_ns)
			sample[n++] = c.exec_ns;
	}
	if (!n)
		return;
	qsort(sample, n, sizeof *sample, compare_u64);
	while (f->out->tick_ns * 2 * USUAL_TICKS <= sample[n / 2])
		f->out->tick_ns *= 2;
}

int page_columns__fill(struct page_columns *columns, const struct grain_graph *graph)
{
	struct filler f = {.out = columns, .graph = graph};
	int error;

	*columns = (struct page_columns){.start_ns = grain_graph__info(graph)->start_ns,
					 .contexts = grain_graph__context_count(graph),
					 .joins = grain_graph__join_count(graph),
					 .regions = grain_graph__region_count(graph),
					 .dependences = grain_graph__dependence_count(graph)};
	choose_tick(&f);
	f.share = calloc(columns->joins + 1, sizeof *f.share);
	f.balance = calloc(columns->joins + 1, sizeof *f.balance);
	error = f.share && f.balance ? grow_ids(&f, 256) : -ENOMEM;
	if (!error)
		error = gather_fragments(&f);
	if (!error) {
		fill_fragments(&f);
		error = fill_contexts(&f);
	}
	if (!error) {
		fill_joins(&f);
		fill_regions(&f);
		fill_loops(&f);
		fill_dependences(&f);
	}
	for (size_t i = 0; i < columns->count && !error; i++)
		if (!columns->column[i].data)
			error = -ENOMEM;
	free(f.share);
	free(f.balance);
	free(f.fragments);
	free(f.first);
	free(f.id);
	free(f.parent_id);
	return error;
}
