/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes and frees the comparison of two graphs, and gives its contexts (grain_compare.h). */
#include "analysis/compare/compare_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_BYTES (UINT64_C(8) << 30)

static int64_t excess_of(const struct grain_compare *c, uint32_t context)
{
	const struct match *m = &c->match;

	return (int64_t)(m->run->contexts[context].exec_ns - m->base->contexts[m->base_of[context]].exec_ns);
}

static int by_excess(const void *a, const void *b, void *compare)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t more = excess_of(compare, x), less = excess_of(compare, y);

	if (more != less)
		return more > less ? -1 : 1;
	return (x > y) - (x < y);
}

static int list_inflated(struct grain_compare *c)
{
	size_t i;
	int error = memory__array(&c->memory, c->totals.inflated, sizeof *c->inflated, (void **)&c->inflated);

	if (error < 0)
		return error;
	for (i = 0; i < c->match.run->context_count; i++)
		if (match__deviation(&c->match, (uint32_t)i) > c->totals.threshold)
			c->inflated[c->inflated_count++] = (uint32_t)i;
	if (c->inflated_count)
		qsort_r(c->inflated, c->inflated_count, sizeof *c->inflated, by_excess, c);
	return 0;
}

int grain_compare__new(const struct grain_graph *base, const struct grain_graph *run,
		       struct grain_compare **out)
{
	struct grain_compare *c = calloc(1, sizeof *c);
	int error;

	if (!c)
		return -ENOMEM;
	c->memory.max = MAX_BYTES;
	error = match__find(base, run, &c->memory, &c->match);
	if (error == 0) {
		match__count(&c->match, run->settings.work_deviation, &c->totals);
		error = list_inflated(c);
	}
	if (error == 0)
		error = compare__make_rows(c);
	if (error < 0) {
		grain_compare__free(c);
		return error;
	}
	*out = c;
	return 0;
}

void grain_compare__free(struct grain_compare *compare)
{
	if (!compare)
		return;
	match__release(&compare->match, &compare->memory);
	free(compare->inflated);
	free(compare->rows);
	free(compare);
}

uint32_t grain_compare__match(const struct grain_compare *compare, uint32_t context)
{
	uint32_t found = compare->match.base_of[context];

	return found == MATCH_OTHER_WORK ? GRAIN_NONE : found;
}

enum grain_compare_reason grain_compare__reason(const struct grain_compare *compare, uint32_t context)
{
	return match__reason(&compare->match, context);
}

double grain_compare__deviation(const struct grain_compare *compare, uint32_t context)
{
	return match__deviation(&compare->match, context);
}

void grain_compare__totals(const struct grain_compare *compare, struct grain_compare_totals *out)
{
	*out = compare->totals;
}

size_t grain_compare__definition_count(const struct grain_compare *compare)
{
	return compare->row_count;
}

void grain_compare__definition(const struct grain_compare *compare, size_t index,
			       struct grain_compare_definition *out)
{
	*out = compare->rows[index];
}

size_t grain_compare__inflated_count(const struct grain_compare *compare)
{
	return compare->inflated_count;
}

uint32_t grain_compare__inflated(const struct grain_compare *compare, size_t index)
{
	return compare->inflated[index];
}
