/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables of a program and their addresses in its memory. */
#ifndef GRAIND_DATA_OBJECTS_H
#define GRAIND_DATA_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#define DATA_OBJECTS_MAX 512

struct data_object {
	uint64_t start, bytes;
	char *name, *module; /* name of the variable; base name of its file */
};

/* The objects are sorted by start and do not overlap. */
struct data_objects {
	struct data_object *list;
	size_t count;
};

/*
 * Parses the worker's answer, which is not trusted, in place: lines of START BYTES MODULE NAME. Keeps the
 * largest variables. `lines` NULL: there are none.
 */
void data_objects__take(struct data_objects *objects, char *lines);
void data_objects__free(struct data_objects *objects); /* frees the contents, not the struct */

#endif
