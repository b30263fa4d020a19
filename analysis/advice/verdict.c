// SPDX-License-Identifier: BSD-2-Clause
/* What a report says first. Text and page ask here, so that they say the same. */
#include "analysis/graph/graph.h"
#include "analysis/include/grain_account.h"

/* Part of the threads' time. If less is lost, it costs next to nothing. */
#define NOTICEABLE 0.05

static bool loses_time(const struct grain_account *a)
{
	return !a->why && a->all.capacity_ns &&
	       (double)grain_account_part__lost_ns(&a->all) >= NOTICEABLE * (double)a->all.capacity_ns;
}

enum grain_verdict grain_graph__verdict(const struct grain_graph *graph)
{
	if (graph->advice_count)
		return GRAIN_VERDICT_ADVICE;
	if (!grain_graph__totals(graph)->grains)
		return GRAIN_VERDICT_NO_GRAINS;
	return loses_time(grain_graph__account(graph)) ? GRAIN_VERDICT_LOST : GRAIN_VERDICT_NONE;
}

const char *grain_verdict__name(enum grain_verdict verdict)
{
	static const char *const names[] = {
		[GRAIN_VERDICT_ADVICE] = "advice",
		[GRAIN_VERDICT_LOST] = "lost",
		[GRAIN_VERDICT_NONE] = "none",
		[GRAIN_VERDICT_NO_GRAINS] = "no_grains",
	};

	return names[verdict];
}
