/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples: where a program was, taken at a fixed frequency. They show how many samples were in tasks and
 * chunks, and which functions and lines were hot: in the whole program, by definition and by problem. With n
 * samples a share p has a standard error of about sqrt(p (1 - p) / n).
 */
#ifndef GRAIND_GRAIN_SAMPLES_H
#define GRAIND_GRAIN_SAMPLES_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_sampling {
	bool asked;	   /* samples were requested */
	const char *clock; /* "cycles" or "cpu-clock"; NULL: there are no samples, for the reason `why` */
	const char *why;
	uint32_t hz;
	uint64_t lost;	  /* number of lost samples and of cut stacks */
	uint64_t samples; /* sum of the numbers below */
	uint64_t grains;  /* in the code of tasks and chunks itself */
	uint64_t members; /* in the code of implicit tasks itself */
	uint64_t runtime; /* in a task or region, but waiting, creating a task, or getting iterations */
	uint64_t outside; /* outside of parallel regions */
};
void grain_graph__sampling(const struct grain_graph *graph, struct grain_sampling *out);

/* Selects samples. */
struct grain_hot_opts {
	size_t profile; /* only samples in tasks or chunks of this row of the profile; SIZE_MAX: any */
	int problem;	/* only samples in grains with this enum grain_problem; -1: any */
	bool lines;	/* true: by source line; false: by function */
};

struct grain_hot {
	const char *function; /* the module if it has no name; never empty */
	const char *file;     /* base name, or module; may be "" */
	uint32_t line;	      /* 0: rows are functions, or the line is not known */
	uint64_t self;	/* samples in it; for a line, also samples in functions called from it whose lines are
			   not known */
	uint64_t total; /* samples that have it anywhere on the stack; 0 for lines */
};

/*
 * Lists the hottest rows first: by self, then total, then name. The caller frees *out; the graph owns its
 * strings. *samples is the number of selected samples. Returns 0 or -ENOMEM.
 */
int grain_graph__hot(const struct grain_graph *graph, const struct grain_hot_opts *opts,
		     struct grain_hot **out, size_t *count, uint64_t *samples);

/*
 * Writes all stacks in the folded format of flame graphs. Each is one line, "program;outermost;...;innermost
 * COUNT". Lines are sorted. Returns 0 or a negative errno of the stream.
 */
int grain_graph__write_folded(const struct grain_graph *graph, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
