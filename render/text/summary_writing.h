/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes headings, paragraphs and tables in the style of the text summary. */
#ifndef GRAIND_RENDER_SUMMARY_WRITING_H
#define GRAIND_RENDER_SUMMARY_WRITING_H

#include "analysis/include/grain.h"
#include "render/text/columns.h"

#define SUMMARY_MOST_COLUMNS 400
#define SUMMARY_LINE_BYTES (SUMMARY_MOST_COLUMNS * 4 + 1) /* most bytes of a line without colours */

struct summary {
	const struct grain_graph *graph;
	unsigned columns; /* at most SUMMARY_MOST_COLUMNS */
	bool colour, unicode;
	FILE *out;
	bool failed; /* out of memory */
};

void summary__heading(const struct summary *summary, const char *title);
/* Writes cleaned text, wrapped at blanks. Lines after the first are indented. */
void summary__paragraph(const struct summary *summary, const char *first, const char *text);

/* Begins a table in the summary's style; summary__print() frees it. */
void summary__table(const struct summary *summary, struct columns *table,
		    const struct columns_column *columns, size_t count);
void summary__print(struct summary *summary, struct columns *table); /* prints a blank line, then the table */
/* Writes "... 7 more loops" if only `shown` of `count` were shown. */
void summary__more(const struct summary *summary, size_t count, size_t shown, const char *what);
/* Writes a line as it is. If colours are used, writes it in a colour (an SGR parameter). */
void summary__line(const struct summary *summary, const char *colour, const char *text);
/* Cleans a line, cuts it to the width, and writes it. */
void summary__cut_line(const struct summary *summary, const char *colour, const char *text);
void summary__add_time(struct columns *table, double ns);
void summary__add_count(struct columns *table, uint64_t count);
struct grain_definition summary__definition(const struct summary *summary, uint32_t definition);

#endif
