/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/layout.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

double layout__scale(uint64_t *durations, size_t count)
{
	uint64_t p90;

	if (!count)
		return 1e-3;
	qsort(durations, count, sizeof(*durations), compare);
	p90 = durations[(count - 1) * 9 / 10];
	return LAYOUT_HEIGHT_P90 / (double)(p90 ? p90 : 1);
}

double layout__height(double px_per_ns, uint64_t ns, bool *capped)
{
	double height = (double)ns * px_per_ns;

	*capped = height > LAYOUT_HEIGHT_CAP;
	return fmax(LAYOUT_HEIGHT_FLOOR, fmin(LAYOUT_HEIGHT_CAP, height));
}
