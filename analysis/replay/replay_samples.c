// SPDX-License-Identifier: BSD-2-Clause
/* Samples and the grains that they were taken in. */
#include "analysis/replay/replay.h"

int replay__sample(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	const struct thread *t = &g->threads[thread];
	int error;

	if (e->id >= g->stream->stack_count)
		return 0;
	error = GROW(g, samples, sample_count, sample_capacity);
	if (error < 0)
		return error;
	g->samples[g->sample_count++] = (struct sample){
		.stack = e->id,
		.context = t->top == GRAIN_NONE ? GRAIN_NONE : r->frames[t->top].context,
		.working = t->top != GRAIN_NONE && frame__on_top_in_fragment(r, t->top),
	};
	return 0;
}
