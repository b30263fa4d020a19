/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two runs of a program side by side: grains matched by their identifiers
 * (PPOPP16 section 3.2, work deviation) and what changed per definition.
 * Times are nanoseconds.
 */
#ifndef GRAIND_GRAIN_COMPARE_H
#define GRAIND_GRAIN_COMPARE_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_compare;

/* Both graphs must outlive the comparison. 0, -ENOMEM or -E2BIG (above 8 GiB). */
int grain_compare__new(const struct grain_graph *base, const struct grain_graph *run,
		       struct grain_compare **out);
void grain_compare__free(struct grain_compare *compare); /* accepts NULL */

/*
 * The context of the base with the identifier of `context` of the run;
 * GRAIN_NONE: there is none. A member's share of a static loop and a task of a
 * taskloop match only where they execute the same iterations, as far as that
 * is known; what is made in those that do not has no match either.
 */
uint32_t grain_compare__match(const struct grain_compare *compare, uint32_t context);

/* Whether a context of the run has a work deviation, or why it has none. */
enum grain_compare_reason {
	GRAIN_COMPARE_MEASURED,
	GRAIN_COMPARE_NO_GRAIN,	       /* not a task or chunk of the program */
	GRAIN_COMPARE_INCOMPLETE,      /* not seen whole, or discarded */
	GRAIN_COMPARE_NOT_FOUND,       /* no grain of the base has its identifier */
	GRAIN_COMPARE_OTHER_WORK,      /* the one that has it executes other iterations */
	GRAIN_COMPARE_BASE_INCOMPLETE, /* the one that has it was not seen whole, or was discarded */
	GRAIN_COMPARE_BASE_ZERO,       /* it took no time in the base: nothing to divide by */
	GRAIN_COMPARE_REASON_COUNT
};
enum grain_compare_reason grain_compare__reason(const struct grain_compare *compare, uint32_t context);
/* exec in the run / exec in the base; NAN unless the reason is GRAIN_COMPARE_MEASURED. */
double grain_compare__deviation(const struct grain_compare *compare, uint32_t context);

struct grain_compare_totals {
	uint64_t base_grains, run_grains; /* complete ones */
	uint64_t matched;		  /* pairs of them */
	double matched_percent;		  /* of the larger of the two; NAN: neither has any */
	bool same_shape;	      /* every grain of each, complete or not, has its match in the other */
	uint64_t base_only, run_only; /* complete grains whose identifier the other run does not have */
	uint64_t inflated;	      /* grains with a deviation above the threshold */
	double threshold;	      /* the run's setting work_deviation */
	int64_t excess_ns;	      /* of matched pairs: sum of exec in the run less that in the base */
	uint64_t other_definition;    /* matched pairs made by other lines of the source */
	uint64_t reasons[GRAIN_COMPARE_REASON_COUNT]; /* grains of the run */
};
void grain_compare__totals(const struct grain_compare *compare, struct grain_compare_totals *out);

/* A row of one run's profile. */
struct grain_side {
	uint64_t instances;
	struct grain_stat exec, create, wait;
	double problem_percent[GRAIN_PROBLEM_COUNT]; /* of its complete grains; NAN: absent */
};

/*
 * Rows of either run's profile, joined by source, function and kind. What is
 * left is joined by function and kind in the order of lines, where both runs
 * have equally many: a line moved.
 */
struct grain_compare_definition {
	uint32_t base, run;   /* definitions; GRAIN_NONE: unknown, or only in the other */
	const char *source;   /* in the run, else in the base; "" unknown */
	const char *function; /* likewise */
	const char *kind;
	struct grain_side before, after; /* all 0 and NAN where it is only in the other */
	uint64_t matched, inflated;	 /* of the run's grains of this definition */
	double median_deviation;	 /* of those measured; NAN */
	int64_t excess_ns;
};
/* The largest change of exec.sum first. */
size_t grain_compare__definition_count(const struct grain_compare *compare);
void grain_compare__definition(const struct grain_compare *compare, size_t index,
			       struct grain_compare_definition *out);

/* Contexts of the run whose deviation is above the threshold, the largest excess (in time) first. */
size_t grain_compare__inflated_count(const struct grain_compare *compare);
uint32_t grain_compare__inflated(const struct grain_compare *compare, size_t index);

/*
 * One object, README.md; at most 100 inflated grains. Jobs as
 * grain_graph__write_summary_json. 0 or a negative errno of the stream.
 */
int grain_compare__write_json(const struct grain_compare *compare, uint64_t base_job, uint64_t job,
			      FILE *out);

#ifdef __cplusplus
}
#endif

#endif
