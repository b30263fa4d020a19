// SPDX-License-Identifier: BSD-2-Clause
/* Samples and the grains that they were taken in. */
#include "analysis/grain_samples.h"
#include "analysis/graph_replay.h"

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

void grain_graph__sampling(const struct grain_graph *graph, struct grain_sampling *out)
{
	const struct event_sampling *sampling = &graph->stream->sampling;

	*out = (struct grain_sampling){
		.asked = sampling->asked || graph->sample_count,
		.clock = sampling->clock       ? sampling->clock
			 : graph->sample_count ? "unknown"
					       : NULL,
		.why = sampling->why ? sampling->why : "it was not asked for",
		.hz = sampling->hz,
		.lost = sampling->lost,
		.samples = graph->sample_count,
	};
	for (size_t i = 0; i < graph->sample_count; i++) {
		const struct sample *s = &graph->samples[i];

		if (sample__is_in_grain(s, graph->contexts))
			out->grains++;
		else if (s->context == GRAIN_NONE ||
			 (s->working && graph->contexts[s->context].kind == GRAIN_INITIAL))
			out->outside++;
		else if (!s->working)
			out->runtime++;
		else
			out->members++;
	}
}
