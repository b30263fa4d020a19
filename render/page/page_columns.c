/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/page/page_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096

struct page_column *page_columns__add(struct page_columns *columns, const char *name)
{
	bool full = columns->count >= PAGE_COLUMNS_MAX;
	struct page_column *c = &columns->column[full ? PAGE_COLUMNS_MAX : columns->count];

	/* Too many columns are handled like lack of memory. */
	columns->count = full ? PAGE_COLUMNS_MAX + 1 : columns->count + 1;
	*c = (struct page_column){.data = full ? NULL : malloc(FIRST_BYTES)};
	c->capacity = c->data ? FIRST_BYTES : 0;
	snprintf(c->name, sizeof(c->name), "%s", name);
	return c;
}

bool page_column__reserve(struct page_column *c, size_t more)
{
	uint8_t *data;
	size_t capacity = c->capacity;

	if (c->bytes + more <= capacity)
		return true;
	if (!c->data)
		return false;
	while (capacity < c->bytes + more)
		capacity *= 2;
	data = realloc(c->data, capacity);
	if (!data) {
		/* Marks the column as failed: from now on nothing is added. */
		free(c->data);
		c->bytes = capacity = 0;
	}
	c->data = data;
	c->capacity = capacity;
	return data != NULL;
}

void page_column__text(struct page_column *c, const char *text, size_t bytes)
{
	if (!page_column__reserve(c, bytes))
		return;
	memcpy(c->data + c->bytes, text, bytes);
	c->bytes += bytes;
}

bool page_column__is_zero(const struct page_column *c)
{
	return !c->bytes || (c->data[0] == 0 && memcmp(c->data, c->data + 1, c->bytes - 1) == 0);
}

int page_columns__check(const struct page_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		if (!columns->column[i].data)
			return -ENOMEM;
	return 0;
}

void page_columns__free(struct page_columns *columns)
{
	if (!columns)
		return;
	for (size_t i = 0; i < columns->count; i++)
		free(columns->column[i].data);
	free(columns->tids);
	free(columns->items);
	free(columns->parents);
	columns->count = 0;
	columns->tids = columns->items = columns->parents = NULL;
}
