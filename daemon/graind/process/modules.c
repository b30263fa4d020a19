// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/modules.h"

#include "uprobes/runtime/process_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_OPEN 512

static struct module *module_at(const struct module_table *table, size_t place)
{
	return &table->modules[table->places[place].module];
}

/* Returns the number of places that start at or before the address. */
static size_t places_until(const struct module_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module_at(table, middle)->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_same(const struct module *module, const struct module *mapping)
{
	return module->start == mapping->start && module->end == mapping->end &&
	       module->offset == mapping->offset && module->inode == mapping->inode &&
	       module->device == mapping->device;
}

static int grow(struct module_table *table)
{
	size_t larger = table->capacity ? table->capacity * 2 : 16;
	struct module *modules = reallocarray(table->modules, larger, sizeof(*modules));
	struct module_place *places;

	if (!modules)
		return -ENOMEM;
	table->modules = modules;
	places = reallocarray(table->places, larger, sizeof(*places));
	if (!places)
		return -ENOMEM;
	table->places = places;
	table->capacity = larger;
	return 0;
}

static void reach_from(struct module_table *table, size_t place)
{
	for (; place < table->count; place++) {
		uint64_t before = place ? table->places[place - 1].reach : 0;
		uint64_t end = module_at(table, place)->end;

		table->places[place].reach = end > before ? end : before;
	}
}

/* Inserts a place for the last added module. */
static void put_place(struct module_table *table, size_t place)
{
	memmove(&table->places[place + 1], &table->places[place],
		(table->count - 1 - place) * sizeof(*table->places));
	table->places[place].module = (uint32_t)(table->count - 1);
	reach_from(table, place);
}

int module_table__add(struct module_table *table, const struct module *mapping)
{
	const size_t place = places_until(table, mapping->start);
	char *path;

	for (size_t i = place; i > 0 && module_at(table, i - 1)->start == mapping->start; i--)
		if (is_same(module_at(table, i - 1), mapping))
			return 0;
	if (table->count == MODULES_MAX) {
		table->crowded = true;
		return 0;
	}
	if (table->count == table->capacity && grow(table) != 0)
		return -ENOMEM;
	path = strdup(mapping->path);
	if (!path)
		return -ENOMEM;
	table->modules[table->count++] = (struct module){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.device = mapping->device,
		.inode = mapping->inode,
		.path = path,
		.fd = -1,
	};
	put_place(table, place);
	return 0;
}

void module_table__forget_after(struct module_table *table, size_t count)
{
	size_t kept = 0;

	while (table->count > count)
		free(table->modules[--table->count].path);
	for (size_t i = 0; kept < count; i++)
		if (table->places[i].module < count)
			table->places[kept++] = table->places[i];
	reach_from(table, 0);
}

static int add(void *ctx, const struct process_mapping *mapping)
{
	return module_table__add(ctx, &(struct module){
					      .start = mapping->start,
					      .end = mapping->end,
					      .offset = mapping->offset,
					      .device = mapping->device,
					      .inode = mapping->inode,
					      .path = (char *)mapping->path,
				      });
}

void module_table__move(struct module_table *from, struct module_table *to)
{
	for (size_t i = 0; i < from->count; i++)
		module_table__add(to, &from->modules[i]);
	module_table__free(from);
}

int module_table__refresh(struct module_table *table, pid_t pid)
{
	return process_maps__each(pid, add, table);
}

struct module *module_table__find(const struct module_table *table, uint64_t address)
{
	struct module *last = NULL;

	for (size_t i = places_until(table, address); i > 0 && table->places[i - 1].reach > address; i--) {
		struct module *module = module_at(table, i - 1);

		if (address < module->end && (!last || module > last))
			last = module;
	}
	return last;
}

void module_table__open(struct module_table *table, struct module *module, pid_t pid)
{
	struct process_mapping *mapping;

	if (module->opened || table->open_count == MAX_OPEN)
		return;
	module->opened = true;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return;
	mapping->start = module->start;
	mapping->end = module->end;
	mapping->device = module->device;
	mapping->inode = module->inode;
	strncpy(mapping->path, module->path, sizeof(mapping->path) - 1);
	module->fd = process_maps__open(pid, mapping, NULL, 0);
	if (module->fd < 0)
		module->fd = -1;
	else
		table->open_count++;
	free(mapping);
}

void module_table__free(struct module_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->modules[i].fd >= 0)
			close(table->modules[i].fd);
		free(table->modules[i].path);
	}
	free(table->modules);
	free(table->places);
	*table = (struct module_table){0};
}
