/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that come one by one: how many, their sum, extremes and spread. Internal to analysis. */
#ifndef GRAIND_RUNNING_STAT_H
#define GRAIND_RUNNING_STAT_H

#include "analysis/grain.h"

/* Sum, extremes, mean and deviation while values come in; exact, and without a division a value. */
struct running_stat {
	uint64_t count, sum, min, max;
	unsigned __int128 squares; /* of all values; all ones: too large */
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
/* The deviation is NAN where the squares were too large. */
struct grain_stat running_stat__result(const struct running_stat *s);

#endif
