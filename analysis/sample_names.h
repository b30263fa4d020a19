/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions, or lines, that the addresses of samples belong to. Internal to analysis. */
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

/* lines: addresses of one function and line have one name; else those of one function. -ENOMEM. */
int sample_names__find(const struct grain_graph *graph, bool lines, struct sample_names *out);
/*
 * How many addresses of a stack are the program's: code that keeps no frame pointers leads the walk astray,
 * to where no code is.
 */
uint32_t sample_stack__depth(const struct event_stream *stream, const struct event_stack *stack);

/* Of its contents; the strings are the graph's. */
void sample_names__free(struct sample_names *names);

#endif
