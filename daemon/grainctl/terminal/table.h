/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of text with aligned columns. It fits a given width if possible. */
#ifndef GRAINCTL_TABLE_H
#define GRAINCTL_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct table;

struct table_column {
	const char *title;
	bool right;	   /* aligned to the right */
	unsigned at_least; /* may be cut to this many columns; 0: never cut */
};

/* Returns NULL if memory is short. The columns must outlive the table. */
struct table *table__new(const struct table_column *columns, unsigned count);
/* Adds a row: one cell for each column, cleaned and copied. 0 or -ENOMEM. */
int table__add(struct table *table, const char *const *cells);
/* Adds a heading line above the rows that follow. 0 or -ENOMEM. */
int table__add_heading(struct table *table, const char *text);
/* Prints the table. Cuts the widest columns that may be cut until a line fits `width`. */
void table__print(const struct table *table, unsigned width, FILE *out);
void table__free(struct table *table); /* accepts NULL */

#endif
