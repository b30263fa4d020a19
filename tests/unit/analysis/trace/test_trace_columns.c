// SPDX-License-Identifier: BSD-2-Clause
/* Columns of events: whatever is in them comes back, and what does not fit its chunk is refused. */
#include "analysis/trace/trace_columns.h"
#include "daemon/common/trace/column_packer.h"
#include "tests/unit/check.h"
#include "tests/unit/noise.h"

#include <errno.h>
#include <stdlib.h>

#define MOST 3000

enum content { NOTHING, FEW, MANY, SMALL, HALF, WORDS, ANY, CONTENTS };

static uint64_t value_of(enum content content)
{
	switch (content) {
	case NOTHING:
		return 0;
	case FEW:
		return 0x7f0000001000u + noise() % 7 * 4096;
	case MANY:
		return 0x7f0000001000u + noise() % 290 * 8;
	case SMALL:
		return noise() % 256;
	case HALF:
		return noise() % 65536;
	case WORDS:
		return noise() % 0x100000000u;
	default:
		return noise() >> noise() % 64;
	}
}

struct chunk {
	uint64_t value[TRACE_COLUMNS][MOST];
	char raw[sizeof(struct trace_events_head) + TRACE_COLUMNS * COLUMN_PACKED_MAX(MOST, 8)];
	size_t bytes;
};

static const unsigned widths[TRACE_COLUMNS] = {8, 8, 8, 8, 4, 4, 2, 1, 1, 8};

/* As the writer does: each column in the width that it has in memory. */
static void write_chunk(struct column_packer *packer, struct chunk *chunk, size_t count)
{
	struct trace_events_head head = {.count = (uint32_t)count,
					 .columns = TRACE_COLUMNS_PACKED,
					 .base_ns = 77};
	char *to = chunk->raw + sizeof(head);
	static uint64_t column[MOST];

	memcpy(chunk->raw, &head, sizeof(head));
	for (int k = 0; k < TRACE_COLUMNS; k++) {
		for (size_t i = 0; i < count; i++)
			memcpy((char *)column + i * widths[k], &chunk->value[k][i], widths[k]);
		to += column_packer__write(packer, to, column, widths[k], count, noise() & 1);
	}
	chunk->bytes = (size_t)(to - chunk->raw);
}

static void test_round_trip(struct column_packer *packer, struct chunk *chunk)
{
	static const size_t counts[] = {0, 1, 2, 9, 511, 512, 513, MOST};
	size_t different = 0, refused = 0, tables = 0, columns = 0;
	struct trace_columns_read read;
	static uint64_t out[MOST];
	char why[128];

	for (int round = 0; round < 400; round++) {
		size_t count = counts[round % (sizeof(counts) / sizeof(counts[0]))];

		for (int k = 0; k < TRACE_COLUMNS; k++) {
			enum content content = (enum content)(noise() % CONTENTS);

			for (size_t i = 0; i < count; i++)
				chunk->value[k][i] = value_of(content) & (UINT64_MAX >> (64 - 8 * widths[k]));
		}
		write_chunk(packer, chunk, count);
		if (trace_columns__find(&read, chunk->raw, chunk->bytes, why)) {
			refused++;
			continue;
		}
		different += read.count != count || read.base_ns != 77 || !read.zigzag;
		for (int k = 0; k < TRACE_COLUMNS; k++) {
			size_t half = count / 2;

			trace_columns__values(&read, (enum trace_column)k, 0, half, out);
			trace_columns__values(&read, (enum trace_column)k, half, count - half, out + half);
			different += memcmp(out, chunk->value[k], count * sizeof(*out)) != 0;
			tables += read.column[k].table != NULL;
			columns++;
		}
	}
	CHECK(!different && !refused && tables > 100,
	      "%zu columns come back, %zu by a table; %zu do not, %zu refused", columns, tables, different,
	      refused);
}

/* A chunk of one event whose columns are empty but for one head. */
static int forge(struct trace_column_head head, size_t rest, int column, const char *what)
{
	struct trace_events_head events = {.count = 1, .columns = TRACE_COLUMNS_PACKED};
	char *raw = calloc(1, 1024), *at = raw + sizeof(events), why[128] = "";
	struct trace_columns_read read;
	int r;

	memcpy(raw, &events, sizeof(events));
	at += column * (int)sizeof(head);
	memcpy(at, &head, sizeof(head));
	r = trace_columns__find(&read, raw, sizeof(events) + TRACE_COLUMNS * sizeof(head) + rest, why);
	CHECK(what ? r == -EBADMSG && strstr(why, what) : r == 0, "width %u, %u values in column %d: %s",
	      head.width, head.values, column, r ? why : "taken");
	free(raw);
	return r;
}

static void test_hostile(struct column_packer *packer, struct chunk *chunk)
{
	struct trace_columns_read read;
	size_t taken = 0;
	char why[128];

	forge((struct trace_column_head){0, 0}, 0, 0, NULL);
	forge((struct trace_column_head){8, 0}, 8, 1, NULL);
	forge((struct trace_column_head){8, 0}, 7, 1, "does not fit");
	forge((struct trace_column_head){8, 0}, 9, 1, "does not fit");
	forge((struct trace_column_head){3, 0}, 3, 1, "unknown width 3");
	forge((struct trace_column_head){16, 0}, 16, 1, "unknown width 16");
	forge((struct trace_column_head){4, 0}, 4, 6, "unknown width 4");
	forge((struct trace_column_head){4, 1}, 12, 2, "unknown width 4");
	forge((struct trace_column_head){1, 70000}, 100, 2, "unknown width 1");
	forge((struct trace_column_head){1, 60000}, 100, 2, "does not fit");
	forge((struct trace_column_head){0, 1}, 8, 2, "unknown width 0");
	/* The next column's head, of zeros, is this one's table; then something is left over. */
	forge((struct trace_column_head){1, 1}, 9, 9, NULL);
	for (int k = 0; k < TRACE_COLUMNS; k++)
		for (size_t i = 0; i < 600; i++)
			chunk->value[k][i] = value_of(FEW) & (UINT64_MAX >> (64 - 8 * widths[k]));
	write_chunk(packer, chunk, 600);
	for (size_t bytes = 0; bytes < chunk->bytes; bytes++)
		taken += trace_columns__find(&read, chunk->raw, bytes, why) == 0;
	CHECK(taken == 0, "none of %zu chunks that are cut off is taken", chunk->bytes);
	taken = 0;
	for (int round = 0; round < 20000; round++) {
		size_t at = noise() % chunk->bytes;
		char before = chunk->raw[at];
		bool fits;

		chunk->raw[at] = (char)noise();
		fits = trace_columns__find(&read, chunk->raw, chunk->bytes, why) == 0;

		taken += fits;
		for (int k = 0; fits && k < TRACE_COLUMNS; k++)
			for (size_t i = 0; read.column[k].table && i < read.count; i += 7) {
				uint64_t v;

				trace_columns__values(&read, (enum trace_column)k, i, 1, &v);
			}
		chunk->raw[at] = before;
	}
	CHECK(taken > 0 && taken < 20000,
	      "of 20000 damaged ones %zu still fit, and are read within their bounds", taken);
}

int main(void)
{
	struct chunk *chunk = malloc(sizeof(*chunk));
	struct column_packer *packer = NULL;

	if (!chunk || column_packer__new(&packer))
		return 1;
	test_round_trip(packer, chunk);
	test_hostile(packer, chunk);
	column_packer__free(packer);
	free(chunk);
	CHECK_DONE();
}
