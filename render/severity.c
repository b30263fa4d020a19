/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/severity.h"

#include <math.h>

double severity__value(const struct grain_context *context, enum grain_problem problem)
{
	switch (problem) {
	case GRAIN_PROBLEM_PARALLEL_BENEFIT:
		return context->parallel_benefit;
	case GRAIN_PROBLEM_LOAD_BALANCE:
		return context->load_balance;
	case GRAIN_PROBLEM_WORK_DEVIATION:
		return context->work_deviation;
	case GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM:
		return context->instantaneous_parallelism;
	case GRAIN_PROBLEM_SCATTER:
		return context->scatter;
	case GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION:
		return context->memory_hierarchy_utilization;
	case GRAIN_PROBLEM_CACHE_MISS_RATIO:
		return context->cache_miss_ratio;
	case GRAIN_PROBLEM_COUNT:
		break;
	}
	return NAN;
}

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
	value = severity__value(context, problem);
	ratio = severity__is_low_bad(problem) ? value / threshold : threshold / value;
	if (isnan(ratio) || ratio > .999)
		ratio = .999;
	return ratio < 0 ? 1 : 1 - ratio;
}
