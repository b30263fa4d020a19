/* SPDX-License-Identifier: BSD-2-Clause */
/* The executable mappings that one process had while it was observed. */
#ifndef GRAIND_MODULES_H
#define GRAIND_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct module {
	uint64_t start, end, offset;
	uint64_t device, inode;
	char *path;
	int fd;	     /* -1 until module_table__open */
	bool opened; /* opening was tried */
};

struct module_table {
	struct module *modules; /* in the order seen; a mapping that is gone stays */
	size_t count, capacity;
	size_t open_count;
};

/* Adds a copy of the mapping (its path, no descriptor), if it is not known yet; a bound keeps the number
 * small. */
int module_table__add(struct module_table *table, const struct module *mapping);

/* Adds those that `to` does not know; `from` is empty then. None of them has been opened. */
void module_table__move(struct module_table *from, struct module_table *to);

/* Adds what the process has mapped. */
int module_table__refresh(struct module_table *table, pid_t pid);

/* The one mapped last of those that contain the address, or NULL. */
struct module *module_table__find(const struct module_table *table, uint64_t address);

/*
 * Opens the file, by the way that the process shows to it as long as it is there (`pid` 0: it is not); the
 * module keeps the descriptor.
 */
void module_table__open(struct module_table *table, struct module *module, pid_t pid);

/* Of its contents. */
void module_table__free(struct module_table *table);

#endif
