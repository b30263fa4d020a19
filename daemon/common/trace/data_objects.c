// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/trace/data_objects.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 65536

static bool parse(char *line, struct data_object *out)
{
	char *fields[4], *end;

	for (size_t i = 0; i < 4; i++) {
		fields[i] = strsep(&line, "\t");
		if (!fields[i] || !fields[i][0] || strlen(fields[i]) > 255)
			return false;
	}
	if (line)
		return false;
	errno = 0;
	out->start = strtoull(fields[0], &end, 16);
	if (*end || errno)
		return false;
	out->bytes = strtoull(fields[1], &end, 16);
	if (*end || errno || !out->bytes || out->bytes > UINT64_MAX - out->start)
		return false;
	out->module = fields[2];
	out->name = fields[3];
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	const struct data_object *x = a, *y = b;

	return x->bytes < y->bytes   ? 1
	       : x->bytes > y->bytes ? -1
	       : x->start < y->start ? -1
				     : x->start > y->start;
}

/* Objects with the same start are sorted by size, the largest first. */
static int by_start(const void *a, const void *b)
{
	const struct data_object *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start ? 1 : by_bytes(a, b);
}

/* Copies the names, only for objects that are kept. False: out of memory. */
static bool own(struct data_object *object)
{
	object->name = strdup(object->name);
	object->module = strdup(object->module);
	if (object->name && object->module)
		return true;
	free(object->name);
	free(object->module);
	return false;
}

void data_objects__take(struct data_objects *objects, char *lines)
{
	struct data_object *found = NULL;
	size_t count = 0, kept = 0;
	uint64_t end = 0;
	char *line;

	*objects = (struct data_objects){0};
	while (lines && count < LINES_MAX && (line = strsep(&lines, "\n"))) {
		if (!(count & (count - 1))) {
			struct data_object *more = reallocarray(found, count ? 2 * count : 1, sizeof(*more));

			if (!more)
				break;
			found = more;
		}
		if (line[0] && parse(line, &found[count]))
			count++;
	}
	if (count)
		qsort(found, count, sizeof(*found), by_bytes);
	count = count > DATA_OBJECTS_MAX ? DATA_OBJECTS_MAX : count;
	if (count)
		qsort(found, count, sizeof(*found), by_start);
	for (size_t i = 0; i < count; i++) {
		if (found[i].start < end || !own(&found[i]))
			continue;
		end = found[i].start + found[i].bytes;
		found[kept++] = found[i];
	}
	*objects = (struct data_objects){found, kept};
}

void data_objects__free(struct data_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->list[i].name);
		free(objects->list[i].module);
	}
	free(objects->list);
	*objects = (struct data_objects){0};
}
