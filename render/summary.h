/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the text summary that share a way of writing. */
#ifndef GRAIND_RENDER_SUMMARY_H
#define GRAIND_RENDER_SUMMARY_H

#include "render/columns.h"
#include "render/render.h"

struct summary {
	const struct grain_graph *graph;
	unsigned columns;
	bool colour;
	FILE *out;
	bool failed; /* memory was short */
};

void summary__heading(const struct summary *summary, const char *title);
/* Wrapped at blanks, the lines after the first indented. Clean text. */
void summary__paragraph(const struct summary *summary, const char *first, const char *text);

void summary__totals(struct summary *summary);
void summary__problems(struct summary *summary);
void summary__definitions(struct summary *summary);
/* `count` questions, then the usual ones (grain_whatif.h). */
void summary__whatif(struct summary *summary, const struct grain_whatif_question *questions, size_t count);
void summary__tasks(struct summary *summary);
void summary__waits(struct summary *summary);
void summary__regions(struct summary *summary);
void summary__loops(struct summary *summary);
void summary__locks(struct summary *summary);
void summary__depths(struct summary *summary);
void summary__losses(struct summary *summary);

#endif
