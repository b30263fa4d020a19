/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The graph as columns of small numbers, for the report's page: what
 * page/data.js reads again. README.md, "Columns", is the format.
 */
#ifndef GRAIND_RENDER_PAGE_COLUMNS_H
#define GRAIND_RENDER_PAGE_COLUMNS_H

#include "analysis/grain.h"

struct page_column {
	char name[32];
	uint8_t *data; /* LEB128 numbers, or bytes of text */
	size_t bytes, capacity;
};

#define PAGE_COLUMNS_MAX 96
#define PAGE_COUNTERS_MAX 16 /* of the capture's counters, so many are shown */

struct page_columns {
	struct page_column column[PAGE_COLUMNS_MAX + 1];
	size_t count;
	uint64_t tick_ns;    /* unit of all times, a power of two: */
	unsigned tick_shift; /* 1 << tick_shift */
	uint64_t start_ns;
	uint32_t *tids; /* of the threads, in the order of the fragments' columns */
	size_t thread_count;
	size_t contexts, fragments, joins, regions, loops, dependences;
	uint32_t *items;   /* of the fragments, in their order */
	uint32_t *parents; /* of the contexts */
	bool cpu_known, counters_exact, bounds;
	bool metric[GRAIN_PROBLEM_COUNT]; /* has a column of its own */
	struct page_column *counter[PAGE_COUNTERS_MAX];
	size_t counters;
};

/* 0 or -ENOMEM; to be released in either case. */
int page_columns__fill(struct page_columns *columns, const struct grain_graph *graph);
void page_columns__free(struct page_columns *columns); /* of its contents; accepts NULL */
/* -ENOMEM when one of the columns could not grow. */
int page_columns__check(const struct page_columns *columns);

/* A new column, empty. */
struct page_column *page_columns__add(struct page_columns *columns, const char *name);
/* Room for so many bytes more; false: there is none, now or since an earlier call. */
bool page_column__reserve(struct page_column *column, size_t more);
/* Appends; after a failure the column is NULL-ed and further ones do nothing. */
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
/* Nothing but zeros: a reader needs no column for that. */
bool page_column__is_zero(const struct page_column *column);

#endif
