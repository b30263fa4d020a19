/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instantaneous parallelism over intervals (PPOPP16 section 3.2). It is used only if the settings ask for it.
 *
 * Intervals of one length cover the time from the begin of the first fragment to the end of the last one. The
 * last interval may be shorter. A context counts in every interval that one of its fragments overlaps
 * (optimistic), or that its fragments fill (conservative). Its value is the smallest count of all intervals
 * that it overlaps.
 *
 * There can be many more intervals than fragments. So only those intervals are kept at which the count
 * changes.
 */
#include "analysis/event/event_build.h"
#include "analysis/metrics/metrics.h"

#include <stdlib.h>

/* Consecutive intervals. */
struct range {
	uint64_t first, last;
};

struct intervals {
	struct grain_graph *graph;
	uint64_t origin, end, length;
	uint64_t last; /* number of the last interval */
	/*
	 * begins: numbers of the intervals at which ranges begin. ends: numbers of the intervals after their
	 * ends.
	 */
	uint64_t *begins, *ends;
	size_t count, room;
	/*
	 * The count as steps. Leaf i of `tree` is the count from interval at[i] on. An inner node is the
	 * minimum of its subtree.
	 */
	uint64_t *at;
	uint32_t *tree;
	size_t steps, leaves;
};

static bool runs(const struct item *item)
{
	return item->kind == GRAIN_FRAGMENT && item->own_ns > 0;
}

/*
 * Finds the next range of intervals that fragments of the context overlap, starting at *item. Adjacent ranges
 * are merged.
 */
static bool next_overlap(const struct intervals *v, const struct context *c, uint32_t *item,
			 struct range *out)
{
	const struct item *items = v->graph->items;
	uint32_t past = c->first_item + c->item_count;
	bool any = false;

	for (; *item < past; ++*item) {
		struct range r;

		if (!runs(&items[*item]))
			continue;
		r.first = (items[*item].start_ns - v->origin) / v->length;
		r.last = (graph__item_end(v->graph, *item) - 1 - v->origin) / v->length;
		if (any && r.first > out->last + 1)
			return true;
		if (!any)
			out->first = r.first;
		out->last = r.last;
		any = true;
	}
	return any;
}

/* As next_overlap(), for ranges that fragments fill. Adjacent fragments count as one. */
static bool next_filled(const struct intervals *v, const struct context *c, uint32_t *item, struct range *out)
{
	const struct item *items = v->graph->items;
	uint32_t past = c->first_item + c->item_count;

	while (*item < past) {
		uint64_t start, end;

		if (!runs(&items[*item])) {
			++*item;
			continue;
		}
		start = items[*item].start_ns - v->origin;
		end = graph__item_end(v->graph, *item) - v->origin;
		while (++*item < past && (!runs(&items[*item]) || items[*item].start_ns - v->origin == end))
			if (runs(&items[*item]))
				end = graph__item_end(v->graph, *item) - v->origin;
		out->first = start / v->length + (start % v->length != 0);
		out->last = end == v->end - v->origin ? v->last + 1 : end / v->length;
		if (out->first < out->last--)
			return true;
	}
	return false;
}

static bool next_counted(const struct intervals *v, const struct context *c, uint32_t *item,
			 struct range *out)
{
	return v->graph->settings.parallelism == GRAIN_PARALLELISM_OPTIMISTIC ? next_overlap(v, c, item, out)
									      : next_filled(v, c, item, out);
}

/* Sorts times or interval numbers. */
static int sort(struct grain_graph *g, uint64_t *values, size_t count)
{
	struct budget budget = {.left = g->memory.max - g->memory.used};

	return sorted_items__sort(values, sizeof *values, NULL, count, &budget);
}

/* ---- the length of intervals ------------------------------------------- */

static bool is_measured(const struct context *c)
{
	return context__is_grain(c) && !(c->flags & CONTEXT_INCOMPLETE) && c->exec_ns > 0;
}

