/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/graph/counters.h"

#include <stdlib.h>
#include <string.h>

int counters__begin(struct grain_graph *graph)
{
	struct counters *c = NULL;
	int error;

	if (!graph->stream->counter_count)
		return 0;
	error = memory__array(&graph->memory, 1, sizeof *c, (void **)&c);
	if (error < 0)
		return error;
	c->count = graph->stream->counter_count;
	c->cycles = c->stalls = c->misses = c->references = -1;
	graph->counters = c;
	return 0;
}

void counters__at(struct grain_graph *graph, uint32_t index, uint32_t thread)
{
	struct counters *c = graph->counters;
	const struct event_stream *s = graph->stream;

	while (c->reading < s->reading_count && s->readings[c->reading].event < index)
		c->reading++;
	c->event = index;
	c->thread = thread;
}

/* Makes room for the element with index `last`. */
static int make_room(struct grain_graph *g, void **array, size_t *room, size_t last, size_t size)
{
	int error = 0;

	while (error == 0 && *room <= last)
		error = memory__grow(&g->memory, array, room, *room, size);
	return error;
}

int counters__open(struct grain_graph *graph, uint32_t thread, uint32_t context)
{
	struct counters *c = graph->counters;
	const struct event_stream *s = graph->stream;
	uint64_t *starts;
	int error;

	error = make_room(graph, (void **)&c->sums, &c->room, context, c->count * sizeof *c->sums);
	if (error == 0)
		error = make_room(graph, (void **)&c->starts, &c->thread_room, thread,
				  c->count * sizeof *c->starts);
	if (error == 0)
		error = make_room(graph, (void **)&c->start_events, &c->event_room, thread,
				  sizeof *c->start_events);
	if (error < 0)
		return error;
	for (; c->contexts <= context; c->contexts++)
		for (size_t k = 0; k < c->count; k++)
			c->sums[c->contexts * c->count + k] = COUNTER_NONE;
	starts = &c->starts[thread * c->count];
	for (size_t k = 0; k < c->count; k++)
		starts[k] = COUNTER_UNKNOWN;
	c->start_events[thread] = c->thread == thread ? c->event : GRAIN_NONE;
	for (size_t i = c->reading;
	     thread == c->thread && i < s->reading_count && s->readings[i].event == c->event; i++)
		starts[s->readings[i].counter] = s->readings[i].value;
	return 0;
}

static void add(uint64_t *sum, uint64_t start, uint64_t end, bool empty)
{
	uint64_t total;

	if (start == COUNTER_UNKNOWN || end == COUNTER_UNKNOWN || end < start) {
		*sum = empty ? *sum : COUNTER_UNKNOWN;
		return;
	}
	if (*sum == COUNTER_UNKNOWN)
		return;
	if (__builtin_add_overflow(*sum == COUNTER_NONE ? 0 : *sum, end - start, &total) ||
	    total >= COUNTER_NONE)
		total = COUNTER_UNKNOWN;
	*sum = total;
}

void counters__close(struct grain_graph *graph, uint32_t thread, uint32_t context, bool empty)
{
	struct counters *c = graph->counters;
	const struct event_stream *s = graph->stream;
	const uint64_t *starts = &c->starts[thread * c->count];
	uint64_t *sums = &c->sums[context * c->count];
	size_t i = c->reading;

	/* A fragment that begins and ends at one event has counted nothing. */
	if (c->thread == thread && c->start_events[thread] == c->event) {
		for (size_t k = 0; k < c->count; k++)
			add(&sums[k], 0, 0, true);
		return;
	}
	for (size_t k = 0; k < c->count; k++) {
		uint64_t end = COUNTER_UNKNOWN;

		if (thread == c->thread && i < s->reading_count && s->readings[i].event == c->event &&
		    s->readings[i].counter == k)
			end = s->readings[i++].value;
		add(&sums[k], starts[k], end, empty);
	}
}

void counters__free(struct counters *c)
{
	if (!c)
		return;
	free(c->sums);
	free(c->rows);
	free(c->starts);
	free(c->start_events);
	free(c);
}

uint64_t counters__sum(const struct grain_graph *graph, uint32_t context, int counter)
{
	const struct counters *c = graph->counters;

	if (!c || counter < 0 || context >= c->contexts)
		return COUNTER_UNKNOWN;
	return c->sums[context * c->count + (size_t)counter];
}

int counters__finish(struct grain_graph *g)
{
	struct counters *c = g->counters;
	int error = 0;

	if (g->context_count)
		error = make_room(g, (void **)&c->sums, &c->room, g->context_count - 1,
				  c->count * sizeof *c->sums);
	if (error < 0)
		return error;
	for (; c->contexts < g->context_count; c->contexts++)
		for (size_t k = 0; k < c->count; k++)
			c->sums[c->contexts * c->count + k] = COUNTER_UNKNOWN;
	for (size_t i = 0; i < g->context_count * c->count; i++)
		if (c->sums[i] == COUNTER_NONE || g->contexts[i / c->count].flags & CONTEXT_INCOMPLETE)
			c->sums[i] = COUNTER_UNKNOWN;
	memory__release(&g->memory, (void **)&c->starts, c->thread_room, c->count * sizeof *c->starts);
	memory__release(&g->memory, (void **)&c->start_events, c->event_room, sizeof *c->start_events);
	return 0;
}
