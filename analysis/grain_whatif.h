/* SPDX-License-Identifier: BSD-2-Clause */
/* What if the grains of one definition ran k times faster: the new span and a bound of the makespan. */
#ifndef GRAIND_GRAIN_WHATIF_H
#define GRAIND_GRAIN_WHATIF_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_whatif {
	uint64_t work_ns, span_ns; /* with the definition's grains at 1/k of their time */
	/*
	 * Of the execution on `cores`: no schedule is shorter than `least_ns`
	 * (max of span and work / cores), no greedy one longer than `most_ns`
	 * (Brent 1974, Graham 1969: work / cores + span * (1 - 1 / cores)).
	 * Book-keeping and creation are not in them.
	 */
	uint64_t least_ns, most_ns;
	uint64_t before_least_ns, before_most_ns; /* the same without the change */
	/*
	 * Of the observed wall time, scaled: wall * (1 - most / before_most), at
	 * least 0 and at most the work that goes.
	 */
	uint64_t saves_ns;
};
/*
 * Fragments of the definition's contexts take 1/factor of their time, each
 * rounded to a nanosecond; a factor below 1 makes them slower. Nothing in the
 * graph changes: threads may ask at the same time. Linear in the graph; takes
 * about 30 bytes a context while it runs, 60 with dependences or where waits
 * were not seen whole. 0, -EINVAL (no such definition, factor not above 0 or so
 * small that times overflow, no cores) or -ENOMEM.
 */
int grain_graph__whatif(const struct grain_graph *graph, uint32_t definition, double factor, uint32_t cores,
			struct grain_whatif *out);

struct grain_whatif_question {
	uint32_t definition;
	double factor;
};
/*
 * The questions that a summary answers unasked: what the definitions with most
 * time on the critical path, the longest first, bring when twice as fast.
 * Returns how many, at most `room`.
 */
#define GRAIN_WHATIF_USUAL 3
size_t grain_graph__usual_questions(const struct grain_graph *graph, struct grain_whatif_question *out,
				    size_t room);
/*
 * "fib.c:8=2": the definition with that source, of several the one with most
 * time in grains, and the factor. -EINVAL with *err saying what is wrong.
 */
int grain_graph__parse_question(const struct grain_graph *graph, const char *text,
				struct grain_whatif_question *out, struct grain_error *err);
/* grain_graph__write_summary_json with the answers to `count` questions before the usual ones. */
int grain_graph__write_summary_json_whatif(const struct grain_graph *graph, uint64_t job,
					   const struct grain_whatif_question *questions, size_t count,
					   FILE *out);

#ifdef __cplusplus
}
#endif

#endif
