// SPDX-License-Identifier: BSD-2-Clause
/* Rotations of bodies: a loop looks different if what comes before it ends as its body does. */
#include "analysis/sequences/folding.h"

uint32_t folding__smallest_rotation(const uint32_t *body, uint32_t length)
{
	uint32_t a = 0, b = 1, same = 0;

	while (a < length && b < length && same < length) {
		uint32_t x = body[(a + same) % length], y = body[(b + same) % length];

		if (x == y) {
			same++;
			continue;
		}
		if (x > y)
			a += same + 1;
		else
			b += same + 1;
		if (a == b)
			b++;
		same = 0;
	}
	return a < b ? a : b;
}

uint64_t folding__hash(const uint32_t *body, uint32_t length, uint32_t shift)
{
	uint64_t hash = length;

	for (uint32_t i = 0; i < length; i++) {
		hash = (hash ^ body[(shift + i) % length]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

bool folding__is_rotation(const uint32_t *a, uint32_t a_shift, const uint32_t *b, uint32_t b_shift,
			  uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (a[(a_shift + i) % length] != b[(b_shift + i) % length])
			return false;
	return true;
}
