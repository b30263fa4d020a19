/* SPDX-License-Identifier: BSD-2-Clause */
/* What if the grains of one definition ran k times faster? Computes the new span, and bounds of the time. */
#ifndef GRAIND_GRAIN_WHATIF_H
#define GRAIND_GRAIN_WHATIF_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grain_whatif {
	uint64_t work_ns, span_ns; /* with the definition's grains k times as fast */
	/*
	 * Bounds of the time on `cores`, without book-keeping and creation. No schedule is shorter than
	 * least_ns: max(span, work / cores). No greedy schedule is longer than most_ns: work / cores + span *
	 * (1 - 1 / cores) (Brent 1974, Graham 1969).
	 */
	uint64_t least_ns, most_ns;
	uint64_t before_least_ns, before_most_ns; /* the same without the change */
	/*
	 * How much of the observed wall time is saved: wall * (1 - most / before_most). It is at least 0 and
	 * at most the work that is saved.
	 */
	uint64_t saves_ns;
};
/*
 * Computes the answer. Each fragment of the definition's contexts takes 1/factor of its time, rounded to a
 * nanosecond; a factor below 1 makes it slower. The graph does not change, so several threads may ask at the
 * same time. This takes linear time and about 30 bytes for each context. It takes 60 bytes if there are
 * dependences or waits that were not seen completely. Returns 0, -ENOMEM, or -EINVAL: there is no such
 * definition, `cores` is 0, or the factor is not above 0 or so small that times overflow.
 */
int grain_graph__whatif(const struct grain_graph *graph, uint32_t definition, double factor, uint32_t cores,
			struct grain_whatif *out);

struct grain_whatif_question {
	uint32_t definition;
	double factor;
};
/*
 * Finds the questions that every summary answers: how much it saves to make a definition twice as fast. They
 * are about the definitions with most time on the critical path, the longest first. Returns how many there
 * are, at most `room`.
 */
#define GRAIN_WHATIF_USUAL 3
size_t grain_graph__usual_questions(const struct grain_graph *graph, struct grain_whatif_question *out,
				    size_t room);
/*
 * Reads a question such as "fib.c:8=2": the source of a definition, and the factor. If several definitions
 * have that source, the question is about the one with the most time in grains. Returns 0, or -EINVAL with
 * the reason in *err.
 */
int grain_graph__parse_question(const struct grain_graph *graph, const char *text,
				struct grain_whatif_question *out, struct grain_error *err);
/* As grain_graph__write_summary_json(), but answers `count` questions before the usual ones. */
int grain_graph__write_summary_json_whatif(const struct grain_graph *graph, uint64_t job,
					   const struct grain_whatif_question *questions, size_t count,
					   FILE *out);

#ifdef __cplusplus
}
#endif

#endif
