// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/replay/replay.h"
#include "analysis/machine/numa.h"

int replay__access(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	const struct thread *t = &g->threads[thread];
	struct numa *n = g->numa;
	int error = memory__grow(&g->memory, (void **)&n->accesses, &n->access_capacity, n->access_count,
				 sizeof *n->accesses);

	if (error < 0)
		return error;
	n->accesses[n->access_count++] = (struct numa_access){
		.page = e->value,
		.context = t->top == GRAIN_NONE ? GRAIN_NONE : r->frames[t->top].context,
		.from = grain_graph__node_of_cpu(g, e->cpu),
		.to = e->id == GRAIN_NONE ? GRAIN_NONE : numa__index(n, e->id),
		.working = t->top != GRAIN_NONE && frame__on_top_in_fragment(r, t->top),
		.why = e->id == GRAIN_NONE && e->sub < GRAIN_ACCESS_WHYS ? e->sub
									 : (uint8_t)GRAIN_ACCESS_UNKNOWN,
	};
	return 0;
}
