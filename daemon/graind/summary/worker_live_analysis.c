// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a part of a trace on standard input, and writes the part of a summary on parallelism and problems,
 * as JSON.
 */
#include "daemon/graind/summary/live_analysis.h"

#include "analysis/include/grain.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define MEMORY_BYTES (1ull << 30)

static json_t *problems_of(const struct grain_graph *graph)
{
	json_t *problems = json_object();

	for (int i = 0; i < GRAIN_PROBLEM_COUNT; i++) {
		struct grain_problem_summary problem;

		grain_graph__problem(graph, (enum grain_problem)i, &problem);
		if (problem.available && isfinite(problem.percent))
			json_object_set_new(problems, problem.name,
					    json_pack("{s:b, s:f, s:f}", "available", 1, "grains",
						      (double)problem.grains, "percent", problem.percent));
	}
	return problems;
}

int worker__live_analysis(void)
{
	/* The part has no end, and what began before the part is incomplete. */
	const struct grain_load_opts opts = {.keep_going = true, .max_bytes = MEMORY_BYTES};
	struct grain_graph *graph = NULL;
	json_t *answer = NULL;
	double parallelism;
	int status = 1;

	if (grain_graph__load_fd(STDIN_FILENO, "the trace", &opts, &graph, NULL) == 0) {
		parallelism = grain_graph__totals(graph)->average_parallelism;
		answer = json_pack("{s:o, s:o}", "average_parallelism",
				   isfinite(parallelism) ? json_real(parallelism) : json_null(), "problems",
				   problems_of(graph));
	}
	if (answer)
		status = json_dumpf(answer, stdout, JSON_COMPACT) != 0;
	json_decref(answer);
	grain_graph__free(graph);
	return status | (fflush(stdout) != 0);
}
