// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/modules.h"

#include "uprobes/process_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MODULES 4096
#define MAX_OPEN 512

int module_table__add(struct module_table *table, const struct module *mapping)
{
	const struct module *module;
	char *path;

	for (size_t i = 0; i < table->count; i++) {
		module = &table->modules[i];
		if (module->start == mapping->start && module->end == mapping->end &&
		    module->offset == mapping->offset && module->inode == mapping->inode &&
		    module->device == mapping->device)
			return 0;
	}
	if (table->count == MAX_MODULES)
		return 0;
	if (table->count == table->capacity) {
		size_t larger = table->capacity ? table->capacity * 2 : 16;
		struct module *grown = reallocarray(table->modules, larger, sizeof(*table->modules));

		if (!grown)
			return -ENOMEM;
		table->modules = grown;
		table->capacity = larger;
	}
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
	return 0;
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
	for (size_t i = table->count; i > 0; i--) {
		struct module *module = &table->modules[i - 1];

		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
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
	*table = (struct module_table){0};
}
