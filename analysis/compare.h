/* SPDX-License-Identifier: BSD-2-Clause */
/* Two graphs matched by identifier, as the files of this folder see it. */
#ifndef GRAIND_COMPARE_H
#define GRAIND_COMPARE_H

#include "analysis/grain_compare.h"
#include "analysis/graph.h"
#include "analysis/profile.h"

/* In place of a context: it has a namesake that executes other iterations. */
#define MATCH_OTHER_WORK (GRAIN_NONE - 1)

struct match {
	const struct grain_graph *base, *run;
	/* Per context and then per region of the run: that of the base, MATCH_OTHER_WORK or GRAIN_NONE. */
	uint32_t *base_of;
	size_t count;
	uint64_t refused; /* complete grains of the base whose namesake executes other iterations */
};

/*
 * Finds the namesakes (README.md, "Identifiers"). Linear in both graphs but for
 * sorting, per scope, what did not happen in the order of its names. What it
 * keeps and what it needs meanwhile (20 bytes a context) count against
 * `memory`. 0, -ENOMEM or -E2BIG.
 */
int match__find(const struct grain_graph *base, const struct grain_graph *run, struct memory *memory,
		struct match *out);
void match__release(struct match *match, struct memory *memory);

/* As grain_compare__reason and grain_compare__deviation. */
enum grain_compare_reason match__reason(const struct match *match, uint32_t context);
double match__deviation(const struct match *match, uint32_t context);
/* All of *out; what is above `threshold` is inflated. `other_definition` is left 0. */
void match__count(const struct match *match, double threshold, struct grain_compare_totals *out);

/*
 * The median deviation of each row: `deviation` is per context, NAN absent,
 * `row_of_slot` says where the grains of a row of the profile go (profile__slot;
 * GRAIN_NONE: nowhere). NAN for rows without any. 0, -ENOMEM or -E2BIG.
 */
int deviation__medians(const struct grain_graph *graph, const double *deviation, const uint32_t *row_of_slot,
		       size_t row_count, struct memory *memory, double *median);

#endif
