/* SPDX-License-Identifier: BSD-2-Clause */
/* Medians and statistics. */
#include "analysis/metrics/metrics.h"

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
	if (n > 1)
		qsort(values, n, sizeof *values, ascending);
	if (n % 2)
		return (double)values[n / 2];
	return ((double)values[n / 2 - 1] + (double)values[n / 2]) / 2;
}

/* Returns how many pairs of the ascending values are at most `distance` apart. */
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

/* Returns the smallest distance such that at least `rank` pairs are at most that far apart. */
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

/* Free rooms stay sorted. So a binary search finds the smallest one that is large enough. */
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
