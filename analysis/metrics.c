/* SPDX-License-Identifier: BSD-2-Clause */
/* Medians and statistics. */
#include "analysis/metrics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double metrics__median(uint64_t *values, size_t n)
{
	if (n == 2)
		return ((double)values[0] + (double)values[1]) / 2;
	qsort(values, n, sizeof *values, ascending);
	if (n % 2)
		return (double)values[n / 2];
	return ((double)values[n / 2 - 1] + (double)values[n / 2]) / 2;
}

/* Pairs of ascending values that are at most `distance` apart. */
static uint64_t pairs_within(const uint64_t *values, size_t n, uint64_t distance)
{
	uint64_t pairs = 0;
	size_t low = 0, high;

	for (high = 0; high < n; high++) {
		while (values[high] - values[low] > distance)
			low++;
		pairs += high - low;
	}
	return pairs;
}

/* The smallest distance that at least `rank` pairs do not exceed. */
static uint64_t distance_of_rank(const uint64_t *values, size_t n, uint64_t rank)
{
	uint64_t low = 0, high = values[n - 1] - values[0];

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pairs_within(values, n, middle) >= rank)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

double metrics__median_distance(uint64_t *values, size_t n)
{
	uint64_t pairs = (uint64_t)n * (n ? n - 1 : 0) / 2;

	if (pairs == 0)
		return NAN;
	qsort(values, n, sizeof *values, ascending);
	if (pairs % 2)
		return (double)distance_of_rank(values, n, pairs / 2 + 1);
	return ((double)distance_of_rank(values, n, pairs / 2) +
		(double)distance_of_rank(values, n, pairs / 2 + 1)) /
	       2;
}

int metrics__cores(struct grain_graph *g, uint32_t **cores, size_t *count)
{
	const struct event_stream *stream = g->stream;
	size_t i;
	int error;

	if (metrics__scatter_reason(g))
		return 0;
	error = memory__array(&g->memory, UINT16_MAX + 1, sizeof **cores, (void **)cores);
	if (error < 0)
		return error;
	*count = UINT16_MAX + 1;
	for (i = 0; i < *count; i++)
		(*cores)[i] = GRAIN_NONE;
	for (i = 0; i < stream->cpu_count; i++)
		if (stream->cpus[i].cpu < *count)
			(*cores)[stream->cpus[i].cpu] = stream->cpus[i].core;
	return 0;
}

bool metrics__core_of(const struct grain_graph *g, const struct context *c, const uint32_t *cores,
		      size_t count, uint64_t *core)
{
	uint16_t cpu;

	if (c->flags & CONTEXT_INCOMPLETE || !c->item_count)
		return false;
	cpu = g->items[c->first_item].cpu;
	if (cpu >= count || cores[cpu] == GRAIN_NONE)
		return false;
	*core = cores[cpu];
	return true;
}

/* Rooms ascend: the tightest that is enough is found by halving. */
uint32_t metrics__pack(uint64_t *sizes, size_t n, uint64_t capacity, uint32_t limit, uint64_t *room)
{
	uint32_t bins = 0;

	qsort(sizes, n, sizeof *sizes, ascending);
	while (n-- > 0) {
		uint64_t left, size = sizes[n];
		uint32_t low = 0, high = bins, place;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (room[middle] < size)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == bins) {
			if (bins == limit)
				return limit;
			room[bins++] = capacity > size ? capacity : size;
		}
		left = room[low] - size;
		for (place = low; place > 0 && room[place - 1] > left; place--)
			room[place] = room[place - 1];
		room[place] = left;
	}
	return bins;
}

void running_stat__add(struct running_stat *s, uint64_t value)
{
	double from_mean = (double)value - s->stat.mean;

	if (s->count == 0 || value < s->stat.min)
		s->stat.min = value;
	if (value > s->stat.max)
		s->stat.max = value;
	s->stat.sum += value;
	s->count++;
	s->stat.mean += from_mean / (double)s->count;
	s->squares += from_mean * ((double)value - s->stat.mean);
}

struct grain_stat running_stat__result(const struct running_stat *s)
{
	struct grain_stat stat = s->stat;

	if (s->count) {
		stat.mean = (double)stat.sum / (double)s->count;
		stat.stddev = sqrt(s->squares > 0 ? s->squares / (double)s->count : 0);
	}
	return stat;
}