/* Returns how many of the ascending values are at most `limit`. */
static size_t count_up_to(const uint64_t *values, size_t count, uint64_t limit)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (values[middle] <= limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the smallest time between the start of a grain and the end of another. 0: there is none. */
static uint64_t smallest_gap(const struct grain_graph *g, const uint64_t *ends, size_t count)
{
	uint64_t smallest = UINT64_MAX;

	for (size_t i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		size_t before, after;

		if (!is_measured(c))
			continue;
		before = c->start_ns ? count_up_to(ends, count, c->start_ns - 1) : 0;
		after = count_up_to(ends, count, c->start_ns);
		if (before > 0 && c->start_ns - ends[before - 1] < smallest)
			smallest = c->start_ns - ends[before - 1];
		/* If the next end is that of the grain itself, take another. */
		if (after < count && ends[after] == c->end_ns)
			after++;
		if (after < count && ends[after] - c->start_ns < smallest)
			smallest = ends[after] - c->start_ns;
	}
	return smallest == UINT64_MAX ? 0 : smallest;
}

static int find_length(struct grain_graph *g, uint64_t *length)
{
	bool gap = g->settings.interval == GRAIN_INTERVAL_GAP;
	uint64_t *values = NULL;
	size_t n = 0;
	int error;

	*length = g->settings.interval_ns;
	if (g->settings.interval == GRAIN_INTERVAL_GIVEN)
		return 0;
	*length = 0;
	error = memory__array(&g->memory, g->context_count, sizeof *values, (void **)&values);
	if (error < 0)
		return error;
	for (size_t i = 0; i < g->context_count; i++)
		if (is_measured(&g->contexts[i]))
			values[n++] = gap ? g->contexts[i].end_ns : g->contexts[i].exec_ns;
	error = sort(g, values, n);
	if (error == 0 && n && gap)
		*length = smallest_gap(g, values, n);
	else if (error == 0 && n && g->settings.interval == GRAIN_INTERVAL_MINIMUM)
		*length = values[0];
	else if (error == 0 && n)
		*length = values[(n - 1) / 2] + (values[n / 2] - values[(n - 1) / 2]) / 2;
	memory__release(&g->memory, (void **)&values, g->context_count, sizeof *values);
	return error;
}

/* ---- counts ------------------------------------------------------------- */

/* Finds the first begin and the last end. Returns false if nothing ran. */
static bool find_ends(struct intervals *v)
{
	const struct grain_graph *g = v->graph;

	v->origin = UINT64_MAX;
	for (size_t i = 0; i < g->item_count; i++) {
		const struct item *item = &g->items[i];

		if (!runs(item))
			continue;
		v->origin = item->start_ns < v->origin ? item->start_ns : v->origin;
		v->end = graph__item_end(g, (uint32_t)i) > v->end ? graph__item_end(g, (uint32_t)i) : v->end;
	}
	if (v->origin >= v->end)
		return false;
	v->last = (v->end - v->origin - 1) / v->length;
	return true;
}

static int collect(struct intervals *v)
{
	struct grain_graph *g = v->graph;
	struct range r;
	int error;

	for (size_t i = 0; i < g->context_count; i++)
		for (uint32_t item = g->contexts[i].first_item; next_counted(v, &g->contexts[i], &item, &r);)
			v->room++;
	error = memory__array(&g->memory, v->room, sizeof *v->begins, (void **)&v->begins);
	if (error == 0)
		error = memory__array(&g->memory, v->room, sizeof *v->ends, (void **)&v->ends);
	if (error < 0)
		return error;
	for (size_t i = 0; i < g->context_count; i++) {
		for (uint32_t item = g->contexts[i].first_item;
		     next_counted(v, &g->contexts[i], &item, &r);) {
			v->begins[v->count] = r.first;
			v->ends[v->count++] = r.last + 1;
		}
	}
	error = sort(g, v->begins, v->count);
	return error < 0 ? error : sort(g, v->ends, v->count);
}

static int make_steps(struct intervals *v)
{
	struct grain_graph *g = v->graph;
	size_t b = 0, e = 0, room = 2 * v->count + 1;
	uint32_t running = 0;
	int error = memory__array(&g->memory, room, sizeof *v->at, (void **)&v->at);

	v->leaves = room;
	if (error == 0)
		error = memory__array(&g->memory, 2 * room, sizeof *v->tree, (void **)&v->tree);
	if (error < 0)
		return error;
	v->steps = 1;
	while (e < v->count) {
		uint64_t at = b < v->count && v->begins[b] < v->ends[e] ? v->begins[b] : v->ends[e];

		for (; b < v->count && v->begins[b] == at; b++)
			running++;
		for (; e < v->count && v->ends[e] == at; e++)
			running--;
		if (at != v->at[v->steps - 1])
			v->at[v->steps++] = at;
		v->tree[v->leaves + v->steps - 1] = running;
	}
	for (size_t i = v->leaves; --i > 0;)
		v->tree[i] = v->tree[2 * i] < v->tree[2 * i + 1] ? v->tree[2 * i] : v->tree[2 * i + 1];
	return 0;
}

/* Returns the step that interval `number` belongs to. */
static size_t step_of(const struct intervals *v, uint64_t number)
{
	size_t low = 0, high = v->steps;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (v->at[middle] <= number)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t smallest(const struct intervals *v, const struct range *r)
{
	size_t from = v->leaves + step_of(v, r->first), to = v->leaves + step_of(v, r->last) + 1;
	uint32_t least = UINT32_MAX;

	for (; from < to; from /= 2, to /= 2) {
		if (from & 1) {
			least = v->tree[from] < least ? v->tree[from] : least;
			from++;
		}
		if (to & 1) {
			to--;
			least = v->tree[to] < least ? v->tree[to] : least;
		}
	}
	return least;
}

static void assign(struct intervals *v)
{
	struct grain_graph *g = v->graph;

	for (size_t i = 0; i < g->context_count; i++) {
		struct context *c = &g->contexts[i];
		uint32_t item = c->first_item, least;
		struct range r;

		c->min_parallelism = UINT32_MAX;
		while (next_overlap(v, c, &item, &r)) {
			least = smallest(v, &r);
			c->min_parallelism = least < c->min_parallelism ? least : c->min_parallelism;
		}
	}
}

int graph__measure_parallelism(struct grain_graph *graph)
{
	struct intervals v = {.graph = graph};
	int error;

	if (graph->info.times_derived) {
		for (size_t i = 0; i < graph->context_count; i++)
			graph->contexts[i].min_parallelism = UINT32_MAX;
		graph__absent(graph, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
			      "the profile does not say when grains ran");
		return 0;
	}
	if (graph->settings.parallelism == GRAIN_PARALLELISM_EXACT)
		return 0;
	error = find_length(graph, &v.length);
	if (error < 0)
		return error;
	graph->interval_ns = v.length;
	if (!v.length) {
		for (size_t i = 0; i < graph->context_count; i++)
			graph->contexts[i].min_parallelism = UINT32_MAX;
		graph__absent(graph, GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM,
			      "no grains whose lengths could give the length of intervals");
		return 0;
	}
	if (!find_ends(&v))
		return 0;
	error = collect(&v);
	if (error == 0)
		error = make_steps(&v);
	if (error == 0)
		assign(&v);
	memory__release(&graph->memory, (void **)&v.begins, v.room, sizeof *v.begins);
	memory__release(&graph->memory, (void **)&v.ends, v.room, sizeof *v.ends);
	memory__release(&graph->memory, (void **)&v.at, v.leaves, sizeof *v.at);
	memory__release(&graph->memory, (void **)&v.tree, 2 * v.leaves, sizeof *v.tree);
	return error;
}
