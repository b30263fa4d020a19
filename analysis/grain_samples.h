/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a program was, asked a set number of times a second on each CPU: how
 * much of that was in tasks and chunks, and which functions and lines were hot,
 * in the whole program, by definition and by problem. A share p of n samples is
 * known to about sqrt(p (1 - p) / n).
 */
#ifndef GRAIND_GRAIN_SAMPLES_H
#define GRAIND_GRAIN_SAMPLES_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_sampling {
	bool asked;	   /* else nothing was sampled */
	const char *clock; /* "cycles" or "cpu-clock"; NULL: there are no samples, for the reason `why` */
	const char *why;
	uint32_t hz;
	uint64_t lost;	  /* samples, or the rests of their stacks */
	uint64_t samples; /* those below together */
	uint64_t grains;  /* in the own code of tasks and chunks */
	uint64_t members; /* in that of implicit tasks: elsewhere in parallel regions */
	uint64_t runtime; /* in a task or a region, but waiting, creating, or getting iterations */
	uint64_t outside; /* of parallel regions */
};
void grain_graph__sampling(const struct grain_graph *graph, struct grain_sampling *out);

/* Which samples. */
struct grain_hot_opts {
	size_t profile; /* of tasks or chunks of this row of the profile; SIZE_MAX: any */
	int problem;	/* of grains with this enum grain_problem; -1: any */
	bool lines;	/* by source line; else by function */
};

struct grain_hot {
	const char *function; /* never empty: without a name its module */
	const char *file;     /* base name, or module; may be "" */
	uint32_t line;	      /* 0: by function, or not known */
	uint64_t
		self; /* samples that were in it; of a line, or in what it called of which no line is known */
	uint64_t total; /* samples with it anywhere on the stack; of lines 0 */
};

/*
 * The hottest first: by self, then by total, then by name. *out is the caller's
 * to free, its strings are the graph's; *samples is of how many. -ENOMEM.
 */
int grain_graph__hot(const struct grain_graph *graph, const struct grain_hot_opts *opts,
		     struct grain_hot **out, size_t *count, uint64_t *samples);

/*
 * All stacks, folded, as flame graphs are made of: a line each, "program;outermost;...;innermost COUNT",
 * sorted. 0 or a negative errno of the stream.
 */
int grain_graph__write_folded(const struct grain_graph *graph, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
