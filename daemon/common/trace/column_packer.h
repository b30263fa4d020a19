/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compresses columns of events to as few bytes as they need (struct trace_column_head in
 * analysis/trace/trace_format.h).
 */
#ifndef GRAIND_COLUMN_PACKER_H
#define GRAIND_COLUMN_PACKER_H

#include "analysis/trace/trace_format.h"

#include <stdbool.h>

struct column_packer;

int column_packer__new(struct column_packer **out);
void column_packer__free(struct column_packer *packer); /* accepts NULL */

/* The most bytes that `count` values of `width` bytes can take. */
#define COLUMN_PACKED_MAX(count, width) (sizeof(struct trace_column_head) + (count) * (width))

/*
 * Writes a column's head and its `count` values to `to`, which must have room for COLUMN_PACKED_MAX()
 * bytes. Each value has `width` bytes (1, 2, 4, 8) in memory. `few`: the column probably has few distinct
 * values. Returns the number of bytes written.
 */
size_t column_packer__write(struct column_packer *packer, char *to, const void *values, unsigned width,
			    size_t count, bool few);

#endif
