/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallelism in the text summary: how much ran at which time, and on which threads. */
#include <math.h>
#include <stdlib.h>

#include "render/text/bars.h"
#include "render/text/summary.h"

#define LEAST_LINE 40
#define MOST_LINE 60
#define THREADS_SHOWN 16
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

typedef void (*fragment_fn)(void *ctx, const struct grain_item *item);

struct visitor {
	fragment_fn fragment; /* called for fragments of grains */
	fragment_fn grain;    /* called before a grain's first fragment; or NULL */
	fragment_fn member;   /* called for the first item of a team member; or NULL */
};

static void visit(const struct grain_graph *graph, const struct visitor *visitor, void *ctx)
{
	for (uint32_t i = 0; i < grain_graph__context_count(graph); i++) {
		struct grain_context c;
		bool first = true;

		grain_graph__context(graph, i, &c);
		if (c.kind == GRAIN_IMPLICIT && c.item_count && visitor->member) {
			struct grain_item item;

			grain_graph__item(graph, c.first_item, &item);
			visitor->member(ctx, &item);
		}
		if (c.kind != GRAIN_TASK && c.kind != GRAIN_CHUNK)
			continue;
		for (uint32_t k = c.first_item; k < c.first_item + c.item_count; k++) {
			struct grain_item item;

			grain_graph__item(graph, k, &item);
			if (item.kind != GRAIN_FRAGMENT)
				continue;
			if (first && visitor->grain)
				visitor->grain(ctx, &item);
			first = false;
			visitor->fragment(ctx, &item);
		}
	}
}

/* Execution time in equal parts of the observed time. */
struct line {
	uint64_t start_ns, length_ns;
	size_t count;
	double ns[MOST_LINE];
	double whole[MOST_LINE + 1]; /* differences of the time that fills whole parts */
};

static void add_to_line(void *ctx, const struct grain_item *item)
{
	struct line *line = ctx;
	uint64_t length = item->end_ns - item->start_ns;
	double part = (double)line->length_ns / (double)line->count, density;
	double from = (double)(item->start_ns - line->start_ns) / part,
	       to = (double)(item->end_ns - line->start_ns) / part;
	size_t first = (size_t)from, last = (size_t)to;

	if (!length || item->start_ns < line->start_ns || last < first)
		return;
	first = first < line->count ? first : line->count - 1;
	last = last < line->count ? last : line->count - 1;
	/*
	 * Bodies that ran inside have their own fragments. So the fragment's own time is spread over its
	 * length.
	 */
	density = part * (double)item->own_ns / (double)length;
	if (first == last) {
		line->ns[first] += (to - from) * density;
		return;
	}
	line->ns[first] += ((double)first + 1 - from) * density;
	line->ns[last] += (to - (double)last) * density;
	line->whole[first + 1] += density;
	line->whole[last] -= density;
}

/* Converts ns per part to the number that ran at a time. Returns the largest. */
static double finish_line(struct line *line)
{
	double part = (double)line->length_ns / (double)line->count, whole = 0, most = 0;

	for (size_t i = 0; i < line->count; i++) {
		whole += line->whole[i];
		line->ns[i] = (line->ns[i] + whole) / part;
		/* This is the rounding error of sums that cancel each other. */
		if (line->ns[i] < 1e-9)
			line->ns[i] = 0;
		most = fmax(most, line->ns[i]);
	}
	return most;
}

void summary__parallelism(struct summary *s)
{
	const struct grain_info *info = grain_graph__info(s->graph);
	struct line line = {.start_ns = info->start_ns, .length_ns = info->end_ns - info->start_ns};
	uint64_t wall_ns = grain_graph__coverage(s->graph)->wall_ns;
	char text[BARS_BYTES + 8], heading[128], drawn[BARS_BYTES];
	double most, mean = 0;

	if (!grain_graph__totals(s->graph)->grains || !line.length_ns)
		return;
	line.count = s->columns - 20;
	line.count = line.count < LEAST_LINE ? LEAST_LINE : line.count > MOST_LINE ? MOST_LINE : line.count;
	visit(s->graph, &(const struct visitor){.fragment = add_to_line}, &line);
	most = finish_line(&line);
	for (size_t i = 0; i < line.count; i++)
		mean += line.ns[i] / (double)line.count;
	/* This is a share of the time in the graph. */
	if (wall_ns)
		mean *= (double)line.length_ns / (double)wall_ns;
	snprintf(heading, sizeof(heading), "PARALLELISM: grains that run at a time, of %u threads; mean %s",
		 info->threads, format__ratio(mean).text);
	summary__heading(s, heading);
	bar__line(drawn, line.ns, line.count, fmax(most, info->threads), s->unicode);
	snprintf(text, sizeof(text), "  %s", drawn);
	summary__line(s, "36", text);
	snprintf(text, sizeof(text), "  0%*s", (int)line.count - 1,
		 format__time((double)line.length_ns, "us").text);
	summary__line(s, "2", text);
}

