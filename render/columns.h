/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of cells in aligned columns that fits a width. */
#ifndef GRAIND_RENDER_COLUMNS_H
#define GRAIND_RENDER_COLUMNS_H

#include <stdio.h>

#include "render/format.h"

struct columns_column {
	const char *title;
	bool left;     /* aligned; else right */
	bool cuttable; /* shortened in the middle where the table is too wide */
};

struct columns {
	const struct columns_column *columns;
	size_t column_count;
	char **cells; /* row by row, clean */
	size_t cell_count, cell_capacity;
	bool failed;
};

void columns__init(struct columns *table, const struct columns_column *columns, size_t count);
void columns__add(struct columns *table, const char *cell); /* the next one, cleaned */
/* With titles; lines of at most `width` columns. */
void columns__print(const struct columns *table, unsigned width, FILE *out);
void columns__free(struct columns *table);

#endif
