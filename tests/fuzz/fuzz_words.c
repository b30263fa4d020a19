// SPDX-License-Identifier: BSD-2-Clause
/*
 * The analysis on words that a hostile process wrote (TRACE_CHUNK_WORDS). The
 * input says which, in few bytes an event, so that plain mutation makes programs:
 *
 *   0            the chunk ends; the next byte is the stream that goes on
 *   1            a site: number, address
 *   2            one word as it is, 8 bytes
 *   62           the chunk has a dictionary, with so many values and so many others more than it has
 *   any other    an event: site, arg, ticks, then the words on top of its kind
 *
 * Numbers are one byte: below 248 themselves, above it the bytes that follow or an edge.
 */
#include "tests/fuzz/fuzz_analysis.h"
#include "tests/fuzz/trace_chunks.h"

enum { WORDS = 2048, SITES = 64, FILE_BYTES = 1 << 18 };

static struct {
	const uint8_t *at, *end;
	uint64_t words[WORDS];
	struct trace_word_site sites[SITES];
	struct trace_words_head head;
	bool dictionary;
	struct trace_words_dictionary more;
	uint8_t raw[sizeof(struct trace_words_head) + SITES * sizeof(struct trace_word_site) + WORDS * 10];
	uint8_t file[FILE_BYTES];
	size_t used;
	uint64_t sequence;
} f;

static uint64_t bytes(size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count && f.at < f.end; i++)
		value |= (uint64_t)*f.at++ << 8 * i;
	return value;
}

static uint64_t number(void)
{
	static const uint64_t edges[] = {UINT64_MAX, INT64_MAX, UINT32_MAX, UINT64_C(1) << 40, 0};
	uint64_t first = bytes(1);

	if (first < 248)
		return first;
	if (first < 251)
		return bytes(first == 248 ? 2 : first == 249 ? 4 : 8);
	return edges[first - 251];
}

/* Each of the first lower halves is a value by itself, the rest are others. */
static size_t lay_out_dictionary(void)
{
	size_t at = sizeof(f.head) + f.head.sites * sizeof(f.sites[0]), count = f.head.words;
	struct trace_words_dictionary head = {.values = count < 100 ? (uint32_t)count : 100};
	uint8_t *places;

	memcpy(f.raw, &f.head, sizeof(f.head));
	memcpy(f.raw + sizeof(f.head), f.sites, f.head.sites * sizeof(f.sites[0]));
	head.others = (uint32_t)count - head.values;
	places = f.raw + at + sizeof(head) + count * sizeof(uint32_t);
	for (size_t i = 0; i < count; i++) {
		uint32_t lower = (uint32_t)f.words[i];

		memcpy(f.raw + at + sizeof(head) + i * sizeof(lower), &lower, sizeof(lower));
		places[i] = i < head.values ? (uint8_t)i : TRACE_WORDS_OTHER;
		for (unsigned b = 0; b < 4; b++)
			places[(b + 1) * count + i] = (uint8_t)(f.words[i] >> (32 + 8 * b));
	}
	head.values += f.more.values;
	head.others += f.more.others;
	memcpy(f.raw + at, &head, sizeof(head));
	return at + sizeof(head) + count * 9;
}

static void end_chunk(void)
{
	size_t size = f.dictionary ? lay_out_dictionary()
				   : trace_chunks__lay_out(f.raw, sizeof(f.raw), &f.head, f.sites, f.words);

	f.used = trace_chunks__put(f.file, f.used, FILE_BYTES, TRACE_CHUNK_WORDS,
				   f.dictionary ? TRACE_CODEC_DICTIONARY : TRACE_CODEC_NONE, f.raw, size,
				   f.sequence++);
	f.dictionary = false;
	f.head.words = f.head.sites = 0;
	f.head.stream = (uint32_t)number();
	f.head.tid = 100 + f.head.stream;
	f.head.ticks[1] += number() * 16;
	f.head.ns[1] = f.head.ticks[1] / 2;
}

