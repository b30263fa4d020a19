/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from 64-bit numbers to indices. It is seeded, so that a file cannot choose colliding numbers.
 */
#ifndef GRAIND_NUMBER_MAP_H
#define GRAIND_NUMBER_MAP_H

#include "analysis/include/grain.h"

#include <stddef.h>
#include <stdint.h>

struct number_map_slot {
	uint64_t key;
	uint32_t value; /* GRAIN_NONE: free */
};

/* All zero means an empty map. */
struct number_map {
	struct number_map_slot *slots;
	size_t size, used; /* size: 0 or a power of two */
	uint64_t seed;
};

static inline size_t number_map__home(const struct number_map *map, uint64_t key)
{
	key ^= map->seed;
	key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
	key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
	return (size_t)(key ^ key >> 33) & (map->size - 1);
}

/* Returns GRAIN_NONE if the key is absent. */
static inline uint32_t number_map__get(const struct number_map *map, uint64_t key)
{
	if (map->used == 0)
		return GRAIN_NONE;
	for (size_t i = number_map__home(map, key);; i = (i + 1) & (map->size - 1)) {
		if (map->slots[i].value == GRAIN_NONE || map->slots[i].key == key)
			return map->slots[i].value;
	}
}

/* Adds or replaces; value must not be GRAIN_NONE. -ENOMEM. */
int number_map__put(struct number_map *map, uint64_t key, uint32_t value);
void number_map__remove(struct number_map *map, uint64_t key);
void number_map__free(struct number_map *map);

#endif
