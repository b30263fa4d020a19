// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fuzzes the analysis with hostile traces (make fuzz-trace). A changed byte of a trace would only give a
 * wrong checksum. So a trace is taken apart, its events and lines are changed, and it is put together again.
 * Without libFuzzer the program replays the files that it is given.
 */
#include "tests/fuzz/fuzz_analysis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	analysis_fuzz(data, size);
	return 0;
}

#ifndef REPLAY
#include "analysis/trace/trace_columns.h"
#include "tests/fuzz/trace_chunks.h"

#include <zstd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { MOST_EVENTS = 400, MOST_TEXT = 4096, MOST_RAW = 1 << 18 };

struct record {
	uint64_t time, key, site, frame, extra;
	uint32_t tid, arg;
	uint16_t cpu;
	uint8_t kind, flags;
};

/* A trace that was taken apart. */
static struct {
	struct record records[MOST_EVENTS + 1];
	size_t count;
	uint8_t text[MOST_TEXT];
	size_t text_bytes;
	uint8_t raw[MOST_RAW];
	bool ended;
} t;

static unsigned state;

static uint64_t below(uint64_t n)
{
	state = state * 1664525u + 1013904223u;
	return n ? (state >> 8) % n : 0;
}

static void take_events(const uint8_t *raw, size_t bytes)
{
	struct trace_columns_read columns;
	uint64_t v[TRACE_COLUMNS], now;
	char why[128];

	if (trace_columns__find(&columns, (const char *)raw, bytes, why))
		return;
	now = columns.base_ns;
	for (size_t i = 0; i < columns.count && t.count < MOST_EVENTS; i++) {
		struct record *r = &t.records[t.count++];

		for (int k = 0; k < TRACE_COLUMNS; k++)
			trace_columns__values(&columns, (enum trace_column)k, i, 1, &v[k]);
		now += columns.zigzag ? v[0] >> 1 ^ (0 - (v[0] & 1)) : v[0];
		*r = (struct record){.time = now,
				     .key = v[COLUMN_KEY],
				     .site = v[COLUMN_SITE],
				     .frame = v[COLUMN_FRAME],
				     .tid = (uint32_t)v[COLUMN_TID],
				     .arg = (uint32_t)v[COLUMN_ARG],
				     .cpu = (uint16_t)v[COLUMN_CPU],
				     .kind = (uint8_t)v[COLUMN_KIND],
				     .flags = (uint8_t)v[COLUMN_FLAGS],
				     .extra = v[COLUMN_EXTRA]};
	}
}

static void take_apart(const uint8_t *data, size_t size)
{
	size_t at = sizeof(struct trace_header);

	t.count = t.text_bytes = 0;
	t.ended = false;
	while (at + sizeof(struct trace_chunk) <= size) {
		struct trace_chunk chunk;
		const uint8_t *raw = data + at + sizeof(chunk);
		size_t bytes;

		memcpy(&chunk, data + at, sizeof(chunk));
		at += sizeof(chunk);
		if (chunk.magic != TRACE_CHUNK_MAGIC || chunk.stored_bytes > size - at)
			break;
		at += chunk.stored_bytes;
		bytes = chunk.stored_bytes;
		if (chunk.codec == TRACE_CODEC_ZSTD) {
			bytes = ZSTD_decompress(t.raw, MOST_RAW, raw, chunk.stored_bytes);
			raw = t.raw;
			if (ZSTD_isError(bytes))
				continue;
		}
		if (chunk.type == TRACE_CHUNK_EVENTS) {
			take_events(raw, bytes);
		} else if (chunk.type == TRACE_CHUNK_TEXT && t.text_bytes + bytes <= MOST_TEXT) {
			memcpy(t.text + t.text_bytes, raw, bytes);
			t.text_bytes += bytes;
		}
		t.ended |= chunk.type == TRACE_CHUNK_END;
	}
}

static uint64_t any_number(void)
{
	static const uint64_t edges[] = {0,	     1,	      2, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
					 UINT32_MAX, 1u << 31};

	return below(3) ? below(8) : edges[below(8)];
}

static void change_record(struct record *r)
{
	const struct record *other = &t.records[below(t.count)];

	switch (below(11)) {
	case 0:
		r->kind = (uint8_t)(1 + below(TRACE_KIND_MAX - 1));
		break;
	case 1:
		r->arg = below(2) ? (uint32_t)below(9) : (uint32_t)any_number() | 1u << below(32);
		break;
	case 2:
		r->key = below(2) ? other->key : any_number();
		break;
	case 3:
		r->frame = other->frame + 8 * below(4) - 16;
		break;
	case 4:
		r->tid = below(8) ? other->tid : (uint32_t)below(6);
		break;
	case 5:
		r->extra = below(2) ? other->extra : any_number();
		break;
	case 6:
		r->time = below(8) ? other->time + below(3) : any_number();
		break;
	case 7:
		r->site = other->site;
		break;
	case 8:
		r->flags ^= TRACE_F_FAULT;
		break;
	default:
		r->kind = other->kind;
		r->arg = other->arg;
		break;
	}
}

static void change_events(void)
{
	size_t at = below(t.count), to = below(t.count), n;
	struct record r = t.records[at];

	switch (t.count ? below(6) : 0) {
	case 0:
		/* One more, like another. */
		if (t.count >= MOST_EVENTS)
			break;
		if (!t.count)
			r = (struct record){.time = 1, .tid = 1, .frame = 1000, .kind = TRACE_TASK_BEGIN};
		memmove(&t.records[to + 1], &t.records[to], (t.count - to) * sizeof(r));
		r.time = t.count ? t.records[to].time : 1;
		t.records[to] = r;
		t.count++;
		change_record(&t.records[to]);
		break;
	case 1:
		n = 1 + below(below(4) ? 2 : t.count - at);
		n = n > t.count - at ? t.count - at : n;
		memmove(&t.records[at], &t.records[at + n], (t.count - at - n) * sizeof(r));
		t.count -= n;
		break;
	case 2:
		t.records[at] = t.records[to];
		t.records[to] = r;
		break;
	default:
		change_record(&t.records[at]);
		break;
	}
}

