/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of text with aligned columns that fits a given width where it can. */
#ifndef GRAINCTL_TABLE_H
#define GRAINCTL_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct table;

struct table_column {
	const char *title;
	bool right;	   /* aligned */
	unsigned at_least; /* may be cut down to this many columns; 0: never cut */
};

/* NULL when out of memory. The columns must outlive the table. */
struct table *table__new(const struct table_column *columns, unsigned count);
/* One cell for each column, cleaned and copied. Returns 0 or -ENOMEM. */
int table__add(struct table *table, const char *const *cells);
/* A line of its own above the rows that follow. */
int table__add_heading(struct table *table, const char *text);
/* Cuts the widest cuttable columns until a line fits `width`. */
void table__print(const struct table *table, unsigned width, FILE *out);
void table__free(struct table *table); /* accepts NULL */

#endif
