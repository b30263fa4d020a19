/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of sampled addresses. All addresses of one function share a name, or all of one line of a
 * function. Internal to analysis.
 */
#ifndef GRAIND_SAMPLE_NAMES_H
#define GRAIND_SAMPLE_NAMES_H

#include "analysis/graph/graph.h"

struct sample_name {
	const char *function, *file;
	uint32_t line;
};

struct sample_names {
	uint32_t *row; /* per address of the stream: the index of its name */
	struct sample_name *names;
	size_t count;
};

/* Finds the functions and the lines of the graph's samples. Returns 0 or -ENOMEM. */
int graph__name_samples(struct grain_graph *graph);

/*
 * Returns how many addresses of a stack, from the innermost on, are addresses of code. The others are wrong:
 * if code has no frame pointers, the walk over the stack finds addresses without code.
 */
uint32_t sample_stack__depth(const struct event_stream *stream, const struct event_stack *stack);

void sample_names__free(struct sample_names *names); /* accepts NULL; the strings are the stream's */

#endif