static void put_word(uint64_t word)
{
	if (f.head.words < WORDS)
		f.words[f.head.words++] = word;
}

static void put_event(uint32_t kind)
{
	static const uint8_t on_top[64] = {
		[TRACE_DEPEND] = 1,	  [TRACE_TEAM_STARTED] = 1,   [TRACE_TASKLOOP_BEGIN] = 1,
		[TRACE_TASK_FULFILL] = 1, [TRACE_SECTIONS_BEGIN] = 1, [TRACE_SECTION_BEGIN] = 1,
		[TRACE_WORD_JOIN] = 1,	  [TRACE_WORD_CPU] = 1,	      [TRACE_WORD_TIME] = 1,
		[TRACE_REGION_BEGIN] = 2, [TRACE_TEAM_START] = 2,     [TRACE_MEMBER_BEGIN] = 2,
		[TRACE_TASK_BOUNDS] = 2,  [TRACE_LOOP_PARAMS] = 2,    [TRACE_LOCK_WAIT] = 2,
		[TRACE_WORD_LOST] = 2,	  [TRACE_LOOP_BEGIN] = 3,     [TRACE_WORD_TURN] = 1,
		[TRACE_WORD_NOTHING] = 0, [TRACE_WORD_HERE] = 2,
	};
	uint64_t site = number(), arg = number();
	unsigned count = on_top[kind];

	put_word(kind | (site & (TRACE_WORD_SITES - 1)) << 6 | (arg & 0x1fff) << 19 | number() << 32);
	if (kind == TRACE_TASK_CREATE)
		count = arg & TRACE_TASK_DETACH ? 1 : 0;
	else if (kind == TRACE_TASK_BEGIN)
		count = arg & 0x1fff ? 0 : 1;
	else if (kind == TRACE_CHUNK_BEGIN)
		count = arg & TRACE_WORD_SHORT ? 1 : 2;
	else if (kind == TRACE_COUNTERS)
		count = TRACE_WORD_COUNTERS_COUNT(arg);
	if (kind == TRACE_WORD_HERE)
		put_word(arg & 1 ? number() : TRACE_WORD_HERE_MARK);
	for (unsigned i = 0; i < count; i++)
		put_word(number());
}

static void put_dictionary(void)
{
	f.dictionary = true;
	f.more.values = (uint32_t)number();
	f.more.others = (uint32_t)number();
}

static void put_site(void)
{
	uint32_t at = (uint32_t)number();
	uint64_t address = 0x401000 + number();

	if (f.head.sites < SITES)
		f.sites[f.head.sites++] = (struct trace_word_site){.number = at, .address = address};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "@capture source=shim late=0\n";

	f.at = data;
	f.end = data + size;
	f.sequence = 0;
	f.dictionary = false;
	f.head = (struct trace_words_head){.tid = 100, .ticks = {1000, 2000000}, .ns = {500, 1000000}};
	f.used = trace_chunks__begin(f.file, FILE_BYTES, size % 3 ? 0 : TRACE_PART);
	f.used = trace_chunks__put(f.file, f.used, FILE_BYTES, TRACE_CHUNK_TEXT, TRACE_CODEC_NONE,
				   (const uint8_t *)text, sizeof(text) - 1, f.sequence++);
	while (f.at < f.end) {
		uint32_t kind = (uint32_t)bytes(1) & 63;

		if (kind == 0)
			end_chunk();
		else if (kind == 1 && bytes(1) & 1)
			put_site();
		else if (kind == 2 && bytes(1) & 1)
			put_word(bytes(8));
		else if (kind == 62)
			put_dictionary();
		else
			put_event(kind);
	}
	end_chunk();
	f.used = trace_chunks__put(f.file, f.used, FILE_BYTES, TRACE_CHUNK_END, TRACE_CODEC_NONE, NULL, 0,
				   f.sequence);
	analysis_fuzz(f.file, f.used);
	return 0;
}
