// SPDX-License-Identifier: BSD-2-Clause
#include "render/base/array.h"

#include <stdint.h>
#include <stdlib.h>

bool array__reserve(void **array, size_t *capacity, size_t count, size_t element)
{
	size_t want = *capacity ? *capacity : 64;
	void *bigger;

	if (count < *capacity)
		return true;
	while (want <= count) {
		if (want > SIZE_MAX / 2 / element)
			return false;
		want *= 2;
	}
	bigger = realloc(*array, want * element);
	if (!bigger)
		return false;
	*array = bigger;
	*capacity = want;
	return true;
}
