/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a table with aligned columns that fits a given width. */
#ifndef GRAIND_RENDER_COLUMNS_H
#define GRAIND_RENDER_COLUMNS_H

#include <stdio.h>

#include "render/base/format.h"

struct columns_column {
	const char *title;
	bool left;     /* aligned to the left; else to the right */
	bool cuttable; /* cells are shortened in the middle if the table is too wide */
	bool bar; /* cells are bars, drawn from shares; the column takes the width that other columns leave */
	unsigned optional; /* order of removal if the table is still too wide: the largest number is removed
			      first; 0: never */
};

struct columns {
	const struct columns_column *columns;
	size_t column_count;
	char **cells; /* row by row, cleaned; of a bar column: the share as text */
	size_t cell_count, cell_capacity;
	/* Set these after columns__init(): use escape sequences; draw bars with block characters. */
	bool colour, unicode;
	bool failed;
};

void columns__init(struct columns *table, const struct columns_column *columns, size_t count);
void columns__add(struct columns *table, const char *cell);   /* adds the next cell, cleaned */
void columns__add_share(struct columns *table, double share); /* adds the next cell, a bar: 0..1 */
/* Prints the table with titles, in lines of at most `width` columns. */
void columns__print(const struct columns *table, unsigned width, FILE *out);
void columns__free(struct columns *table);

#endif
