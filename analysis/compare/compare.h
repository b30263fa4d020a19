/* SPDX-License-Identifier: BSD-2-Clause */
/* Two graphs matched by identifier, as the files of compare/ see them. */
#ifndef GRAIND_COMPARE_H
#define GRAIND_COMPARE_H

#include "analysis/include/grain_compare.h"
#include "analysis/graph/graph.h"
#include "analysis/metrics/profile.h"

/* In place of a context: the base has a context of the same identifier, but it executes other iterations. */
#define MATCH_OTHER_WORK (GRAIN_NONE - 1)

struct match {
	const struct grain_graph *base, *run;
	/*
	 * Per context, then per region of the run: the element of the base with the same identifier,
	 * MATCH_OTHER_WORK or GRAIN_NONE.
	 */
	uint32_t *base_of;
	size_t count;
	uint64_t refused; /* complete grains of the base whose counterpart executes other iterations */
};

/*
 * Matches contexts and regions by identifier (analysis/README.md, "Identifiers"). Takes linear time in both
 * graphs. Only elements of a scope that did not happen in the order of their names must be sorted. The result
 * and temporary memory (20 bytes a context) count against `memory`. Returns 0, -ENOMEM or -E2BIG.
 */
int match__find(const struct grain_graph *base, const struct grain_graph *run, struct memory *memory,
		struct match *out);
void match__release(struct match *match, struct memory *memory);

/* As grain_compare__reason() and grain_compare__deviation(). */
enum grain_compare_reason match__reason(const struct match *match, uint32_t context);
double match__deviation(const struct match *match, uint32_t context);
/*
 * Fills *out, except other_definition, which stays 0. Grains with a deviation above `threshold` count as
 * inflated.
 */
void match__count(const struct match *match, double threshold, struct grain_compare_totals *out);

/*
 * Computes the median deviation of each row. `deviation` is per context; NAN: absent. `row_of_slot` maps
 * profile__slot() to rows; GRAIN_NONE: none. A row without deviations gets NAN. Returns 0, -ENOMEM or -E2BIG.
 */
int deviation__medians(const struct grain_graph *graph, const double *deviation, const uint32_t *row_of_slot,
		       size_t row_count, struct memory *memory, double *median);

/* Steps of grain_graph__build(). baseline NULL: there is none. */
int graph__measure_deviation(struct grain_graph *graph, const struct grain_graph *baseline);
int graph__profile_deviation(struct grain_graph *graph); /* after graph__profile */

#endif