static uint64_t value_of(const struct record *r, int column, uint64_t before)
{
	uint64_t d = r->time - before;
	const uint64_t v[TRACE_COLUMNS] = {d << 1 ^ (uint64_t)((int64_t)d >> 63),
					   r->key,
					   r->site,
					   r->frame,
					   r->tid,
					   r->arg,
					   r->cpu,
					   r->kind,
					   r->flags,
					   r->extra};

	return v[column];
}

/* Packed, some columns with a table; now and then a head that does not fit. */
static size_t lay_out_packed(void)
{
	struct trace_events_head head = {.count = (uint32_t)t.count, .columns = TRACE_COLUMNS_PACKED};
	static const uint32_t widths[TRACE_COLUMNS] = {8, 8, 8, 8, 4, 4, 2, 1, 1, 8};
	uint8_t *to = t.raw + sizeof(head);
	static uint64_t table[MOST_EVENTS + 1];
	static uint16_t place[MOST_EVENTS + 1];

	memcpy(t.raw, &head, sizeof(head));
	for (int k = 0; k < TRACE_COLUMNS; k++) {
		struct trace_column_head column = {.width = widths[k]};
		bool few = below(3) == 0;

		for (size_t i = 0; i < t.count; i++) {
			uint64_t value = value_of(&t.records[i], k, i ? t.records[i - 1].time : 0);
			uint32_t at = 0;

			while (few && at < column.values && table[at] != value)
				at++;
			if (few && at == column.values)
				table[column.values++] = value;
			place[i] = (uint16_t)at;
		}
		if (few)
			column.width = 2;
		if (!below(60))
			column.width = (uint32_t)any_number();
		if (!below(60))
			column.values = (uint32_t)any_number();
		memcpy(to, &column, sizeof(column));
		to += sizeof(column);
		if (few) {
			size_t used = 0;

			for (size_t i = 0; i < t.count; i++)
				used = place[i] + 1u > used ? place[i] + 1u : used;
			memcpy(to, table, used * 8);
			to += used * 8;
		}
		for (size_t i = 0; i < t.count; i++) {
			uint64_t value =
				few ? place[i] : value_of(&t.records[i], k, i ? t.records[i - 1].time : 0);

			memcpy(to, &value, few ? 2 : widths[k]);
			to += few ? 2 : widths[k];
		}
	}
	return (size_t)(to - t.raw);
}

static size_t lay_out_events(void)
{
	struct trace_events_head head = {.count = (uint32_t)t.count, .columns = TRACE_COLUMN_EXTRA};
	uint8_t *raw = t.raw + sizeof(head);
	size_t n = t.count;
	uint64_t before = 0;

	if (below(4))
		return lay_out_packed();
	memcpy(t.raw, &head, sizeof(head));
	for (size_t i = 0; i < n; i++) {
		const struct record *r = &t.records[i];
		uint64_t delta = r->time - before;

		before = r->time;
		memcpy(raw + 8 * i, &delta, 8);
		memcpy(raw + 8 * (n + i), &r->key, 8);
		memcpy(raw + 8 * (2 * n + i), &r->site, 8);
		memcpy(raw + 8 * (3 * n + i), &r->frame, 8);
		memcpy(raw + 32 * n + 4 * i, &r->tid, 4);
		memcpy(raw + 36 * n + 4 * i, &r->arg, 4);
		memcpy(raw + 40 * n + 2 * i, &r->cpu, 2);
		raw[42 * n + i] = r->kind;
		raw[43 * n + i] = r->flags;
		memcpy(raw + 44 * n + 8 * i, &r->extra, 8);
	}
	return sizeof(head) + n * TRACE_EVENT_COLUMN_BYTES;
}

static size_t put_together(uint8_t *out, size_t room)
{
	size_t used = trace_chunks__begin(out, room, t.ended ? 0 : TRACE_INCOMPLETE), bytes;
	uint64_t sequence = 0;

	if (!used)
		return 0;
	if (t.text_bytes)
		used = trace_chunks__put(out, used, room, TRACE_CHUNK_TEXT, TRACE_CODEC_NONE, t.text,
					 t.text_bytes, sequence++);
	bytes = lay_out_events();
	/* Now and then something else than what the columns should be. */
	if (below(16) == 0)
		t.raw[below(bytes)] ^= (uint8_t)(1 + below(255));
	used = trace_chunks__put(out, used, room, TRACE_CHUNK_EVENTS, TRACE_CODEC_NONE, t.raw, bytes,
				 sequence++);
	if (t.ended)
		used = trace_chunks__put(out, used, room, TRACE_CHUNK_END, TRACE_CODEC_NONE, NULL, 0,
					 sequence);
	return used;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	state = seed;
	if (below(12) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	take_apart(data, size);
	switch (below(8)) {
	case 0:
		t.text_bytes = LLVMFuzzerMutate(t.text, t.text_bytes, MOST_TEXT - 1);
		if (t.text_bytes && t.text[t.text_bytes - 1] != '\n')
			t.text[t.text_bytes++] = '\n';
		break;
	case 1:
		t.ended = !t.ended;
		/* fall through */
	default:
		for (uint64_t n = 1 + below(4); n > 0; n--)
			change_events();
		break;
	}
	return put_together(data, max_size);
}
#endif
