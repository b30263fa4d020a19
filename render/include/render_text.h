/* SPDX-License-Identifier: BSD-2-Clause */
/* The text summary. */
#ifndef GRAIND_RENDER_TEXT_H
#define GRAIND_RENDER_TEXT_H

#include "analysis/include/grain.h"
#include "analysis/include/grain_whatif.h"

struct render_text_opts {
	unsigned columns; /* 0: 80 */
	bool colour;
	bool unicode; /* draw bars with block characters; else with ASCII */
	uint64_t job; /* 0: none */
	/* What-if questions to answer besides the usual ones. */
	const struct grain_whatif_question *questions;
	size_t question_count;
};

/* Writes the text summary: the verdict in the first five lines, then tables. */
int render__summary(const struct grain_graph *graph, const struct render_text_opts *opts, FILE *out);

#endif
