/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/text/columns.h"
#include "render/text/bars.h"

#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 16
#define MAX_CELL 256
#define LEAST_CUT 6
/* Names keep at least this length while there are columns that can be dropped. */
#define LEAST_NAME 14
#define LEAST_BAR 8
#define MOST_BAR 30
#define WIDE_GAP 2
#define BOLD "\033[1m"
#define BAR_COLOUR "\033[36m"
#define PLAIN "\033[0m"

/* The layout of a table for a given width. */
struct layout {
	size_t widths[MAX_COLUMNS], gap;
	bool gone[MAX_COLUMNS];
};

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

void columns__add_share(struct columns *table, double share)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", share);
	columns__add(table, text);
}

/* Returns the width of a column's longest cell. */
static size_t natural(const struct columns *table, size_t column)
{
	size_t width = format__width(table->columns[column].title);

	if (table->columns[column].bar)
		return width > LEAST_BAR ? width : LEAST_BAR;
	for (size_t i = column; i < table->cell_count; i += table->column_count) {
		size_t w = format__width(table->cells[i]);

		width = w > width ? w : width;
	}
	return width;
}

static size_t total(const struct columns *table, const struct layout *layout)
{
	size_t sum = 0, shown = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (layout->gone[i])
			continue;
		sum += layout->widths[i];
		shown++;
	}
	return sum + (shown - 1) * layout->gap;
}

/*
 * Makes the widest cuttable columns narrower, one character at a time, but not below `least`. Returns false
 * if the table still does not fit.
 */
static bool cut(const struct columns *table, struct layout *layout, unsigned width, size_t least)
{
	while (total(table, layout) > width) {
		size_t widest = SIZE_MAX;

		for (size_t i = 0; i < table->column_count; i++)
			if (table->columns[i].cuttable && !layout->gone[i] && layout->widths[i] > least &&
			    (widest == SIZE_MAX || layout->widths[i] > layout->widths[widest]))
				widest = i;
		if (widest == SIZE_MAX)
			return false;
		layout->widths[widest]--;
	}
	return true;
}

/* Drops the next optional column. Returns false if there is none. */
static bool drop(const struct columns *table, struct layout *layout)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].optional && !layout->gone[i] &&
		    (least == SIZE_MAX || table->columns[i].optional > table->columns[least].optional))
			least = i;
	if (least == SIZE_MAX)
		return false;
	layout->gone[least] = true;
	return true;
}

static void measure(const struct columns *table, struct layout *layout)
{
	for (size_t i = 0; i < table->column_count; i++)
		layout->widths[i] = natural(table, i);
	layout->gap = WIDE_GAP;
}

static void widen_bars(const struct columns *table, struct layout *layout, unsigned width)
{
	for (size_t i = 0; i < table->column_count; i++)
		while (table->columns[i].bar && !layout->gone[i] && layout->widths[i] < MOST_BAR &&
		       total(table, layout) < width)
			layout->widths[i]++;
}

static void fit(const struct columns *table, struct layout *layout, unsigned width)
{
	do {
		measure(table, layout);
		if (total(table, layout) > width)
			layout->gap = 1;
		if (cut(table, layout, width, LEAST_NAME)) {
			widen_bars(table, layout, width);
			return;
		}
	} while (drop(table, layout));
	cut(table, layout, width, LEAST_CUT);
}

static void print_row(const struct columns *table, const struct layout *layout, char *const *cells, FILE *out)
{
	size_t owed = 0, gap = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct columns_column *column = &table->columns[i];
		char text[BARS_BYTES > MAX_CELL * 4 ? BARS_BYTES : MAX_CELL * 4];
		const char *before = "";
		size_t length, width = layout->widths[i];

		if (layout->gone[i])
			continue;
		if (cells && column->bar)
			bar__draw(text, strtod(cells[i], NULL), width, table->unicode);
		else
			format__clean(text, sizeof(text), cells ? cells[i] : column->title, width);
		if (table->colour)
			before = !cells ? BOLD : column->bar ? BAR_COLOUR : "";
		length = format__width(text);
		owed += gap;
		gap = layout->gap;
		/* Blanks are written only if text follows, so that no line ends in a blank. */
		if (*text)
			fprintf(out, "%*s%s%s%s",
				(int)(owed + (column->left || column->bar ? 0 : width - length)), "", before,
				text, *before ? PLAIN : "");
		owed = *text ? (column->left || column->bar ? width - length : 0) : owed + width;
	}
	fputc('\n', out);
}

void columns__print(const struct columns *table, unsigned width, FILE *out)
{
	size_t rows = table->cell_count / table->column_count;
	struct layout layout = {0};

	fit(table, &layout, width);
	print_row(table, &layout, NULL, out);
	for (size_t r = 0; r < rows; r++)
		print_row(table, &layout, table->cells + r * table->column_count, out);
}
