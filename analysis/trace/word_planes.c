// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace/word_planes.h"
#include "analysis/trace/trace_format.h"

#include <errno.h>
#include <string.h>

/* Returns half of word `i`, from four planes. */
static uint64_t half_at(const unsigned char *planes, size_t count, size_t i)
{
	return planes[i] | (uint32_t)planes[count + i] << 8 | (uint32_t)planes[2 * count + i] << 16 |
	       (uint32_t)planes[3 * count + i] << 24;
}

static uint32_t number_at(const char *numbers, size_t i)
{
	uint32_t number;

	memcpy(&number, numbers + i * sizeof(number), sizeof(number));
	return number;
}

/* Reads the lower halves from a dictionary. Returns the number of its bytes. 0: they do not fit. */
static size_t read_dictionary(const char *raw, size_t bytes, size_t count, uint64_t *words)
{
	struct trace_words_dictionary head;
	size_t values_at = sizeof(head), others_at, at, used = 0;

	if (bytes < sizeof(head))
		return 0;
	memcpy(&head, raw, sizeof(head));
	if (head.values > TRACE_WORDS_VALUES || head.others > count)
		return 0;
	others_at = values_at + head.values * sizeof(uint32_t);
	at = others_at + head.others * sizeof(uint32_t);
	if (at + count > bytes)
		return 0;
	for (size_t i = 0; i < count; i++) {
		unsigned char place = (unsigned char)raw[at + i];

		if (place < head.values)
			words[i] = number_at(raw + values_at, place);
		else if (place == TRACE_WORDS_OTHER && used < head.others)
			words[i] = number_at(raw + others_at, used++);
		else
			return 0;
	}
	return used == head.others ? at + count : 0;
}

int word_planes__read(const char *raw, size_t bytes, bool dictionary, size_t count, uint64_t *words)
{
	const unsigned char *planes = (const unsigned char *)raw;
	size_t lower = dictionary ? read_dictionary(raw, bytes, count, words) : count * 4;

	if ((dictionary && !lower) || bytes != lower + count * 4)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		if (!dictionary)
			words[i] = half_at(planes, count, i);
		words[i] |= half_at(planes + lower, count, i) << 32;
	}
	return 0;
}
