/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions, or lines, that the addresses of samples belong to: those of one function, or of one function and
 * line, have one name. Internal to analysis.
 */
#ifndef GRAIND_SAMPLE_NAMES_H
#define GRAIND_SAMPLE_NAMES_H

#include "analysis/graph.h"

struct sample_name {
	const char *function, *file;
	uint32_t line;
};

struct sample_names {
	uint32_t *row; /* by address of the stream: index of its name */
	struct sample_name *names;
	size_t count;
};

/* Finds functions and lines of the graph's samples. -ENOMEM. */
int graph__name_samples(struct grain_graph *graph);

/*
 * How many addresses of a stack are the program's: code that keeps no frame pointers leads the walk astray,
 * to where no code is.
 */
uint32_t sample_stack__depth(const struct event_stream *stream, const struct event_stack *stack);

void sample_names__free(struct sample_names *names); /* accepts NULL; the strings are the stream's */

#endif
