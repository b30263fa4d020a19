// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/seen_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct seen_map {
	struct seen_map *next; /* mappings that were seen earlier */
	struct module module;  /* its path is stored after the struct */
	unsigned int users;    /* number of lists that begin with this element, plus the element before it */
	unsigned int count;    /* length of the list from here on */
	char path[];
};

static size_t bytes_of(const struct module *module)
{
	return sizeof(struct seen_map) + strlen(module->path) + 1;
}

struct seen_map *seen_maps__share(struct seen_map *list)
{
	if (list)
		list->users++;
	return list;
}

static bool is_same(const struct module *a, const struct module *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset && a->inode == b->inode &&
	       a->device == b->device;
}

long seen_maps__add(struct seen_map **list, const struct module *mapping, size_t room)
{
	const size_t bytes = bytes_of(mapping);
	struct seen_map *map;

	if (*list && (*list)->count == SEEN_MAPS_MAX)
		return 0;
	for (const struct seen_map *known = *list; known; known = known->next)
		if (is_same(&known->module, mapping))
			return 0;
	if (bytes > room)
		return -ENOSPC;
	map = malloc(bytes);
	if (!map)
		return -ENOMEM;
	*map = (struct seen_map){.next = *list, .module = *mapping, .users = 1};
	map->count = *list ? (*list)->count + 1 : 1;
	strcpy(map->path, mapping->path);
	map->module.path = map->path;
	*list = map;
	return (long)bytes;
}

size_t seen_maps__drop(struct seen_map **list)
{
	struct seen_map *map = *list, *next;
	size_t bytes = 0;

	for (; map && --map->users == 0; map = next) {
		next = map->next;
		bytes += bytes_of(&map->module);
		free(map);
	}
	*list = NULL;
	return bytes;
}

void seen_maps__tell(const struct seen_map *list, struct module_table *into)
{
	const struct module *seen[SEEN_MAPS_MAX];
	size_t count = 0;

	for (; list && count < SEEN_MAPS_MAX; list = list->next)
		seen[count++] = &list->module;
	while (count > 0)
		module_table__add(into, seen[--count]);
}
