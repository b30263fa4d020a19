// SPDX-License-Identifier: BSD-2-Clause
/* Functions and lines by how many samples were in them. */
#include "analysis/grain_samples.h"
#include "analysis/profile.h"
#include "analysis/sample_names.h"

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

/* What the kernel and the system's libraries do is the line's that called them. */
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

/* Each once, however often it is on the stack. */
static void count_stack(const struct grain_graph *g, const struct sample_names *names, bool lines,
			uint32_t stack, struct grain_hot *rows, uint32_t *seen, uint32_t stamp)
{
	const struct event_stack *s = &g->stream->stacks[stack];
	const uint32_t *frames = &g->stream->frames[s->first];
	uint32_t depth = sample_stack__depth(g->stream, s);

	if (s->count)
		rows[names->row[lines ? innermost_line(g->stream, s) : frames[0]]].self++;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t row = names->row[frames[i]];

		if (seen[row] == stamp)
			continue;
		seen[row] = stamp;
		rows[row].total++;
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
		count_stack(graph, names, opts->lines, graph->samples[i].stack, rows, seen, (uint32_t)i + 1);
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
