/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table from 64-bit numbers of a file to indices; seeded, so that a file cannot choose collisions. */
#ifndef GRAIND_NUMBER_MAP_H
#define GRAIND_NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct number_map_slot {
	uint64_t key;
	uint32_t value; /* GRAIN_NONE: free */
};

/* All zero is an empty map. */
struct number_map {
	struct number_map_slot *slots;
	size_t size, used; /* size: 0 or a power of two */
	uint64_t seed;
};

uint32_t number_map__get(const struct number_map *map, uint64_t key); /* GRAIN_NONE when absent */
/* Adds or replaces; value must not be GRAIN_NONE. -ENOMEM. */
int number_map__put(struct number_map *map, uint64_t key, uint32_t value);
void number_map__remove(struct number_map *map, uint64_t key);
void number_map__free(struct number_map *map);

#endif
