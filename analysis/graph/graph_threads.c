// SPDX-License-Identifier: BSD-2-Clause
/* Data about threads, the processes that took their CPUs, and their samples. */
#include "analysis/include/grain_samples.h"
#include "analysis/graph/graph.h"

const char *grain_graph__scheduler_absent(const struct grain_graph *graph)
{
	if (graph->scheduler_seen)
		return NULL;
	return graph->info.scheduler_absent && graph->info.scheduler_absent[0]
		       ? graph->info.scheduler_absent
		       : "the capture has no events of the scheduler";
}

void grain_graph__scheduled(const struct grain_graph *graph, uint32_t context, struct grain_scheduled *out)
{
	const struct context *c = &graph->contexts[context];

	*out = c->rare ? graph->rares[c->rare - 1].scheduled : (struct grain_scheduled){0};
}

size_t grain_graph__thread_count(const struct grain_graph *graph)
{
	return graph->thread_count;
}

void grain_graph__thread(const struct grain_graph *graph, size_t index, struct grain_thread *out)
{
	const struct thread *t = &graph->threads[index];
	uint64_t seen_ns = t->last_ns - t->first_ns - t->away_ns;

	*out = (struct grain_thread){
		.tid = t->tid,
		.first_ns = t->first_ns,
		.last_ns = t->last_ns,
		.cpu_ns = seen_ns > t->scheduled.off_ns ? seen_ns - t->scheduled.off_ns : 0,
		.unseen = t->unseen,
		.lost = t->switches_lost,
		.scheduled = t->scheduled,
	};
}

size_t grain_graph__neighbour_count(const struct grain_graph *graph)
{
	return graph->neighbour_count;
}

void grain_graph__neighbour(const struct grain_graph *graph, size_t index, struct grain_neighbour *out)
{
	*out = graph->neighbours[index];
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
