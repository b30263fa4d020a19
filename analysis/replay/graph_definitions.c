/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source definitions. Call sites with the same line, function and kind are one construct, because a compiler
 * may copy a call.
 */
#include "analysis/replay/replay.h"
#include "analysis/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

static int compare(const void *a, const void *b, void *sources)
{
	const struct event_source *x = (const struct event_source *)sources + *(const uint32_t *)a;
	const struct event_source *y = (const struct event_source *)sources + *(const uint32_t *)b;
	int r = strcmp(text(x->file), text(y->file));

	if (r == 0)
		r = (x->line > y->line) - (x->line < y->line);
	if (r == 0)
		r = strcmp(text(x->func), text(y->func));
	if (r == 0)
		r = strcmp(text(x->kind), text(y->kind));
	if (r == 0)
		r = strcmp(text(x->path), text(y->path));
	if (r == 0 && x->line == 0)
		r = strcmp(text(x->module), text(y->module));
	return r;
}

static int compare_then_index(const void *a, const void *b, void *sources)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r = compare(a, b, sources);

	return r ? r : (x > y) - (x < y);
}

/* Maps each source to the smallest index among equal ones, then numbers those without gaps in that order. */
static void number(struct grain_graph *g, uint32_t *order)
{
	struct event_source *sources = g->stream->sources;
	size_t i, n = g->stream->source_count;
	uint32_t first = 0;

	qsort_r(order, n, sizeof *order, compare_then_index, sources);
	for (i = 0; i < n; i++) {
		if (i == 0 || compare(&order[i], &order[i - 1], sources) != 0)
			first = order[i];
		g->definition_of_source[order[i]] = first;
	}
	for (i = 0; i < n; i++) {
		if (g->definition_of_source[i] == i)
			order[i] = (uint32_t)g->definition_count++;
		g->definition_of_source[i] = order[g->definition_of_source[i]];
	}
}

static size_t describe(const struct event_source *s, char *out, size_t size)
{
	int n;

	if (s->line)
		n = snprintf(out, size, "%s:%" PRIu32, text(s->file), s->line);
	else if (text(s->module)[0])
		n = snprintf(out, size, "%s", s->module);
	else
		n = snprintf(out, size, "%s", text(s->file)[0] ? s->file : "?");
	return n < 0 ? 0 : (size_t)n;
}

int graph__number_definitions(struct grain_graph *g)
{
	const struct event_stream *s = g->stream;
	uint32_t *order = NULL;
	size_t i, bytes = 0, used = 0;
	int error;

	error = memory__array(&g->memory, s->source_count, sizeof *g->definition_of_source,
			      (void **)&g->definition_of_source);
	if (error == 0)
		error = memory__array(&g->memory, s->source_count, sizeof *order, (void **)&order);
	if (error < 0)
		return error;
	for (i = 0; i < s->source_count; i++)
		order[i] = (uint32_t)i;
	number(g, order);
	memory__release(&g->memory, (void **)&order, s->source_count, sizeof *order);
	for (i = 0; i < s->source_count; i++)
		bytes += describe(&s->sources[i], NULL, 0) + 1;
	error = memory__array(&g->memory, g->definition_count, sizeof *g->definitions,
			      (void **)&g->definitions);
	if (error == 0)
		error = memory__array(&g->memory, bytes, 1, (void **)&g->definition_text);
	if (error < 0)
		return error;
	for (i = s->source_count; i-- > 0;) {
		const struct event_source *source = &s->sources[i];
		struct grain_definition *d = &g->definitions[g->definition_of_source[i]];

		if (!d->source) {
			d->source = g->definition_text + used;
			used += describe(source, g->definition_text + used, bytes - used) + 1;
		}
		d->file = text(source->path);
		d->function = text(source->func);
		d->kind = text(source->kind);
		d->line = source->line;
	}
	return 0;
}
