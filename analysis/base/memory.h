/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing and fixed arrays under the graph's memory bound. Internal to analysis. */
#ifndef GRAIND_MEMORY_H
#define GRAIND_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of bytes. */
struct memory {
	uint64_t used, max;
};

/*
 * Makes room for one more element in a growing array. -E2BIG when the bound of `memory` is reached. On
 * failure the array is unchanged.
 */
int memory__grow(struct memory *memory, void **array, size_t *capacity, size_t count, size_t size);
/*
 * Reserves room for the expected number of elements, if that number is large and the bound leaves plenty.
 * Unused memory costs nothing, but growing step by step does.
 */
void memory__reserve(struct memory *memory, void **array, size_t *capacity, size_t count, size_t size);
/*
 * Allocates a zeroed array of a fixed length, which counts against the bound. *out may be NULL for length 0.
 * Returns 0, -ENOMEM or -E2BIG.
 */
int memory__array(struct memory *memory, size_t count, size_t size, void **out);
/* Frees an array that memory__array made and gives its bytes back to the bound. */
void memory__release(struct memory *memory, void **array, size_t count, size_t size);

#define GROW(graph, field, count, capacity)                                                                  \
	((graph)->count < (graph)->capacity                                                                  \
		 ? 0                                                                                         \
		 : memory__grow(&(graph)->memory, (void **)&(graph)->field, &(graph)->capacity,              \
				(graph)->count, sizeof *(graph)->field))

#endif
