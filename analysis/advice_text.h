/* SPDX-License-Identifier: BSD-2-Clause */
/* The sentences of an advice. */
#ifndef GRAIND_ADVICE_TEXT_H
#define GRAIND_ADVICE_TEXT_H

#include "analysis/graph.h"

/* Leaf tasks of one definition that run shorter than they cost; medians of them. */
struct small_tasks {
	uint64_t tasks;
	double exec_ns, cost_ns;
	uint32_t definition;
};

/* What creating and joining the task costs when only this share of the waiting is a cost; NAN unknown. */
static inline double advice__cost(const struct context *c, double sync_share)
{
	return (double)c->create_ns + (c->cost_ns - (double)c->create_ns) * sync_share;
}

/* `inclusive`: per context, its execution time with all below it. */
int advice__small_tasks(struct grain_graph *graph, const struct small_tasks *small, const uint64_t *inclusive,
			struct advice *out);

/* Threads of one definition's regions with nothing to run. */
struct idle_threads {
	uint64_t regions;
	double idle_ns, core_ns;
	uint32_t definition, threads;
};
void advice__idle_threads(const struct grain_graph *graph, const struct idle_threads *idle,
			  struct advice *out);

void advice__imbalance(const struct grain_graph *graph, const struct imbalance *imbalance,
		       struct advice *out);

/* Exposed for the tests: "8,190", "1.2 us". */
const char *advice__count(uint64_t count, char text[32]);
const char *advice__time(double ns, char text[32]);

#endif