struct load {
	uint32_t tid;
	uint64_t grains, exec_ns;
};

struct loads {
	struct load *rows; /* by thread */
	size_t count, capacity, last;
	bool failed;
};

/* Returns the thread's row. Adds it if it is new. NULL: out of memory. */
static struct load *load_of(struct loads *loads, uint32_t tid)
{
	size_t low = 0, high = loads->count;

	if (loads->last < loads->count && loads->rows[loads->last].tid == tid)
		return &loads->rows[loads->last];
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (loads->rows[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == loads->count || loads->rows[low].tid != tid) {
		if (loads->count == loads->capacity) {
			size_t want = loads->capacity ? loads->capacity * 2 : 64;
			struct load *bigger = realloc(loads->rows, want * sizeof(*bigger));

			if (!bigger) {
				loads->failed = true;
				return NULL;
			}
			loads->rows = bigger;
			loads->capacity = want;
		}
		for (size_t i = loads->count++; i > low; i--)
			loads->rows[i] = loads->rows[i - 1];
		loads->rows[low] = (struct load){.tid = tid};
	}
	loads->last = low;
	return &loads->rows[low];
}

static void add_grain(void *ctx, const struct grain_item *item)
{
	struct load *load = load_of(ctx, item->tid);

	if (load)
		load->grains++;
}

/* Threads without grains are listed, too. */
static void add_member(void *ctx, const struct grain_item *item)
{
	load_of(ctx, item->tid);
}

static void add_load(void *ctx, const struct grain_item *item)
{
	struct load *load = load_of(ctx, item->tid);

	if (load)
		load->exec_ns += item->own_ns;
}

static int by_exec(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	if (x->exec_ns != y->exec_ns)
		return x->exec_ns > y->exec_ns ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Adds all threads. If there are many, adds the busiest and the idlest ones. */
static void add_loads(struct columns *table, const struct loads *loads, uint64_t wall_ns)
{
	size_t hidden = loads->count > THREADS_SHOWN ? loads->count - THREADS_SHOWN : 0;

	for (size_t i = 0; i < loads->count; i++) {
		const struct load *load = &loads->rows[i];
		double share = wall_ns ? (double)load->exec_ns / (double)wall_ns : 0;
		char text[32];

		if (hidden && i == THREADS_SHOWN / 2) {
			snprintf(text, sizeof(text), "%zu more", hidden);
			columns__add(table, text);
			for (int k = 0; k < 4; k++)
				columns__add(table, "");
			i += hidden - 1;
			continue;
		}
		snprintf(text, sizeof(text), "%u", load->tid);
		columns__add(table, text);
		summary__add_count(table, load->grains);
		summary__add_time(table, (double)load->exec_ns);
		columns__add(table, format__percent(100 * share).text);
		columns__add_share(table, share);
	}
}

void summary__threads(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "THREAD", .left = true},
		{.title = "grains"},
		{.title = "exec"},
		{.title = "% of wall"},
		{.title = "of wall", .bar = true},
	};
	static const struct visitor visitor = {.fragment = add_load,
					       .grain = add_grain,
					       .member = add_member};
	struct loads loads = {0};
	struct columns table;

	visit(s->graph, &visitor, &loads);
	s->failed |= loads.failed;
	if (loads.count > 1)
		qsort(loads.rows, loads.count, sizeof(*loads.rows), by_exec);
	if (loads.count && grain_graph__totals(s->graph)->grains) {
		summary__table(s, &table, columns, COUNT_OF(columns));
		add_loads(&table, &loads, grain_graph__coverage(s->graph)->wall_ns);
		summary__print(s, &table);
	}
	free(loads.rows);
}
