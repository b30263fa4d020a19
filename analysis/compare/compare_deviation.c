/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work deviation (PPOPP16 section 3.2): how much longer a grain takes than the one of the same identifier in
 * another run.
 */
#include "analysis/compare/compare.h"

#include <math.h>
#include <stdlib.h>

enum grain_compare_reason match__reason(const struct match *m, uint32_t context)
{
	const struct context *c = &m->run->contexts[context], *before;
	uint32_t namesake = m->base_of[context];

	if (!context__is_grain(c))
		return GRAIN_COMPARE_NO_GRAIN;
	if (!context__is_complete_grain(c))
		return GRAIN_COMPARE_INCOMPLETE;
	if (namesake == GRAIN_NONE)
		return GRAIN_COMPARE_NOT_FOUND;
	if (namesake == MATCH_OTHER_WORK)
		return GRAIN_COMPARE_OTHER_WORK;
	before = &m->base->contexts[namesake];
	if (!context__is_complete_grain(before))
		return GRAIN_COMPARE_BASE_INCOMPLETE;
	return before->exec_ns ? GRAIN_COMPARE_MEASURED : GRAIN_COMPARE_BASE_ZERO;
}

double match__deviation(const struct match *m, uint32_t context)
{
	if (match__reason(m, context) != GRAIN_COMPARE_MEASURED)
		return NAN;
	return (double)m->run->contexts[context].exec_ns /
	       (double)m->base->contexts[m->base_of[context]].exec_ns;
}

static uint64_t complete_grains(const struct grain_graph *g)
{
	return g->totals.grains - g->truth.incomplete_grains - g->totals.discarded;
}

void match__count(const struct match *m, double threshold, struct grain_compare_totals *out)
{
	const struct grain_graph *base = m->base, *run = m->run;
	uint64_t namesakes = 0, found = m->refused, larger;
	size_t i;

	*out = (struct grain_compare_totals){
		.base_grains = complete_grains(base),
		.run_grains = complete_grains(run),
		.matched_percent = NAN,
		.threshold = threshold,
	};
	for (i = 0; i < run->context_count; i++) {
		enum grain_compare_reason reason = match__reason(m, (uint32_t)i);
		uint32_t namesake = m->base_of[i];

		if (reason == GRAIN_COMPARE_NO_GRAIN)
			continue;
		out->reasons[reason]++;
		if (namesake < MATCH_OTHER_WORK) {
			namesakes++;
			found += context__is_complete_grain(&base->contexts[namesake]);
		}
		if (reason != GRAIN_COMPARE_MEASURED && reason != GRAIN_COMPARE_BASE_ZERO)
			continue;
		out->matched++;
		out->excess_ns += (int64_t)(run->contexts[i].exec_ns - base->contexts[namesake].exec_ns);
		out->inflated += match__deviation(m, (uint32_t)i) > threshold;
	}
	out->run_only = out->reasons[GRAIN_COMPARE_NOT_FOUND];
	out->base_only = out->base_grains - found;
	larger = out->base_grains > out->run_grains ? out->base_grains : out->run_grains;
	if (larger)
		out->matched_percent = 100.0 * (double)out->matched / (double)larger;
	out->same_shape = namesakes == base->totals.grains && namesakes == run->totals.grains;
}

static int measure(struct grain_graph *g, const struct match *m)
{
	struct grain_compare_totals totals;
	size_t i;
	int error;

	match__count(m, g->settings.work_deviation, &totals);
	g->totals.baseline_matched_percent = totals.matched_percent;
	g->deviation_why = "no grain of the baseline has a grain of this run to be compared with";
	if (!totals.reasons[GRAIN_COMPARE_MEASURED])
		return 0;
	error = memory__array(&g->memory, g->context_count, sizeof *g->deviation, (void **)&g->deviation);
	if (error < 0)
		return error;
	for (i = 0; i < g->context_count; i++)
		g->deviation[i] = match__deviation(m, (uint32_t)i);
	return 0;
}

int graph__measure_deviation(struct grain_graph *g, const struct grain_graph *baseline)
{
	struct match match;
	int error;

	g->totals.baseline_matched_percent = NAN;
	g->deviation_why = "no single-thread run to compare with";
	if (!baseline)
		return 0;
	error = match__find(baseline, g, &g->memory, &match);
	if (error < 0)
		return error;
	error = measure(g, &match);
	match__release(&match, &g->memory);
	return error;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	if (!n)
		return NAN;
	qsort(values, n, sizeof *values, ascending);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Returns the row that the context counts for. GRAIN_NONE: it counts for none, or has no deviation. */
static uint32_t row_of(const struct grain_graph *g, const double *deviation, const uint32_t *row_of_slot,
		       size_t context)
{
	return isnan(deviation[context]) ? GRAIN_NONE
					 : row_of_slot[profile__slot_of(g, &g->contexts[context])];
}

int deviation__medians(const struct grain_graph *g, const double *deviation, const uint32_t *row_of_slot,
		       size_t row_count, struct memory *memory, double *out)
{
	uint64_t *past = NULL, start = 0; /* per row: the end of its values; while rows are filled, the place
					     of the next value */
	double *values = NULL;
	size_t i;
	int error = memory__array(memory, row_count + 1, sizeof *past, (void **)&past);

	if (error == 0)
		error = memory__array(memory, g->context_count, sizeof *values, (void **)&values);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		uint32_t row = row_of(g, deviation, row_of_slot, i);

		if (row != GRAIN_NONE)
			past[row + 1]++;
	}
	for (i = 0; error == 0 && i < row_count; i++)
		past[i + 1] += past[i];
	for (i = 0; error == 0 && i < g->context_count; i++) {
		uint32_t row = row_of(g, deviation, row_of_slot, i);

		if (row != GRAIN_NONE)
			values[past[row]++] = deviation[i];
	}
	for (i = 0; error == 0 && i < row_count; i++) {
		out[i] = median(values + start, past[i] - start);
		start = past[i];
	}
	memory__release(memory, (void **)&past, row_count + 1, sizeof *past);
	memory__release(memory, (void **)&values, g->context_count, sizeof *values);
	return error;
}

int graph__profile_deviation(struct grain_graph *g)
{
	uint32_t *row_of_slot = NULL;
	double *medians = NULL;
	size_t i, slots = profile__slots(g);
	int error = 0;

	for (i = 0; i < g->profile_count; i++)
		g->profiles[i].work_deviation = NAN;
	if (!g->deviation)
		return 0;
	error = memory__array(&g->memory, slots, sizeof *row_of_slot, (void **)&row_of_slot);
	if (error == 0)
		error = memory__array(&g->memory, g->profile_count, sizeof *medians, (void **)&medians);
	for (i = 0; error == 0 && i < g->profile_count; i++)
		row_of_slot[profile__slot(g, &g->profiles[i])] = (uint32_t)i;
	if (error == 0)
		error = deviation__medians(g, g->deviation, row_of_slot, g->profile_count, &g->memory,
					   medians);
	for (i = 0; error == 0 && i < g->profile_count; i++)
		g->profiles[i].work_deviation = medians[i];
	memory__release(&g->memory, (void **)&row_of_slot, slots, sizeof *row_of_slot);
	memory__release(&g->memory, (void **)&medians, g->profile_count, sizeof *medians);
	return error;
}
