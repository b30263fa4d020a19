/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/terminal/table.h"
#include "daemon/grainctl/terminal/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2

struct table {
	const struct table_column *columns;
	unsigned column_count;
	size_t row_count, row_capacity;
	char **cells; /* row_count * column_count */
};

struct table *table__new(const struct table_column *columns, unsigned count)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	table->column_count = count;
	return table;
}

void table__free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

/* Adds a row of NULL cells; NULL: out of memory. */
static char **new_row(struct table *table)
{
	char **row;

	if (table->row_count == table->row_capacity) {
		size_t capacity = table->row_capacity ? table->row_capacity * 2 : 16;
		char **grown = reallocarray(table->cells, capacity, table->column_count * sizeof(char *));

		if (!grown)
			return NULL;
		table->cells = grown;
		table->row_capacity = capacity;
	}
	row = table->cells + table->row_count++ * table->column_count;
	memset(row, 0, table->column_count * sizeof(char *));
	return row;
}

static int fill(char **cell, const char *text)
{
	size_t size = strlen(text) + 1;

	*cell = malloc(size);
	if (!*cell)
		return -ENOMEM;
	text__clean(*cell, size, text);
	return 0;
}

int table__add(struct table *table, const char *const *cells)
{
	char **row = new_row(table);
	int error = row ? 0 : -ENOMEM;

	for (unsigned i = 0; !error && i < table->column_count; i++)
		error = fill(&row[i], cells[i]);
	return error;
}

int table__add_heading(struct table *table, const char *text)
{
	char **row = new_row(table);

	return row ? fill(&row[0], text) : -ENOMEM;
}

/* Whether a row is a heading: all cells except the first are absent (a table has at least two columns). */
static bool is_heading(const struct table *table, size_t row)
{
	return !table->cells[row * table->column_count + 1];
}

static void print_cell(const struct table_column *column, const char *text, size_t width, bool last,
		       FILE *out)
{
	size_t wide = text__width(text);

	if (wide > width) {
		fprintf(out, "%.*s~", (int)text__prefix(text, width - 1), text);
		wide = width;
	} else if (column->right) {
		fprintf(out, "%*s%s", (int)(width - wide), "", text);
		wide = width;
	} else {
		fputs(text, out);
	}
	if (!last)
		fprintf(out, "%*s", (int)(width - wide + GAP), "");
}

void table__print(const struct table *table, unsigned width, FILE *out)
{
	unsigned count = table->column_count;
	size_t widths[count], total = GAP * (count - 1);

	for (unsigned c = 0; c < count; c++) {
		widths[c] = text__width(table->columns[c].title);
		for (size_t r = 0; r < table->row_count; r++) {
			size_t wide = is_heading(table, r) ? 0 : text__width(table->cells[r * count + c]);

			if (wide > widths[c])
				widths[c] = wide;
		}
		total += widths[c];
	}
	for (; total > width; total--) {
		unsigned widest = count;

		for (unsigned c = 0; c < count; c++) {
			if (table->columns[c].at_least && widths[c] > table->columns[c].at_least &&
			    (widest == count || widths[c] > widths[widest]))
				widest = c;
		}
		if (widest == count)
			break;
		widths[widest]--;
	}
	for (unsigned c = 0; c < count; c++)
		print_cell(&table->columns[c], table->columns[c].title, widths[c], c + 1 == count, out);
	fputc('\n', out);
	for (size_t r = 0; r < table->row_count; r++) {
		if (is_heading(table, r)) {
			const char *text = table->cells[r * count];

			fprintf(out, "%.*s\n", (int)text__prefix(text, width), text);
			continue;
		}
		for (unsigned c = 0; c < count; c++)
			print_cell(&table->columns[c], table->cells[r * count + c], widths[c], c + 1 == count,
				   out);
		fputc('\n', out);
	}
}
