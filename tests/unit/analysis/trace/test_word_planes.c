// SPDX-License-Identifier: BSD-2-Clause
/* Words of a ring: whatever is in them comes back, and what does not fit its chunk is refused. */
#include "analysis/trace/word_planes.h"
#include "daemon/common/trace/words_packer.h"
#include "tests/unit/check.h"
#include "tests/unit/noise.h"

#include <errno.h>
#include <stdlib.h>

#define MOST TRACE_WORDS_MAX

/* Of the lower halves. */
enum content { ONE, FEW, VALUES, VALUES_AND_OTHERS, CHOSEN, TOO_MANY, ANY, CONTENTS };

static uint32_t lower_of(enum content content, size_t i)
{
	switch (content) {
	case ONE:
		return 0xfffffff0u;
	case FEW:
		return (uint32_t)(noise() % 9) * 0x01010101u;
	case VALUES: /* as many as there is room for */
		return (uint32_t)(i % TRACE_WORDS_VALUES) << 13;
	case VALUES_AND_OTHERS:
		return noise() % 16 ? (uint32_t)(noise() % 200) : (uint32_t)noise();
	case CHOSEN: /* the packer looks for all of them in the same place */
		return (uint32_t)(noise() % 200) * 0x0e8b2f51u;
	case TOO_MANY:
		return (uint32_t)(noise() % 2000);
	default:
		return (uint32_t)noise();
	}
}

struct chunk {
	uint64_t words[MOST], out[MOST];
	char raw[MOST * 8];
	size_t count, bytes;
	struct packed_words packed;
};

static void write_chunk(struct words_packer *packer, struct chunk *chunk, enum content content, size_t count)
{
	for (size_t i = 0; i < count; i++)
		chunk->words[i] = lower_of(content, i) | noise() >> noise() % 32 << 32;
	chunk->packed = words_packer__write(packer, chunk->raw, chunk->words, count);
	chunk->count = count;
	chunk->bytes = chunk->packed.lower + chunk->packed.upper;
}

static void test_round_trip(struct words_packer *packer, struct chunk *chunk)
{
	static const size_t counts[] = {0, 1, 7, 8, 9, 500, 4093, MOST};
	size_t different = 0, refused = 0, larger = 0, dictionaries[CONTENTS] = {0};

	for (int round = 0; round < 240; round++) {
		enum content content = (enum content)(round % CONTENTS);

		write_chunk(packer, chunk, content,
			    counts[round / CONTENTS % (sizeof(counts) / sizeof(counts[0]))]);
		larger += chunk->bytes > chunk->count * 8;
		dictionaries[content] += chunk->packed.dictionary;
		memset(chunk->out, 0xaa, sizeof(chunk->out));
		if (word_planes__read(chunk->raw, chunk->bytes, chunk->packed.dictionary, chunk->count,
				      chunk->out))
			refused++;
		else
			different += memcmp(chunk->words, chunk->out, chunk->count * 8) != 0;
	}
	CHECK(!different && !refused && !larger,
	      "240 chunks come back: %zu do not, %zu are refused, %zu are larger than their words", different,
	      refused, larger);
	CHECK(dictionaries[FEW] > 10 && dictionaries[VALUES] > 8 && dictionaries[VALUES_AND_OTHERS] > 8 &&
		      !dictionaries[TOO_MANY] && !dictionaries[ANY] && !dictionaries[CHOSEN],
	      "few values have a dictionary (%zu, %zu), also with others (%zu), many have none (%zu, %zu), "
	      "nor those that are chosen to be long to find (%zu)",
	      dictionaries[FEW], dictionaries[VALUES], dictionaries[VALUES_AND_OTHERS],
	      dictionaries[TOO_MANY], dictionaries[ANY], dictionaries[CHOSEN]);
}

/* What a dictionary says that is not so. */
static void refuse(struct chunk *chunk, size_t at, const void *now, size_t bytes, const char *what)
{
	char before[8];

	memcpy(before, chunk->raw + at, bytes);
	memcpy(chunk->raw + at, now, bytes);
	CHECK(word_planes__read(chunk->raw, chunk->bytes, chunk->packed.dictionary, chunk->count,
				chunk->out) == -EBADMSG,
	      "%s", what);
	memcpy(chunk->raw + at, before, bytes);
}

static void test_hostile(struct words_packer *packer, struct chunk *chunk)
{
	struct trace_words_dictionary head, forged;
	size_t taken = 0, places;
	char *exact;

	write_chunk(packer, chunk, VALUES_AND_OTHERS, 4096);
	memcpy(&head, chunk->raw, sizeof(head));
	CHECK(chunk->packed.dictionary && head.values == TRACE_WORDS_VALUES && head.others > 0,
	      "%u values and %u others", head.values, head.others);
	if (!chunk->packed.dictionary)
		return;
	places = sizeof(head) + (head.values + head.others) * 4;
	forged = (struct trace_words_dictionary){TRACE_WORDS_VALUES + 1, head.others};
	refuse(chunk, 0, &forged, sizeof(forged), "more values than a byte tells");
	forged = (struct trace_words_dictionary){head.values, UINT32_MAX};
	refuse(chunk, 0, &forged, sizeof(forged), "more others than words");
	forged = (struct trace_words_dictionary){head.values - 1, head.others + 1};
	refuse(chunk, 0, &forged, sizeof(forged), "others that no word is");
	forged = (struct trace_words_dictionary){head.values - 1, head.others};
	refuse(chunk, 0, &forged, sizeof(forged), "a value too few");
	for (size_t i = 0; i < 4096; i++) {
		if ((unsigned char)chunk->raw[places + i] == TRACE_WORDS_OTHER)
			continue;
		refuse(chunk, places + i, "\xff", 1, "more words are others than there are");
		break;
	}
	for (size_t bytes = 0; bytes < chunk->bytes; bytes += bytes < 1200 ? 1 : 97) {
		/* Of that size, so that a read beyond its end is found. */
		exact = malloc(bytes ? bytes : 1);
		memcpy(exact, chunk->raw, bytes);
		taken += word_planes__read(exact, bytes, chunk->packed.dictionary, chunk->count,
					   chunk->out) == 0;
		free(exact);
	}
	CHECK(taken == 0, "none that is cut off is taken");
	CHECK(word_planes__read(chunk->raw, chunk->bytes, false, 4096, chunk->out) == -EBADMSG,
	      "nor as planes");
	taken = 0;
	for (int round = 0; round < 20000; round++) {
		size_t at = noise() % places;
		char before = chunk->raw[at];

		chunk->raw[at] = (char)noise();
		taken += word_planes__read(chunk->raw, chunk->bytes, chunk->packed.dictionary, chunk->count,
					   chunk->out) == 0;
		chunk->raw[at] = before;
	}
	CHECK(taken > 0 && taken < 20000,
	      "of 20000 damaged ones %zu still fit, and are read within their bounds", taken);
}

int main(void)
{
	struct chunk *chunk = malloc(sizeof(*chunk));
	struct words_packer *packer = NULL;

	if (!chunk || words_packer__new(&packer))
		return 1;
	test_round_trip(packer, chunk);
	test_hostile(packer, chunk);
	words_packer__free(packer);
	free(chunk);
	CHECK_DONE();
}
