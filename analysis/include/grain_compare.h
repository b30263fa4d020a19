/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two runs of a program, the base and the run. It matches their grains by identifiers (work
 * deviation, PPOPP16 section 3.2), and says what has changed for each definition. Times are in nanoseconds.
 */
#ifndef GRAIND_GRAIN_COMPARE_H
#define GRAIND_GRAIN_COMPARE_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_compare;

/* Both graphs must outlive the comparison. Returns 0, -ENOMEM, or -E2BIG if it needs more than 8 GiB. */
int grain_compare__new(const struct grain_graph *base, const struct grain_graph *run,
		       struct grain_compare **out);
void grain_compare__free(struct grain_compare *compare); /* accepts NULL */

/*
 * Returns the context of the base that has the same identifier as `context` of the run. GRAIN_NONE: there is
 * none. A share of a static loop or a task of a taskloop matches only if both execute the same iterations, as
 * far as they are known. If they do not, what they created has no match either.
 */
uint32_t grain_compare__match(const struct grain_compare *compare, uint32_t context);

/* Says whether a context of the run has a work deviation, or why it has none. */
enum grain_compare_reason {
	GRAIN_COMPARE_MEASURED,
	GRAIN_COMPARE_NO_GRAIN,	       /* it is not a task or chunk of the program */
	GRAIN_COMPARE_INCOMPLETE,      /* it was not seen whole, or was discarded */
	GRAIN_COMPARE_NOT_FOUND,       /* no grain of the base has its identifier */
	GRAIN_COMPARE_OTHER_WORK,      /* the base's grain executes other iterations */
	GRAIN_COMPARE_BASE_INCOMPLETE, /* the base's grain was not seen whole, or was discarded */
	GRAIN_COMPARE_BASE_ZERO,       /* the base's grain took no time, so there is no quotient */
	GRAIN_COMPARE_REASON_COUNT
};
enum grain_compare_reason grain_compare__reason(const struct grain_compare *compare, uint32_t context);
/* Returns exec in the run / exec in the base. NAN unless the reason is GRAIN_COMPARE_MEASURED. */
double grain_compare__deviation(const struct grain_compare *compare, uint32_t context);

struct grain_compare_totals {
	uint64_t base_grains, run_grains; /* numbers of complete grains */
	uint64_t matched;		  /* number of pairs of complete grains */
	double matched_percent;		  /* matched in percent of the larger number; NAN: both are 0 */
	bool same_shape;		  /* every grain, complete or not, has its match in the other run */
	uint64_t base_only, run_only;	  /* complete grains whose identifier is not in the other run */
	uint64_t inflated;		  /* grains with a deviation above the threshold */
	double threshold;		  /* the run's setting work_deviation */
	int64_t excess_ns;	   /* of matched pairs: the sum of exec in the run minus exec in the base */
	uint64_t other_definition; /* matched pairs that different lines of the source have created */
	uint64_t reasons[GRAIN_COMPARE_REASON_COUNT]; /* number of the run's grains for each reason */
};
void grain_compare__totals(const struct grain_compare *compare, struct grain_compare_totals *out);

/* A row in the profile of one run. */
struct grain_side {
	uint64_t instances;
	struct grain_stat exec, create, wait;
	double problem_percent[GRAIN_PROBLEM_COUNT]; /* percent of its complete grains; NAN: absent */
};

/*
 * A row of the base's profile and a row of the run's with the same source, function and kind. If lines have
 * moved, some rows have no partner. Then rows of the same function and kind are joined in the order of their
 * lines, if both runs have equally many of them.
 */
struct grain_compare_definition {
	uint32_t base, run;   /* definitions; GRAIN_NONE: unknown, or only the other run has it */
	const char *source;   /* of the run; if only the base has it, of the base; "": unknown */
	const char *function; /* as for source */
	const char *kind;
	struct grain_side before, after; /* all 0 and NAN if only the other run has it */
	uint64_t matched, inflated;	 /* numbers of the run's grains of this definition */
	double median_deviation;	 /* of the grains that have one; NAN: none has */
	int64_t excess_ns;
};
/* The largest change of exec.sum first. */
size_t grain_compare__definition_count(const struct grain_compare *compare);
void grain_compare__definition(const struct grain_compare *compare, size_t index,
			       struct grain_compare_definition *out);

/*
 * Contexts of the run whose deviation is above the threshold. Those with the largest excess of time come
 * first.
 */
size_t grain_compare__inflated_count(const struct grain_compare *compare);
uint32_t grain_compare__inflated(const struct grain_compare *compare, size_t index);

/*
 * Writes one object, as METRICS.md describes it, with at most 100 inflated grains. The jobs are as for
 * grain_graph__write_summary_json. Returns 0 or a negative errno of the stream.
 */
int grain_compare__write_json(const struct grain_compare *compare, uint64_t base_job, uint64_t job,
			      FILE *out);

#ifdef __cplusplus
}
#endif

#endif
