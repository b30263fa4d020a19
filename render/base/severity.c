/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/base/severity.h"

#include <math.h>

bool severity__is_low_bad(enum grain_problem problem)
{
	return problem == GRAIN_PROBLEM_PARALLEL_BENEFIT ||
	       problem == GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM ||
	       problem == GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION;
}

double severity__of(const struct grain_context *context, enum grain_problem problem, double threshold)
{
	double value, ratio;

	if (problem >= GRAIN_PROBLEM_COUNT || !(context->problems & 1u << problem))
		return 0;
	value = grain_context__metric(context, problem);
	ratio = severity__is_low_bad(problem) ? value / threshold : threshold / value;
	if (isnan(ratio) || ratio > .999)
		ratio = .999;
	return ratio < 0 ? 1 : 1 - ratio;
}
