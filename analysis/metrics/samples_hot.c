// SPDX-License-Identifier: BSD-2-Clause
/* The functions and lines with the most samples. */
#include "analysis/include/grain_samples.h"
#include "analysis/metrics/profile.h"
#include "analysis/graph/sample_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const struct grain_graph *g, const struct grain_hot_opts *opts, const struct sample *s)
{
	const struct context *c;

	if (opts->profile == SIZE_MAX && opts->problem < 0)
		return true;
	if (!sample__is_in_grain(s, g->contexts))
		return false;
	c = &g->contexts[s->context];
	if (opts->problem >= 0 && !(c->problems >> opts->problem & 1))
		return false;
	return opts->profile == SIZE_MAX ||
	       profile__slot_of(g, c) == profile__slot(g, &g->profiles[opts->profile]);
}

/*
 * Returns the innermost line of the program itself. It has called the kernel and the system's libraries. If
 * there is none, returns the innermost line of any code.
 */
static uint32_t innermost_line(const struct event_stream *s, const struct event_stack *stack)
{
	const uint32_t *frames = &s->frames[stack->first];
	uint32_t depth = sample_stack__depth(s, stack);

	for (int system = 0; system < 2; system++)
		for (uint32_t i = 0; i < depth; i++)
			if (s->addresses[frames[i]].line && s->addresses[frames[i]].system <= system)
				return frames[i];
	return frames[0];
}

/* The rows in which samples are counted. */
struct hot_rows {
	const struct event_stream *stream;
	const struct sample_names *names;
	bool lines; /* rows are lines; false: functions */
	struct grain_hot *rows;
	uint32_t *seen; /* per row: the last sample that was counted in it */
};

/* Counts each row once, however often it is on the stack. `number` is the sample's number, 1 or more. */
static void count_stack(struct hot_rows *h, uint32_t number, uint32_t stack)
{
	const struct event_stack *s = &h->stream->stacks[stack];
	const uint32_t *frames = &h->stream->frames[s->first];
	uint32_t depth = sample_stack__depth(h->stream, s);

	if (s->count)
		h->rows[h->names->row[h->lines ? innermost_line(h->stream, s) : frames[0]]].self++;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t row = h->names->row[frames[i]];

		if (h->seen[row] == number)
			continue;
		h->seen[row] = number;
		h->rows[row].total++;
	}
}

static int hotter(const void *a, const void *b)
{
	const struct grain_hot *x = a, *y = b;
	int order;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	order = strcmp(x->function, y->function);
	if (!order)
		order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

int grain_graph__hot(const struct grain_graph *graph, const struct grain_hot_opts *opts,
		     struct grain_hot **out, size_t *count, uint64_t *samples)
{
	const struct sample_names *names = opts->lines ? graph->lines : graph->functions;
	struct grain_hot *rows = calloc(names->count + 1, sizeof(*rows));
	uint32_t *seen = calloc(names->count + 1, sizeof(*seen));
	struct hot_rows h = {graph->stream, names, opts->lines, rows, seen};

	*out = NULL;
	*count = 0;
	*samples = 0;
	if (!rows || !seen) {
		free(rows);
		free(seen);
		return -ENOMEM;
	}
	for (size_t i = 0; i < names->count; i++)
		rows[i] = (struct grain_hot){.function = names->names[i].function,
					     .file = names->names[i].file,
					     .line = names->names[i].line};
	for (size_t i = 0; i < graph->sample_count; i++) {
		if (!is_wanted(graph, opts, &graph->samples[i]))
			continue;
		++*samples;
		count_stack(&h, (uint32_t)i + 1, graph->samples[i].stack);
	}
	for (size_t i = 0; i < names->count; i++) {
		if (!rows[i].total || (opts->lines && !rows[i].self))
			continue;
		if (opts->lines)
			rows[i].total = 0;
		rows[(*count)++] = rows[i];
	}
	qsort(rows, *count, sizeof(*rows), hotter);
	*out = rows;
	free(seen);
	return 0;
}
