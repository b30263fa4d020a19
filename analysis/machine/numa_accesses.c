// SPDX-License-Identifier: BSD-2-Clause
/* Sampled memory accesses: which grains made them, and whether the memory was near. */
#include "analysis/machine/numa.h"
#include "analysis/graph/profile_slots.h"

#include <math.h>

_Static_assert((int)GRAIN_ACCESS_WHYS == EVENT_ACCESS_WHYS &&
		       (int)GRAIN_ACCESS_REFUSED == EVENT_ACCESS_REFUSED,
	       "the same causes");

static bool is_known(const struct numa_access *a)
{
	return a->from != GRAIN_NONE && a->to != GRAIN_NONE;
}

static void count(struct grain_access_counts *counts, const struct numa_access *a)
{
	if (!is_known(a))
		counts->unknown++;
	else if (a->from == a->to)
		counts->local++;
	else
		counts->remote++;
}

static void add(struct grain_access_counts *to, const struct grain_access_counts *more)
{
	to->local += more->local;
	to->remote += more->remote;
	to->unknown += more->unknown;
}

static bool is_in_team(const struct grain_graph *g, const struct numa_access *a)
{
	return a->working && a->context != GRAIN_NONE && g->contexts[a->context].kind != GRAIN_INITIAL;
}

/*
 * Returns the smallest area that has the page: a variable is a part of its file's data. NULL: none is known.
 */
static struct grain_area *area_of(struct grain_graph *g, uint64_t page)
{
	const struct event_numa *said = &g->stream->numa;
	size_t found = said->area_count;

	for (size_t i = 0; page && i < said->area_count && i < g->numa->area_count; i++) {
		const struct event_area *area = &said->areas[i];
		uint64_t middle = page + NUMA_PAGE_BYTES / 2;

		if (area->start && middle >= area->start && middle - area->start < area->bytes &&
		    (found == said->area_count || area->bytes < said->areas[found].bytes))
			found = i;
	}
	return found < said->area_count ? &g->numa->areas[found] : NULL;
}

static void sum_up(struct grain_graph *g)
{
	struct numa *n = g->numa;

	for (size_t i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		const struct grain_access_counts *mine = &n->of_context[i];

		if (!context__is_grain(c) || !(mine->local || mine->remote || mine->unknown))
			continue;
		add(&n->of_profile[profile__slot_of(g, c)], mine);
		for (int k = 0; k < GRAIN_PROBLEM_COUNT; k++)
			if (c->problems >> k & 1)
				add(&n->of_problem[k], mine);
	}
}

int graph__measure_accesses(struct grain_graph *g)
{
	struct numa *n = g->numa;
	int error;

	if (!n->access_count)
		return 0;
	error = memory__array(&g->memory, g->context_count, sizeof *n->of_context, (void **)&n->of_context);
	if (error == 0)
		error = memory__array(&g->memory, profile__slots(g), sizeof *n->of_profile,
				      (void **)&n->of_profile);
	if (error == 0)
		error = memory__array(&g->memory, GRAIN_PROBLEM_COUNT, sizeof *n->of_problem,
				      (void **)&n->of_problem);
	if (error == 0)
		error = memory__array(&g->memory, n->node_count * n->node_count, sizeof *n->between,
				      (void **)&n->between);
	if (error < 0)
		return error;
	for (size_t i = 0; i < n->access_count; i++) {
		const struct numa_access *a = &n->accesses[i];
		struct grain_area *area;

		if (a->working && a->context != GRAIN_NONE)
			count(&n->of_context[a->context], a);
		if (!is_in_team(g, a))
			continue;
		if (is_known(a))
			n->between[a->from * n->node_count + a->to]++;
		area = area_of(g, a->page);
		if (area)
			count(&area->accesses, a);
	}
	sum_up(g);
	return 0;
}

/* ---- public functions ----------------------------------------------------- */

double grain_access_counts__remote(const struct grain_access_counts *counts)
{
	uint64_t known = counts->local + counts->remote;

	return known ? (double)counts->remote / (double)known : NAN;
}

void grain_graph__accesses(const struct grain_graph *graph, struct grain_accesses *out)
{
	const struct event_numa *said = &graph->stream->numa;
	const struct numa *n = graph->numa;

	*out = (struct grain_accesses){
		.event = said->access_event ? said->access_event
			 : n->access_count  ? "unknown"
					    : NULL,
		.why = said->access_why	    ? said->access_why
		       : said->access_event ? ""
					    : "addresses of accesses are not sampled",
		.hz = said->access_hz,
		.lost = said->access_lost,
	};
	for (size_t i = 0; i < n->access_count; i++) {
		const struct numa_access *a = &n->accesses[i];

		count(&out->all, a);
		if (is_in_team(graph, a))
			count(&out->teams, a);
		if (is_in_team(graph, a) && context__is_grain(&graph->contexts[a->context]))
			count(&out->grains, a);
		out->unknown[a->why] += !is_known(a);
	}
	out->remote = grain_access_counts__remote(&out->teams);
}

void grain_graph__accesses_of(const struct grain_graph *graph, uint32_t context,
			      struct grain_access_counts *out)
{
	const struct grain_access_counts *counts = graph->numa->of_context;

	*out = counts ? counts[context] : (struct grain_access_counts){0};
}

void grain_graph__accesses_of_profile(const struct grain_graph *graph, size_t row,
				      struct grain_access_counts *out)
{
	const struct grain_access_counts *counts = graph->numa->of_profile;

	*out = counts ? counts[profile__slot(graph, &graph->profiles[row])] : (struct grain_access_counts){0};
}

void grain_graph__accesses_of_problem(const struct grain_graph *graph, enum grain_problem problem,
				      struct grain_access_counts *out)
{
	const struct grain_access_counts *counts = graph->numa->of_problem;

	*out = counts ? counts[problem] : (struct grain_access_counts){0};
}

uint64_t grain_graph__accesses_between(const struct grain_graph *graph, size_t from, size_t to)
{
	const struct numa *n = graph->numa;

	return n->between ? n->between[from * n->node_count + to] : 0;
}
