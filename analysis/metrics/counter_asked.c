// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/graph/counters.h"
#include "analysis/include/grain_counters.h"

size_t grain_graph__asked_counter_count(const struct grain_graph *graph)
{
	return graph->stream->counter_count + graph->stream->absent_counter_count;
}

void grain_graph__asked_counter(const struct grain_graph *graph, size_t index, struct grain_counter *out)
{
	const struct event_stream *s = graph->stream;

	if (index >= s->counter_count) {
		const struct event_absent_counter *absent = &s->absent_counters[index - s->counter_count];

		*out = (struct grain_counter){.name = absent->name, .absent = absent->why};
		return;
	}
	*out = (struct grain_counter){.name = s->counters[index].name,
				      .share = s->counters[index].share > 0 ? s->counters[index].share : 1};
	for (uint32_t i = 0; i < graph->context_count; i++) {
		uint64_t value;

		if (!context__is_grain(&graph->contexts[i]))
			continue;
		if (!grain_graph__counter(graph, i, index, &value)) {
			out->unknown++;
			continue;
		}
		out->grains++;
		if (__builtin_add_overflow(out->sum, value, &out->sum))
			out->sum = UINT64_MAX;
	}
}
