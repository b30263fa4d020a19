/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the text summary that share a way of writing. */
#ifndef GRAIND_RENDER_SUMMARY_H
#define GRAIND_RENDER_SUMMARY_H

#include "render/columns.h"
#include "render/render.h"

struct summary {
	const struct grain_graph *graph;
	unsigned columns;
	bool colour, unicode;
	FILE *out;
	bool failed; /* memory was short */
};

void summary__heading(const struct summary *summary, const char *title);
/* Wrapped at blanks, the lines after the first indented. Clean text. */
void summary__paragraph(const struct summary *summary, const char *first, const char *text);

/* A table in the summary's way of writing; print frees it. */
void summary__table(const struct summary *summary, struct columns *table,
		    const struct columns_column *columns, size_t count);
void summary__print(struct summary *summary, struct columns *table); /* a blank line above */
/* "... 7 more loops" where only `shown` of `count` were. */
void summary__more(const struct summary *summary, size_t count, size_t shown, const char *what);
/* A line as it is, in a colour (an SGR parameter) where there are colours. */
void summary__line(const struct summary *summary, const char *colour, const char *text);
void summary__add_time(struct columns *table, double ns);
void summary__add_count(struct columns *table, uint64_t count);
struct grain_definition summary__definition(const struct summary *summary, uint32_t definition);

/* Instances of one loop in the source. */
struct summary_loop {
	uint32_t definition, first;
	const char *schedule;
	bool hidden, sections;
	uint64_t instances, chunks, exec_ns, bookkeeping_ns;
	double worst; /* load balance; NAN: absent */
};
/* Those that were met, the most execution time first; *out is the caller's. */
size_t summary__gather_loops(struct summary *summary, struct summary_loop **out);

void summary__totals(struct summary *summary);
void summary__problems(struct summary *summary);
void summary__parallelism(struct summary *summary);
void summary__threads(struct summary *summary);
void summary__windows(struct summary *summary); /* summary_windows.c */
void summary__scheduler(struct summary *summary);
void summary__numa(struct summary *summary);
void summary__counters(struct summary *summary);
void summary__samples(struct summary *summary);
void summary__definitions(struct summary *summary);
/* `count` questions, then the usual ones (grain_whatif.h). */
void summary__whatif(struct summary *summary, const struct grain_whatif_question *questions, size_t count);
void summary__tasks(struct summary *summary);
void summary__waits(struct summary *summary);
void summary__regions(struct summary *summary);
/* summary_kept.c: of long jobs; what of the run is shown, added to a text, and the regions that were kept. */
struct format_text;
void summary__coverage(const struct summary *summary, struct format_text *text);
void summary__kept(struct summary *summary);
void summary__loops(struct summary *summary);
void summary__chunks(struct summary *summary);
void summary__locks(struct summary *summary);
void summary__depths(struct summary *summary);
void summary__losses(struct summary *summary);

#endif
