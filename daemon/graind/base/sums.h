/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds numbers that a process can influence. Sums never wrap: they stop at INT64_MAX, the largest number in
 * JSON.
 */
#ifndef GRAIND_SUMS_H
#define GRAIND_SUMS_H

#include <stdint.h>

static inline uint64_t sums__add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

#endif
