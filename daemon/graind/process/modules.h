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

/*
 * The modules sorted by start address. Modules with the same start are in the order in which they were
 * seen.
 */
struct module_place {
	uint32_t module; /* index into modules */
	uint64_t reach;	 /* the largest end of this place and of all places before it */
};

struct module_table {
	struct module *modules; /* in the order in which they were seen; mappings that were removed stay */
	struct module_place *places;
	size_t count, capacity;
	size_t open_count;
	bool crowded; /* there were more than MODULES_MAX modules; the others are missing */
};

#define MODULES_MAX 4096

/*
 * Adds a copy of the mapping and its path, without its descriptor. Does nothing if the mapping is known or
 * there are already MODULES_MAX. 0 or a negative errno.
 */
int module_table__add(struct module_table *table, const struct module *mapping);

/*
 * Moves the modules that `to` does not have, and empties `from`. None of the modules in `from` may have
 * been opened.
 */
void module_table__move(struct module_table *from, struct module_table *to);

/* Removes the modules after the first `count`. None of them may have been opened. */
void module_table__forget_after(struct module_table *table, size_t count);

/* Adds the files that the process maps as executable now. 0 or a negative errno. */
int module_table__refresh(struct module_table *table, pid_t pid);

/*
 * Finds the module that contains the address. If there are several, returns the last mapped one. NULL:
 * none. The table keeps the module.
 */
struct module *module_table__find(const struct module_table *table, uint64_t address);

/*
 * Opens the module's file, through /proc/PID while the process exists (`pid` 0: it does not exist). The
 * module keeps the descriptor.
 */
void module_table__open(struct module_table *table, struct module *module, pid_t pid);

/* Frees the contents, but not the table itself. */
void module_table__free(struct module_table *table);

#endif
