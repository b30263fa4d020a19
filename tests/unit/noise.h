/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that look random and are the same in each run (xorshift64). */
#ifndef GRAIND_TESTS_NOISE_H
#define GRAIND_TESTS_NOISE_H

#include <stdint.h>

static inline uint64_t noise(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#endif
