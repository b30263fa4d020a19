/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a chunk of events, packed or plain. Internal to analysis. */
#ifndef GRAIND_TRACE_COLUMNS_READ_H
#define GRAIND_TRACE_COLUMNS_READ_H

#include "analysis/trace/trace_format.h"

#include <stdbool.h>

enum trace_column {
	COLUMN_TIME,
	COLUMN_KEY,
	COLUMN_SITE,
	COLUMN_FRAME,
	COLUMN_TID,
	COLUMN_ARG,
	COLUMN_CPU,
	COLUMN_KIND,
	COLUMN_FLAGS,
	COLUMN_EXTRA,
};

struct trace_columns_read {
	size_t count;
	uint64_t base_ns;
	bool zigzag; /* the values are differences of times; the lowest bit is the sign */
	struct {
		const char *at;	   /* the column's numbers, of `width` bytes */
		const char *table; /* NULL: the numbers are the values */
		uint32_t width, values;
	} column[TRACE_COLUMNS];
};

/*
 * Finds the columns in a chunk's payload. The payload must outlive them. Checks every index into a table.
 * Returns 0, or -EBADMSG with the reason in `why`.
 */
int trace_columns__find(struct trace_columns_read *columns, const char *raw, size_t bytes, char why[128]);

/* Reads the numbers of events [from, from + count) as they are stored: values, or indices into the table. */
void trace_columns__numbers(const struct trace_columns_read *columns, enum trace_column column, size_t from,
			    size_t count, uint64_t *out);
/* Reads the values of events [from, from + count). */
void trace_columns__values(const struct trace_columns_read *columns, enum trace_column column, size_t from,
			   size_t count, uint64_t *out);
/* Returns entry number `place` of the column's table. */
uint64_t trace_columns__entry(const struct trace_columns_read *columns, enum trace_column column,
			      uint32_t place);

#endif
