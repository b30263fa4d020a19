/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of numbers that arrive one by one: count, sum, extremes and deviation. Internal to analysis. */
#ifndef GRAIND_RUNNING_STAT_H
#define GRAIND_RUNNING_STAT_H

#include "analysis/include/grain.h"

/* Exact, and needs no division for a value. */
struct running_stat {
	uint64_t count, sum, min, max;
	unsigned __int128 squares; /* sum of the squares; all bits set: overflow */
};
static inline void running_stat__add(struct running_stat *s, uint64_t value)
{
	if (s->count++ == 0 || value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	s->sum += value;
	if (__builtin_add_overflow(s->squares, (unsigned __int128)value * value, &s->squares))
		s->squares = ~(unsigned __int128)0;
}
/* The deviation is NAN if the squares overflowed. */
struct grain_stat running_stat__result(const struct running_stat *s);

#endif
