/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sizes of chunks in the text summary, for the loops with the most time: how many iterations their chunks
 * have, and how long they take.
 */
#include <stdlib.h>

#include "render/text/summary.h"

#define LOOPS_SHOWN 3
#define SIZES 65 /* one for each power of two of 64 bits, and one for 0 */
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct size {
	uint64_t chunks, sum_ns, min_ns, max_ns;
};

/* The chunks of one loop of the source. */
struct histogram {
	uint32_t definition;
	uint64_t chunks;
	struct size sizes[SIZES];
};

/* First and last value of one instance's loop variable. They give the step between iterations. */
struct extent {
	uint64_t lower, upper;
	bool known;
};

static uint64_t distance(const struct grain_iterations *it, int64_t from, int64_t to)
{
	bool up = it->is_unsigned ? (uint64_t)from <= (uint64_t)to : from <= to;

	return up ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
}

static bool less(const struct grain_iterations *it, int64_t a, int64_t b)
{
	return it->is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static void extend(struct extent *extent, const struct grain_iterations *it)
{
	bool up = !less(it, it->upper, it->lower);
	int64_t low = up ? it->lower : it->upper, high = up ? it->upper : it->lower;

	if (!extent->known || less(it, low, (int64_t)extent->lower))
		extent->lower = (uint64_t)low;
	if (!extent->known || less(it, (int64_t)extent->upper, high))
		extent->upper = (uint64_t)high;
	extent->known = true;
}

static uint64_t step_of(const struct grain_graph *graph, uint32_t loop, const struct extent *extent)
{
	struct grain_loop l;
	uint64_t step;

	grain_graph__loop(graph, loop, &l);
	step = l.iterations > 1 ? (extent->upper - extent->lower) / (l.iterations - 1) : 1;
	return step ? step : 1;
}

static unsigned bucket_of(uint64_t iterations)
{
	return iterations ? 64 - (unsigned)__builtin_clzll(iterations) : 0;
}

static void count(struct histogram *h, uint64_t iterations, uint64_t exec_ns)
{
	struct size *size = &h->sizes[bucket_of(iterations)];

	size->min_ns = size->chunks && size->min_ns < exec_ns ? size->min_ns : exec_ns;
	size->max_ns = size->max_ns > exec_ns ? size->max_ns : exec_ns;
	size->sum_ns += exec_ns;
	size->chunks++;
	h->chunks++;
}

/* Gets the chunk. Returns false if its iterations or its time are not known. */
static bool get_chunk(const struct grain_graph *graph, uint32_t context, struct grain_context *c,
		      struct grain_iterations *it)
{
	grain_graph__context(graph, context, c);
	return c->kind == GRAIN_CHUNK && !c->incomplete && grain_graph__iterations(graph, context, it) &&
	       it->loop != GRAIN_NONE && !it->hidden && it->chunks <= 1;
}

static struct histogram *find(struct histogram *histograms, size_t n, uint32_t definition)
{
	for (size_t i = 0; i < n; i++)
		if (histograms[i].definition == definition)
			return &histograms[i];
	return NULL;
}

static void fill(const struct grain_graph *graph, struct extent *extents, struct histogram *histograms,
		 size_t n)
{
	uint32_t contexts = (uint32_t)grain_graph__context_count(graph);
	struct grain_iterations it;
	struct grain_context c;

	for (uint32_t i = 0; i < contexts; i++)
		if (get_chunk(graph, i, &c, &it))
			extend(&extents[it.loop], &it);
	for (uint32_t i = 0; i < contexts; i++) {
		struct histogram *h = get_chunk(graph, i, &c, &it) ? find(histograms, n, c.definition) : NULL;

		if (h)
			count(h,
			      distance(&it, it.lower, it.upper) / step_of(graph, it.loop, &extents[it.loop]) +
				      1,
			      c.exec_ns);
	}
}

static void add_size(struct summary *s, struct columns *table, const struct histogram *h, unsigned bucket,
		     bool first)
{
	const struct size *size = &h->sizes[bucket];
	uint64_t from = UINT64_C(1) << (bucket - 1);
	char text[80];

	columns__add(table, first ? summary__definition(s, h->definition).source : "");
	if (bucket == 1)
		snprintf(text, sizeof(text), "1");
	else
		snprintf(text, sizeof(text), "%s-%s", format__count(from).text,
			 format__count(2 * from - 1).text);
	columns__add(table, text);
	summary__add_count(table, size->chunks);
	summary__add_time(table, size->chunks ? (double)size->sum_ns / (double)size->chunks : 0);
	summary__add_time(table, (double)size->min_ns);
	summary__add_time(table, (double)size->max_ns);
	columns__add_share(table, (double)size->chunks / (double)h->chunks);
}

static void print(struct summary *s, const struct histogram *histograms, size_t n)
{
	static const struct columns_column columns[] = {
		{.title = "CHUNKS OF", .left = true, .cuttable = true},
		{.title = "iterations"},
		{.title = "chunks"},
		{.title = "mean"},
		{.title = "min", .optional = 3},
		{.title = "max", .optional = 2},
		{.title = "of its chunks", .bar = true, .optional = 1},
	};
	struct columns table;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < n; i++) {
		bool first = true;

		for (unsigned b = 1; b < SIZES; b++) {
			if (!histograms[i].sizes[b].chunks)
				continue;
			add_size(s, &table, &histograms[i], b, first);
			first = false;
		}
	}
	if (table.cell_count)
		summary__print(s, &table);
	else
		columns__free(&table);
}

void summary__chunks(struct summary *s)
{
	struct histogram *histograms = NULL;
	struct extent *extents = NULL;
	struct summary_loop *loops;
	size_t loop_count = summary__gather_loops(s, &loops), n = 0;

	if (loop_count) {
		histograms = calloc(LOOPS_SHOWN, sizeof(*histograms));
		extents = calloc(grain_graph__loop_count(s->graph), sizeof(*extents));
		s->failed |= !histograms || !extents;
	}
	for (size_t i = 0; histograms && i < loop_count && n < LOOPS_SHOWN; i++)
		if (!loops[i].hidden && !loops[i].sections && !find(histograms, n, loops[i].definition))
			histograms[n++].definition = loops[i].definition;
	if (n && extents) {
		fill(s->graph, extents, histograms, n);
		print(s, histograms, n);
	}
	free(loops);
	free(extents);
	free(histograms);
}
