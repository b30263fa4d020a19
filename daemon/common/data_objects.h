/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables of a program, where they were in its memory. */
#ifndef GRAIND_DATA_OBJECTS_H
#define GRAIND_DATA_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#define DATA_OBJECTS_MAX 512

struct data_object {
	uint64_t start, bytes;
	char *name, *module; /* module: base name of its file */
};

/* By start; they do not overlap. */
struct data_objects {
	struct data_object *list;
	size_t count;
};

/*
 * What the worker says of them, which is taken apart in place and not trusted: lines of START BYTES MODULE
 * NAME. The largest are kept. NULL: nothing.
 */
void data_objects__take(struct data_objects *objects, char *lines);
void data_objects__free(struct data_objects *objects); /* of its contents */

#endif
