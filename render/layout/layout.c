/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/layout/layout.h"

#include <math.h>
#include <stddef.h>

/* Sizes of headings, as in graph_boxes.js. */
#define HEADING_LEAST 10.5
#define HEADING_MOST 56.0
#define HEADING_SHARE (1 / 88.0) /* part of the frame's width */
#define HEADING_HEIGHT 2.1	 /* in units of the letters' size */

/*
 * Returns the element that would be at `rank` if the values were sorted (Hoare's selection). Reorders values.
 */
static uint64_t select_rank(uint64_t *values, ptrdiff_t count, ptrdiff_t rank)
{
	ptrdiff_t low = 0, high = count - 1;

	while (low < high) {
		uint64_t pivot = values[low + (high - low) / 2];
		ptrdiff_t i = low, k = high;

		while (i <= k) {
			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i <= k) {
				uint64_t swap = values[i];

				values[i++] = values[k];
				values[k--] = swap;
			}
		}
		if (rank <= k)
			high = k;
		else if (rank >= i)
			low = i;
		else
			break;
	}
	return values[rank];
}

double layout__heading_letters(double width)
{
	return fmax(HEADING_LEAST, fmin(HEADING_MOST, width * HEADING_SHARE));
}

double layout__heading_height(double width)
{
	return HEADING_HEIGHT * layout__heading_letters(width);
}

double layout__scale(uint64_t *durations, size_t count)
{
	uint64_t p90;

	if (!count)
		return 1e-3;
	p90 = select_rank(durations, (ptrdiff_t)count, (ptrdiff_t)((count - 1) * 9 / 10));
	return LAYOUT_HEIGHT_P90 / (double)(p90 ? p90 : 1);
}

double layout__height(double px_per_ns, uint64_t ns, bool *capped)
{
	double height = (double)ns * px_per_ns;

	*capped = height > LAYOUT_HEIGHT_CAP;
	return fmax(LAYOUT_HEIGHT_FLOOR, fmin(LAYOUT_HEIGHT_CAP, height));
}
