/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A load takes a limited amount of memory. This file has the limit, arrays that grow within it, and the error
 * messages of a load. Internal to analysis.
 */
#ifndef GRAIND_BUDGET_H
#define GRAIND_BUDGET_H

#include "analysis/include/grain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

/* The number of bytes that a load may still take. */
struct budget {
	uint64_t left;
};

/* Returns the memory limit in bytes for a load and the graph that it makes. */
uint64_t memory_bound(const struct grain_load_opts *opts);
/* Writes the end of the message for -E2BIG: which limit was too small, and what to do. */
void memory_bound__say(uint64_t bytes, char text[160]);

void budget__init(struct budget *budget, const struct grain_load_opts *opts);
/* Returns 0, or -E2BIG if fewer bytes are left. */
static inline int budget__take(struct budget *budget, uint64_t bytes)
{
	if (bytes > budget->left)
		return -E2BIG;
	budget->left -= bytes;
	return 0;
}
void budget__give(struct budget *budget, uint64_t bytes);

/* Fills *err unless it is NULL. Returns `error`. */
int load_error(struct grain_error *err, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As load_error(), for -ENOMEM or -E2BIG: the message says that there was not enough memory for `path`. */
int load_error__memory(struct grain_error *err, int error, const char *path,
		       const struct grain_load_opts *opts);

/*
 * Makes room for one more element in an array with `count` elements. The capacity is not stored: it is the
 * next power of two, at least 8.
 */
int array__grow(void *array_pointer, size_t count, size_t element_bytes, struct budget *budget);
/*
 * As array__grow(), for an array whose capacity is stored. Doubles the capacity if needed. New elements are
 * not zeroed.
 */
int array__make_room(void *array_pointer, size_t count, size_t *capacity, size_t element_bytes,
		     struct budget *budget);

#endif
