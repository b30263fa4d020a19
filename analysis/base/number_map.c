// SPDX-License-Identifier: BSD-2-Clause
/*
 * Written by hand: hcreate() has only one table, of strings. GLib's tables take no seed, so a file could make
 * them slow.
 */
#include "analysis/base/number_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void insert(struct number_map *map, uint64_t key, uint32_t value)
{
	size_t i = number_map__home(map, key);

	while (map->slots[i].value != GRAIN_NONE && map->slots[i].key != key)
		i = (i + 1) & (map->size - 1);
	if (map->slots[i].value == GRAIN_NONE)
		map->used++;
	map->slots[i] = (struct number_map_slot){key, value};
}

static int grow(struct number_map *map)
{
	struct number_map next = {.size = map->size ? map->size * 2 : 64, .seed = map->seed};

	if (map->size == 0 && getrandom(&next.seed, sizeof(next.seed), GRND_NONBLOCK) < 0)
		next.seed = (uint64_t)(uintptr_t)map * 0x9e3779b97f4a7c15ull;
	next.slots = malloc(next.size * sizeof(*next.slots));
	if (!next.slots)
		return -ENOMEM;
	for (size_t i = 0; i < next.size; i++)
		next.slots[i] = (struct number_map_slot){0, GRAIN_NONE};
	for (size_t i = 0; i < map->size; i++) {
		if (map->slots[i].value != GRAIN_NONE)
			insert(&next, map->slots[i].key, map->slots[i].value);
	}
	free(map->slots);
	*map = next;
	return 0;
}

int number_map__put(struct number_map *map, uint64_t key, uint32_t value)
{
	if (map->used + map->used / 2 >= map->size) {
		int error = grow(map);

		if (error)
			return error;
	}
	insert(map, key, value);
	return 0;
}

/* Moves back the entries that the freed slot had pushed on, so that no tombstones pile up. */
void number_map__remove(struct number_map *map, uint64_t key)
{
	size_t hole, i;

	if (map->used == 0)
		return;
	for (hole = number_map__home(map, key);
	     map->slots[hole].key != key || map->slots[hole].value == GRAIN_NONE;
	     hole = (hole + 1) & (map->size - 1)) {
		if (map->slots[hole].value == GRAIN_NONE)
			return;
	}
	for (i = (hole + 1) & (map->size - 1); map->slots[i].value != GRAIN_NONE;
	     i = (i + 1) & (map->size - 1)) {
		size_t home = number_map__home(map, map->slots[i].key);

		if (((i - home) & (map->size - 1)) >= ((i - hole) & (map->size - 1))) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = GRAIN_NONE;
	map->used--;
}

void number_map__free(struct number_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
