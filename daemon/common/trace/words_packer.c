// SPDX-License-Identifier: BSD-2-Clause
/*
 * Written by hand, and run before zstd: zstd works on bytes, but these are words with few distinct upper
 * halves.
 */
#include "daemon/common/trace/words_packer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BITS 11
#define SLOTS (1u << SLOT_BITS)
/* If more than one in so many words is not in the dictionary, planes compress better. */
#define OTHERS_ONE_IN 8

/*
 * The largest number of slots that are tried for a value, so that a process cannot make this slow by its
 * choice of words.
 */
#define TRIES 16

_Static_assert(SLOTS >= 4 * TRACE_WORDS_VALUES, "most are found where they are looked for first");

struct slot {
	uint32_t value, place, chunk; /* chunk: the number of the chunk for which the slot was filled */
};

struct words_packer {
	struct slot slots[SLOTS];
	uint32_t values[TRACE_WORDS_VALUES], others[TRACE_WORDS_MAX / OTHERS_ONE_IN];
	uint32_t value_count, other_count;
	uint32_t chunk;
};

int words_packer__new(struct words_packer **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void words_packer__free(struct words_packer *packer)
{
	free(packer);
}

/*
 * Returns the slot of the value, or a free slot for it. NULL: the value has no slot, and none of the tried
 * slots is free.
 */
static struct slot *find_slot(struct words_packer *p, uint32_t value)
{
	uint32_t at = value * 0x9e3779b1u >> (32 - SLOT_BITS);

	for (uint32_t i = 0; i < TRIES; i++) {
		struct slot *slot = &p->slots[(at + i) % SLOTS];

		if (slot->chunk != p->chunk || slot->value == value)
			return slot;
	}
	return NULL;
}

/* Finds the byte for each word. False: too many words are not in the dictionary. */
static bool find_places(struct words_packer *p, const uint64_t *words, size_t count, unsigned char *places)
{
	p->chunk++;
	p->value_count = p->other_count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t value = (uint32_t)words[i];
		struct slot *slot = find_slot(p, value);

		if (slot && slot->chunk == p->chunk) {
			places[i] = (unsigned char)slot->place;
		} else if (slot && p->value_count < TRACE_WORDS_VALUES) {
			places[i] = (unsigned char)p->value_count;
			*slot = (struct slot){value, p->value_count, p->chunk};
			p->values[p->value_count++] = value;
		} else {
			if (p->other_count == count / OTHERS_ONE_IN)
				return false;
			places[i] = TRACE_WORDS_OTHER;
			p->others[p->other_count++] = value;
		}
	}
	return true;
}

static char *append(char *to, const void *what, size_t bytes)
{
	memcpy(to, what, bytes);
	return to + bytes;
}

/* Writes the lower halves with a dictionary. Returns 0 if planes need no more bytes than that. */
static size_t put_dictionary(struct words_packer *p, char *to, const uint64_t *words, size_t count)
{
	struct trace_words_dictionary head;
	char *at = to + count * 4;
	size_t bytes;

	/* The bytes are put where they do not overlap what is written before them. */
	if (!find_places(p, words, count, (unsigned char *)at))
		return 0;
	bytes = sizeof(head) + (p->value_count + p->other_count) * sizeof(uint32_t) + count;
	if (bytes >= count * 4)
		return 0;
	head = (struct trace_words_dictionary){p->value_count, p->other_count};
	to = append(to, &head, sizeof(head));
	to = append(to, p->values, p->value_count * sizeof(uint32_t));
	to = append(to, p->others, p->other_count * sizeof(uint32_t));
	memmove(to, at, count);
	return bytes;
}

/*
 * Swaps the upper right with the lower left quarters of 2 times 4 times 4 bytes that are `shift` bits apart.
 */
static inline void swap_quarters(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
	uint64_t different = (*a >> shift ^ *b) & mask;

	*a ^= different << shift;
	*b ^= different;
}

/*
 * Writes the 32 bits from `low` on of each word as four planes: one for each byte. Takes eight words at a
 * time.
 */
static void put_planes(const uint64_t *words, size_t count, unsigned low, char *planes)
{
	size_t i = 0;

	for (; i + 8 <= count; i += 8) {
		uint64_t w[4];

		for (unsigned k = 0; k < 4; k++)
			w[k] = (words[i + k] >> low & UINT32_MAX) | words[i + k + 4] >> low << 32;
		for (unsigned k = 0; k < 2; k++)
			swap_quarters(&w[k], &w[k + 2], 16, UINT64_C(0x0000ffff0000ffff));
		for (unsigned k = 0; k < 4; k += 2)
			swap_quarters(&w[k], &w[k + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
		for (unsigned b = 0; b < 4; b++)
			memcpy(planes + b * count + i, &w[b], sizeof(w[b]));
	}
	for (; i < count; i++)
		for (unsigned b = 0; b < 4; b++)
			planes[b * count + i] = (char)(words[i] >> (low + 8 * b));
}

struct packed_words words_packer__write(struct words_packer *packer, char *to, const uint64_t *words,
					size_t count)
{
	struct packed_words packed = {.lower = put_dictionary(packer, to, words, count), .upper = count * 4};

	packed.dictionary = packed.lower != 0;
	if (!packed.dictionary) {
		put_planes(words, count, 0, to);
		packed.lower = count * 4;
	}
	put_planes(words, count, 32, to + packed.lower);
	return packed;
}
