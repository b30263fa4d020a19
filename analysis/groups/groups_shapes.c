/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Written by hand, like number_map.c: keys are lists in one array, and the table of a library would copy
 * them.
 */
#include "analysis/groups/groups_shapes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void shapes__start(struct shapes *shapes)
{
	memset(shapes, 0, sizeof *shapes);
	/* A random seed, so that no file can choose collisions. */
	if (getrandom(&shapes->seed, sizeof shapes->seed, GRND_NONBLOCK) < 0)
		shapes->seed = (uint64_t)(uintptr_t)shapes * 0x9e3779b97f4a7c15ull;
}

void shapes__clear(struct shapes *shapes)
{
	shapes->word_count = 0;
	shapes->count = 0;
	if (shapes->slots)
		memset(shapes->slots, 0, shapes->slot_count * sizeof *shapes->slots);
}

void shapes__free(struct shapes *shapes)
{
	free(shapes->words);
	free(shapes->first);
	free(shapes->slots);
	memset(shapes, 0, sizeof *shapes);
}

static int compare_labels(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_labels(uint32_t *labels, size_t n)
{
	size_t i;

	for (i = 1; i < n && labels[i - 1] <= labels[i]; i++)
		;
	if (i < n)
		qsort(labels, n, sizeof *labels, compare_labels);
}

static int reserve(void **array, size_t *capacity, size_t wanted, size_t size)
{
	size_t larger = *capacity + *capacity / 2 + 64;
	void *moved;

	if (wanted <= *capacity)
		return 0;
	if (larger < wanted)
		larger = wanted;
	moved = reallocarray(*array, larger, size);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*capacity = larger;
	return 0;
}

static uint32_t hash_of(const struct shapes *s, const uint32_t *words, size_t n)
{
	uint64_t hash = s->seed;
	size_t i;

	for (i = 0; i < n; i++) {
		hash = (hash ^ words[i]) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 33;
	}
	hash *= 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(hash >> 32);
}

static size_t length_of(const struct shapes *s, uint32_t shape)
{
	return (shape + 1 < s->count ? s->first[shape + 1] : s->word_count) - s->first[shape];
}

static int grow_slots(struct shapes *s)
{
	size_t larger = s->slot_count ? 2 * s->slot_count : 64, i, at;
	struct shape_slot *slots = calloc(larger, sizeof *slots);

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < s->slot_count; i++) {
		if (!s->slots[i].number)
			continue;
		at = s->slots[i].hash & (larger - 1);
		while (slots[at].number)
			at = (at + 1) & (larger - 1);
		slots[at] = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->slot_count = larger;
	return 0;
}

/*
 * Appends the words of a shape: its label, the numbers of leaves if there are any, and each label below it
 * with its count.
 */
static size_t write_words(const struct shapes *s, uint32_t label, const uint32_t *leaves,
			  const uint32_t *below, size_t n)
{
	uint32_t *words = &s->words[s->word_count];
	size_t length = 0, i, run;

	words[length++] = label;
	for (i = 0; leaves && i < SHAPE_LEAVES; i++)
		words[length++] = leaves[i];
	for (i = 0; i < n; i += run) {
		for (run = 1; i + run < n && below[i + run] == below[i]; run++)
			;
		words[length++] = below[i];
		words[length++] = (uint32_t)run;
	}
	return length;
}

int shapes__number(struct shapes *s, uint32_t label, const uint32_t *leaves, uint32_t *below, size_t n,
		   uint32_t *out)
{
	size_t length, at;
	uint32_t hash;

	sort_labels(below, n);
	if (reserve((void **)&s->words, &s->word_capacity, s->word_count + 1 + SHAPE_LEAVES + 2 * n,
		    sizeof *s->words) < 0 ||
	    reserve((void **)&s->first, &s->first_capacity, s->count + (size_t)1, sizeof *s->first) < 0 ||
	    (2 * (s->count + (size_t)1) > s->slot_count && grow_slots(s) < 0))
		return -ENOMEM;
	length = write_words(s, label, leaves, below, n);
	hash = hash_of(s, &s->words[s->word_count], length);
	for (at = hash & (s->slot_count - 1); s->slots[at].number; at = (at + 1) & (s->slot_count - 1)) {
		uint32_t shape = s->slots[at].number - 1;

		if (s->slots[at].hash == hash && length_of(s, shape) == length &&
		    memcmp(&s->words[s->first[shape]], &s->words[s->word_count], length * sizeof *s->words) ==
			    0) {
			*out = shape;
			return 0;
		}
	}
	s->slots[at] = (struct shape_slot){.number = s->count + 1, .hash = hash};
	s->first[s->count] = s->word_count;
	s->word_count += length;
	*out = s->count++;
	return 0;
}
