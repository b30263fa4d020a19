// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/base/memory.h"
#include "analysis/include/grain.h"
#include "analysis/base/large.h"

#include <errno.h>
#include <stdlib.h>

static int take(struct memory *memory, uint64_t bytes)
{
	if (bytes > memory->max - memory->used)
		return -E2BIG;
	memory->used += bytes;
	return 0;
}

int memory__grow(struct memory *memory, void **array, size_t *capacity, size_t count, size_t size)
{
	size_t larger = *capacity + *capacity / 2 + 64;
	void *moved;
	int r;

	if (count < *capacity)
		return 0;
	if (larger >= GRAIN_NONE) {
		larger = GRAIN_NONE - 1;
		if (count >= larger)
			return -E2BIG;
	}
	r = take(memory, (uint64_t)(larger - *capacity) * size);
	if (r < 0)
		return r;
	moved = large__grown(*array, larger * size);
	if (!moved) {
		memory->used -= (uint64_t)(larger - *capacity) * size;
		return -ENOMEM;
	}
	*array = moved;
	*capacity = larger;
	return 0;
}

void memory__reserve(struct memory *memory, void **array, size_t *capacity, size_t count, size_t size)
{
	void *moved;

	if (count >= GRAIN_NONE || count * size < LARGE_ARRAY || count <= *capacity ||
	    count * size > (memory->max - memory->used) / 4)
		return;
	moved = large__grown(*array, count * size);
	if (!moved)
		return;
	memory->used += (uint64_t)(count - *capacity) * size;
	*array = moved;
	*capacity = count;
}

int memory__array(struct memory *memory, size_t count, size_t size, void **out)
{
	void *array;
	int r;

	if (count > UINT64_MAX / size)
		return -E2BIG;
	r = take(memory, (uint64_t)count * size);
	if (r < 0)
		return r;
	array = large__zeroed(count * size);
	if (!array) {
		memory->used -= (uint64_t)count * size;
		return -ENOMEM;
	}
	*out = array;
	return 0;
}

void memory__release(struct memory *memory, void **array, size_t count, size_t size)
{
	if (!*array)
		return;
	free(*array);
	*array = NULL;
	memory->used -= (uint64_t)count * size;
}
