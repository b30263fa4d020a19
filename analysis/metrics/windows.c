// SPDX-License-Identifier: BSD-2-Clause
/*
 * Estimates the time between windows. Half of each gap is like the window before it, the other half like the
 * window after it. So a window counts by its time and the gaps around it, even if it ended early because much
 * happened in it.
 */
#include "analysis/metrics/metrics.h"
#include "analysis/include/grain_windows.h"
#include "analysis/graph/graph.h"

#include <math.h>
#include <stdlib.h>

struct window_sums {
	double work_ns;
	double ns;
	double gaps_ns; /* time outside of the window that the window stands for */
};

static uint64_t end_of(const struct grain_graph *g, size_t window)
{
	uint64_t end = g->stream->windows[window].end_ns;

	return end == UINT64_MAX ? g->info.end_ns : end;
}

/* The first window begins with the first event. Before that, the program is being loaded. */
static uint64_t begin_of(const struct grain_graph *g, size_t window)
{
	uint64_t begin = g->stream->windows[window].begin_ns, start = g->info.start_ns;

	return window == 0 && begin < start && start < end_of(g, 0) ? start : begin;
}

uint64_t graph__recorded_ns(const struct grain_graph *g)
{
	const struct event_stream *s = g->stream;
	uint64_t sum = 0;

	if (!s->window_count)
		return g->info.end_ns - g->info.start_ns;
	for (size_t i = 0; i < s->window_count; i++) {
		uint64_t begin = begin_of(g, i), end = end_of(g, i);

		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

bool graph__windows_follow(const struct grain_graph *g)
{
	return g->stream->window_count && g->stream->windows[0].kept & EVENT_KEPT_FIRST;
}

uint64_t graph__first_window_ns(const struct grain_graph *g)
{
	uint64_t begin, end;

	if (!g->stream->window_count)
		return g->info.end_ns - g->info.start_ns;
	begin = begin_of(g, 0);
	end = end_of(g, 0);
	return end > begin ? end - begin : 0;
}

size_t graph__window_at(const struct grain_graph *g, uint64_t time_ns)
{
	const struct event_stream *s = g->stream;
	size_t low = 0, high = s->window_count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (s->windows[middle].begin_ns <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void sum_up(const struct grain_graph *g, struct window_sums *sums)
{
	for (size_t i = 0; i < g->item_count; i++)
		if (g->items[i].kind == GRAIN_FRAGMENT)
			sums[graph__window_at(g, g->items[i].start_ns)].work_ns += (double)g->items[i].own_ns;
}

static bool is_window(const struct grain_graph *g, size_t i)
{
	return end_of(g, i) > begin_of(g, i);
}

static void share_gaps(const struct grain_graph *g, struct window_sums *sums)
{
	const struct event_stream *s = g->stream;
	size_t before = SIZE_MAX;

	for (size_t i = 0; i < s->window_count; i++) {
		double gap = before == SIZE_MAX ? 0 : (double)(s->windows[i].begin_ns - end_of(g, before));

		if (before == SIZE_MAX && !is_window(g, i))
			continue;
		if (before != SIZE_MAX && is_window(g, i)) {
			sums[before].gaps_ns += gap / 2;
			sums[i].gaps_ns += gap / 2;
		} else if (before != SIZE_MAX) {
			sums[before].gaps_ns += gap;
			continue;
		}
		before = i;
	}
}

static struct grain_estimate estimate_work(const struct window_sums *sums, size_t count)
{
	double seen = 0, beyond = 0, gaps = 0, rates = 0, squares = 0, n = 0;

	for (size_t i = 0; i < count; i++) {
		double rate = sums[i].ns > 0 ? sums[i].work_ns / sums[i].ns : 0;

		seen += sums[i].work_ns;
		if (!(sums[i].ns > 0))
			continue;
		beyond += rate * sums[i].gaps_ns;
		gaps += sums[i].gaps_ns;
		rates += rate;
		squares += rate * rate;
		n += 1;
	}
	return (struct grain_estimate){
		.value = seen + beyond,
		.error = n < 2 ? NAN : gaps * sqrt(fmax(0, squares - rates * rates / n) / (n - 1) / n),
	};
}

void grain_graph__windows(const struct grain_graph *graph, struct grain_windows *out)
{
	const struct event_stream *s = graph->stream;
	size_t count = s->window_count;
	struct window_sums *sums =
		count && !graph__windows_follow(graph) ? calloc(count, sizeof(*sums)) : NULL;

	*out = (struct grain_windows){.work_ns = {NAN, NAN}};
	if (!sums)
		return;
	sum_up(graph, sums);
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = is_window(graph, i) ? end_of(graph, i) - begin_of(graph, i) : 0;

		sums[i].ns = (double)ns;
		out->recorded_ns += ns;
		out->probes_ns += s->windows[i].cost_ns < ns ? s->windows[i].cost_ns : ns;
		out->windows += ns > 0;
	}
	share_gaps(graph, sums);
	out->whole_ns = end_of(graph, count - 1) - begin_of(graph, 0);
	out->work_ns = estimate_work(sums, count);
	free(sums);
}

bool grain_graph__kept_region(const struct grain_graph *graph, size_t index, struct grain_kept_region *out)
{
	const struct event_stream *s = graph->stream;
	const struct event_window *w;

	if (!graph__windows_follow(graph) || index >= s->window_count - 1)
		return false;
	w = &s->windows[index + 1];
	*out = (struct grain_kept_region){.start_ns = w->begin_ns,
					  .end_ns = end_of(graph, index + 1),
					  .slowest = w->kept & EVENT_KEPT_SLOWEST,
					  .last = w->kept & EVENT_KEPT_LAST,
					  .every = w->kept & EVENT_KEPT_EVERY ? w->every : 0};
	return true;
}
