// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/base/running_stat.h"

#include <math.h>

struct grain_stat running_stat__result(const struct running_stat *s)
{
	struct grain_stat stat = {.sum = s->sum, .min = s->min, .max = s->max};
	unsigned __int128 about;
	uint64_t whole;
	double rest;

	if (!s->count)
		return stat;
	stat.mean = (double)s->sum / (double)s->count;
	/* Sums the squared distances from the integer part of the mean, then subtracts the error of this. */
	whole = s->sum / s->count;
	rest = (double)(s->sum % s->count) / (double)s->count;
	about = s->squares - (unsigned __int128)2 * whole * s->sum +
		(unsigned __int128)whole * whole * s->count;
	stat.stddev = sqrt(fmax(0, (double)about / (double)s->count - rest * rest));
	if (s->squares == ~(unsigned __int128)0)
		stat.stddev = NAN;
	return stat;
}
