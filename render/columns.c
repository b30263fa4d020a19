/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/columns.h"

#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 12
#define MAX_CELL 256
#define LEAST_CUT 6

void columns__init(struct columns *table, const struct columns_column *columns, size_t count)
{
	*table = (struct columns){.columns = columns,
				  .column_count = count < MAX_COLUMNS ? count : MAX_COLUMNS};
}

void columns__free(struct columns *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i]);
	free(table->cells);
	memset(table, 0, sizeof(*table));
}

void columns__add(struct columns *table, const char *cell)
{
	char clean[MAX_CELL * 4];

	if (table->failed)
		return;
	if (table->cell_count == table->cell_capacity) {
		size_t want = table->cell_capacity ? table->cell_capacity * 2 : 64;
		char **bigger = realloc(table->cells, want * sizeof(*bigger));

		if (!bigger) {
			table->failed = true;
			return;
		}
		table->cells = bigger;
		table->cell_capacity = want;
	}
	table->cells[table->cell_count] = strdup(format__clean(clean, sizeof(clean), cell, MAX_CELL));
	if (table->cells[table->cell_count])
		table->cell_count++;
	else
		table->failed = true;
}

static size_t total(const size_t *widths, size_t count, size_t gap)
{
	size_t sum = (count - 1) * gap;

	for (size_t i = 0; i < count; i++)
		sum += widths[i];
	return sum;
}

/* Cuts the widest cuttable column, one column of text at a time. */
static void fit(const struct columns *table, size_t *widths, size_t gap, unsigned width)
{
	while (total(widths, table->column_count, gap) > width) {
		size_t widest = SIZE_MAX;

		for (size_t i = 0; i < table->column_count; i++)
			if (table->columns[i].cuttable && widths[i] > LEAST_CUT &&
			    (widest == SIZE_MAX || widths[i] > widths[widest]))
				widest = i;
		if (widest == SIZE_MAX)
			return;
		widths[widest]--;
	}
}

static void print_row(const struct columns *table, const size_t *widths, size_t gap, char *const *cells,
		      FILE *out)
{
	size_t owed = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		char cut[MAX_CELL * 4];
		const char *cell = cells ? cells[i] : table->columns[i].title;
		size_t length;

		format__clean(cut, sizeof(cut), cell, widths[i]);
		length = format__width(cut);
		owed += i ? gap : 0;
		/* Blanks are owed until something follows them, so that no line ends in one. */
		if (*cut)
			fprintf(out, "%*s%s", (int)(owed + (table->columns[i].left ? 0 : widths[i] - length)),
				"", cut);
		owed = *cut ? (table->columns[i].left ? widths[i] - length : 0) : owed + widths[i];
	}
	fputc('\n', out);
}

void columns__print(const struct columns *table, unsigned width, FILE *out)
{
	size_t widths[MAX_COLUMNS] = {0}, gap = 2, rows = table->cell_count / table->column_count;

	for (size_t i = 0; i < table->column_count; i++) {
		widths[i] = format__width(table->columns[i].title);
		for (size_t r = 0; r < rows; r++) {
			size_t w = format__width(table->cells[r * table->column_count + i]);

			widths[i] = w > widths[i] ? w : widths[i];
		}
	}
	if (total(widths, table->column_count, gap) > width)
		gap = 1;
	fit(table, widths, gap, width);
	print_row(table, widths, gap, NULL, out);
	for (size_t r = 0; r < rows; r++)
		print_row(table, widths, gap, table->cells + r * table->column_count, out);
}
