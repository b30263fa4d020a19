// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace/trace_columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint32_t widths[TRACE_COLUMNS] = {8, 8, 8, 8, 4, 4, 2, 1, 1, 8};

static int refuse(char why[128], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(char why[128], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, 128, format, args);
	va_end(args);
	return -EBADMSG;
}

void trace_columns__numbers(const struct trace_columns_read *c, enum trace_column column, size_t from,
			    size_t count, uint64_t *out)
{
	uint32_t width = c->column[column].width;
	const char *at = c->column[column].at + from * width;
	uint16_t half;
	uint32_t word;

	switch (width) {
	case 0:
		memset(out, 0, count * sizeof(*out));
		break;
	case 1:
		for (size_t i = 0; i < count; i++)
			out[i] = (uint8_t)at[i];
		break;
	case 2:
		for (size_t i = 0; i < count; i++) {
			memcpy(&half, at + i * sizeof(half), sizeof(half));
			out[i] = half;
		}
		break;
	case 4:
		for (size_t i = 0; i < count; i++) {
			memcpy(&word, at + i * sizeof(word), sizeof(word));
			out[i] = word;
		}
		break;
	default:
		memcpy(out, at, count * sizeof(*out));
		break;
	}
}

uint64_t trace_columns__entry(const struct trace_columns_read *c, enum trace_column column, uint32_t place)
{
	uint64_t value;

	memcpy(&value, c->column[column].table + place * sizeof(value), sizeof(value));
	return value;
}

void trace_columns__values(const struct trace_columns_read *c, enum trace_column column, size_t from,
			   size_t count, uint64_t *out)
{
	trace_columns__numbers(c, column, from, count, out);
	for (size_t i = 0; c->column[column].table && i < count; i++)
		out[i] = trace_columns__entry(c, column, (uint32_t)out[i]);
}

static int find_plain(struct trace_columns_read *c, const char *at, size_t bytes, bool extra, char why[128])
{
	size_t event_bytes = TRACE_EVENT_COLUMN_BYTES - (extra ? 0 : sizeof(uint64_t));

	if (bytes != c->count * event_bytes)
		return refuse(why, "a chunk whose length does not fit its %zu events", c->count);
	for (size_t i = 0; i < TRACE_COLUMNS; i++) {
		uint32_t width = i == COLUMN_EXTRA && !extra ? 0 : widths[i];

		c->column[i].at = at;
		c->column[i].table = NULL;
		c->column[i].width = width;
		c->column[i].values = 0;
		at += c->count * width;
	}
	return 0;
}

/* Returns the largest number of a column that has a table. Its numbers have 1 or 2 bytes. */
static uint32_t largest(const struct trace_columns_read *c, enum trace_column column)
{
	const char *at = c->column[column].at;
	uint8_t most_byte = 0;
	uint16_t most = 0, number;

	if (c->column[column].width == 1) {
		for (size_t i = 0; i < c->count; i++)
			most_byte = (uint8_t)at[i] > most_byte ? (uint8_t)at[i] : most_byte;
		return most_byte;
	}
	for (size_t i = 0; i < c->count; i++) {
		memcpy(&number, at + i * sizeof(number), sizeof(number));
		most = number > most ? number : most;
	}
	return most;
}

static int find_packed(struct trace_columns_read *c, const char *at, size_t bytes, char why[128])
{
	static const char no_fit[] = "a column of events that does not fit its chunk";
	struct trace_column_head head;

	for (size_t i = 0; i < TRACE_COLUMNS; i++) {
		size_t needed;

		if (bytes < sizeof(head))
			return refuse(why, no_fit);
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		bytes -= sizeof(head);
		if (head.width > 8 || (head.width & (head.width - 1)) || head.values > UINT16_MAX + 1 ||
		    (head.values && head.width != 1 && head.width != 2) ||
		    (!head.values && head.width > widths[i]))
			return refuse(why, "a column of events of unknown width %u", head.width);
		needed = head.values * sizeof(uint64_t) + c->count * head.width;
		if (bytes < needed)
			return refuse(why, no_fit);
		c->column[i].table = head.values ? at : NULL;
		c->column[i].at = at + head.values * sizeof(uint64_t);
		c->column[i].width = head.width;
		c->column[i].values = head.values;
		at += needed;
		bytes -= needed;
		if (head.values && c->count && largest(c, (enum trace_column)i) >= head.values)
			return refuse(why, "an event with a value that its column's table does not have");
	}
	return bytes ? refuse(why, no_fit) : 0;
}

int trace_columns__find(struct trace_columns_read *c, const char *raw, size_t bytes, char why[128])
{
	struct trace_events_head head;

	if (bytes < sizeof(head))
		return refuse(why, "a chunk of events without its head");
	memcpy(&head, raw, sizeof(head));
	if (head.columns & ~(uint32_t)(TRACE_COLUMN_EXTRA | TRACE_COLUMNS_PACKED))
		return refuse(why, "columns of events that are not known; was it written by a newer graind?");
	if (head.count > TRACE_CHUNK_MAX_EVENTS)
		return refuse(why, "a chunk whose length does not fit its %u events", head.count);
	c->count = head.count;
	c->base_ns = head.base_ns;
	c->zigzag = head.columns & TRACE_COLUMNS_PACKED;
	raw += sizeof(head);
	bytes -= sizeof(head);
	return c->zigzag ? find_packed(c, raw, bytes, why)
			 : find_plain(c, raw, bytes, head.columns & TRACE_COLUMN_EXTRA, why);
}
