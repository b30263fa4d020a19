/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The graph as columns of small numbers. data.js of the page reads them. PAGE.md, "Columns", describes the
 * format.
 */
#ifndef GRAIND_RENDER_PAGE_COLUMNS_H
#define GRAIND_RENDER_PAGE_COLUMNS_H

#include "analysis/include/grain.h"

struct page_column {
	char name[32];
	uint8_t *data; /* LEB128 numbers, or bytes of text */
	size_t bytes, capacity;
};

#define PAGE_COLUMNS_MAX 96
#define PAGE_COUNTERS_MAX 16 /* the largest number of counters that are shown */

struct page_columns {
	struct page_column column[PAGE_COLUMNS_MAX + 1];
	size_t count;
	uint64_t tick_ns;    /* unit of all times, a power of two: */
	unsigned tick_shift; /* 1 << tick_shift */
	uint64_t start_ns;
	uint32_t *tids; /* the threads; the fragments' column has indices into this list */
	size_t thread_count;
	size_t contexts, fragments, joins, regions, loops, dependences;
	uint32_t *items;   /* items of the fragments, in their order */
	uint32_t *parents; /* parents of the contexts */
	bool cpu_known, counters_exact, bounds;
	bool metric[GRAIN_PROBLEM_COUNT]; /* per problem: whether its metric has a column */
	struct page_column *counter[PAGE_COUNTERS_MAX];
	size_t counters;
};

/* page_fill.c: fills all columns. Returns 0 or -ENOMEM. Free the columns in both cases. */
int page_columns__fill(struct page_columns *columns, const struct grain_graph *graph);
void page_columns__free(struct page_columns *columns); /* frees the contents; accepts NULL */
/* Returns 0, or -ENOMEM if a column could not grow. */
int page_columns__check(const struct page_columns *columns);

/* Adds an empty column. */
struct page_column *page_columns__add(struct page_columns *columns, const char *name);
/* Makes room for `more` more bytes. Returns false if out of memory, now or in an earlier call. */
bool page_column__reserve(struct page_column *column, size_t more);
/* Appends a number. After a failure the column's data is NULL, and further calls do nothing. */
static inline void page_column__number(struct page_column *column, uint64_t value)
{
	if (column->bytes + 10 > column->capacity && !page_column__reserve(column, 10))
		return;
	for (; value >= 0x80; value >>= 7)
		column->data[column->bytes++] = (uint8_t)(value | 0x80);
	column->data[column->bytes++] = (uint8_t)value;
}

static inline uint64_t page_column__zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline void page_column__signed(struct page_column *column, int64_t value)
{
	page_column__number(column, page_column__zigzag(value));
}

void page_column__text(struct page_column *column, const char *text, size_t bytes);
/* Whether the column has only zeros. Then a reader does not need it. */
bool page_column__is_zero(const struct page_column *column);

#endif
