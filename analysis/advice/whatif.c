/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to "what if": work and span when the fragments of one definition are scaled, and the bounds that
 * follow.
 */
#include "analysis/include/grain_whatif.h"
#include "analysis/advice/whatif_walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scaled times stay below this, so that sums of them do not overflow. */
#define LONGEST_NS 4e18

static uint64_t least(uint64_t work_ns, uint64_t span_ns, uint32_t cores)
{
	uint64_t share = work_ns / cores + (work_ns % cores != 0);

	return share > span_ns ? share : span_ns;
}

static double most(uint64_t work_ns, uint64_t span_ns, uint32_t cores)
{
	return (double)work_ns / cores + (double)span_ns * (1 - 1 / (double)cores);
}

/* The work in the graph. For a long job the totals count more than this. */
static uint64_t work_of(const struct grain_graph *g)
{
	return g->coverage.partial ? g->coverage.work_ns : g->totals.work_ns;
}

static uint64_t wall_of(const struct grain_graph *g)
{
	return g->coverage.partial ? g->coverage.wall_ns : g->totals.wall_ns;
}

static bool is_possible(const struct grain_graph *g, double factor)
{
	double work_ns = (double)work_of(g);

	return isfinite(factor) && factor > 0 && work_ns <= LONGEST_NS && work_ns / factor <= LONGEST_NS;
}

static uint64_t whole(double ns)
{
	return (uint64_t)ceil(fmin(ns, 2 * LONGEST_NS));
}

static int weigh(const struct grain_graph *g, const struct metrics_scale *scale, struct grain_whatif *w)
{
	int found = whatif_walk__run(g, scale, &w->work_ns, &w->span_ns);
	size_t i;
	uint32_t k;

	if (found)
		return found < 0 ? found : 0;
	w->work_ns = 0;
	for (i = 0; i < g->context_count; i++)
		for (k = g->contexts[i].first_item; k < g->contexts[i].first_item + g->contexts[i].item_count;
		     k++)
			if (g->items[k].kind == GRAIN_FRAGMENT)
				w->work_ns += metrics__scaled(g, scale, (uint32_t)i, &g->items[k]);
	return metrics__scaled_span(g, scale, &w->span_ns);
}

int grain_graph__whatif(const struct grain_graph *g, uint32_t definition, double factor, uint32_t cores,
			struct grain_whatif *out)
{
	const struct metrics_scale scale = {.factor = factor, .definition = definition};
	const struct grain_totals *t = &g->totals;
	struct grain_whatif w = {0};
	double before, after;
	int error;

	if (definition >= g->definition_count || !is_possible(g, factor) || !cores)
		return -EINVAL;
	error = weigh(g, &scale, &w);
	if (error < 0)
		return error;
	before = most(work_of(g), t->span_ns, cores);
	after = most(w.work_ns, w.span_ns, cores);
	w.least_ns = least(w.work_ns, w.span_ns, cores);
	w.most_ns = whole(after);
	w.before_least_ns = least(work_of(g), t->span_ns, cores);
	w.before_most_ns = whole(before);
	if (after < before)
		w.saves_ns = (uint64_t)fmin((double)wall_of(g) * (1 - after / before),
					    (double)(work_of(g) - w.work_ns));
	*out = w;
	return 0;
}

struct critical {
	uint64_t ns;
	uint32_t definition;
};

static int by_critical(const void *x, const void *y)
{
	const struct critical *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->definition > b->definition) - (a->definition < b->definition);
}

/* Inserts into a sorted list that keeps the `room` largest. */
static size_t insert(struct critical *top, size_t count, size_t room, struct critical new)
{
	if (count < room)
		count++;
	else if (by_critical(&new, &top[count - 1]) >= 0)
		return count;
	top[count - 1] = new;
	qsort(top, count, sizeof *top, by_critical);
	return count;
}

size_t grain_graph__usual_questions(const struct grain_graph *g, struct grain_whatif_question *out,
				    size_t room)
{
	struct critical top[GRAIN_WHATIF_USUAL];
	size_t i, k, count = 0;

	if (room > GRAIN_WHATIF_USUAL)
		room = GRAIN_WHATIF_USUAL;
	if (!is_possible(g, 2))
		return 0;
	for (i = 0; i < g->profile_count && room; i++) {
		const struct grain_profile *p = &g->profiles[i];

		if (p->definition == GRAIN_NONE || !p->critical_path_ns)
			continue;
		/* A definition with tasks and chunks has two rows, but is listed once. */
		for (k = 0; k < count && top[k].definition != p->definition; k++)
			;
		if (k == count)
			count = insert(top, count, room,
				       (struct critical){.ns = p->critical_path_ns,
							 .definition = p->definition});
	}
	for (i = 0; i < count; i++)
		out[i] = (struct grain_whatif_question){.definition = top[i].definition, .factor = 2};
	return count;
}

static int fail(struct grain_error *err, const char *text, const char *why)
{
	if (err)
		snprintf(err->text, sizeof err->text, "'%.200s' is no what-if: %.250s", text, why);
	return -EINVAL;
}

int grain_graph__parse_question(const struct grain_graph *g, const char *text,
				struct grain_whatif_question *out, struct grain_error *err)
{
	const char *equals = strrchr(text, '=');
	double factor;
	char *end;
	size_t i;

	if (!equals || equals == text)
		return fail(err, text, "it is SOURCE=FACTOR, as in fib.c:8=2");
	factor = strtod(equals + 1, &end);
	if (end == equals + 1 || *end || !isfinite(factor) || factor <= 0)
		return fail(err, text, "the factor is a number above 0, as in fib.c:8=2");
	if (!is_possible(g, factor))
		return fail(err, text, "so long times cannot be computed with");
	/* The profile's rows are sorted by time. */
	for (i = 0; i < g->profile_count; i++) {
		uint32_t definition = g->profiles[i].definition;
		const char *source = definition == GRAIN_NONE ? "" : g->definitions[definition].source;

		if (strlen(source) != (size_t)(equals - text) || strncmp(source, text, strlen(source)) != 0)
			continue;
		*out = (struct grain_whatif_question){.definition = definition, .factor = factor};
		return 0;
	}
	return fail(err, text,
		    "no grains were created there; the summary's table of definitions has the sources");
}
