/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of cells in aligned columns that fits a width. */
#ifndef GRAIND_RENDER_COLUMNS_H
#define GRAIND_RENDER_COLUMNS_H

#include <stdio.h>

#include "render/format.h"

struct columns_column {
	const char *title;
	bool left;	   /* aligned; else right */
	bool cuttable;	   /* shortened in the middle where the table is too wide */
	bool bar;	   /* drawn from shares; takes what columns the others leave */
	unsigned optional; /* where even that does not help it goes, the largest number first; 0: never */
};

struct columns {
	const struct columns_column *columns;
	size_t column_count;
	char **cells; /* row by row, clean; of a bar its share as text */
	size_t cell_count, cell_capacity;
	/* Set after columns__init: escape sequences, and bars of block characters. */
	bool colour, unicode;
	bool failed;
};

void columns__init(struct columns *table, const struct columns_column *columns, size_t count);
void columns__add(struct columns *table, const char *cell);   /* the next one, cleaned */
void columns__add_share(struct columns *table, double share); /* the next one, of a bar: 0..1 */
/* With titles; lines of at most `width` columns. */
void columns__print(const struct columns *table, unsigned width, FILE *out);
void columns__free(struct columns *table);

#endif
