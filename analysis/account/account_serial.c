// SPDX-License-Identifier: BSD-2-Clause
/* Serial code: the samples in it, by function; and between which regions it is. */
#include "analysis/account/account.h"
#include "analysis/graph/sample_names.h"

#include <errno.h>
#include <stdlib.h>

/* More pairs of regions than this are not told apart. */
#define GAPS_MOST 4096

void account_serial__begin(struct account_serial *serial, uint32_t before, uint64_t passed_ns)
{
	serial->before = before;
	serial->gap_begin_ns = passed_ns;
	serial->gap_first = serial->sample_count;
}

/* Finds the gap between two regions, or adds it. *gap is GRAIN_NONE if there is no room. */
static int find_gap(struct account_serial *serial, struct memory *memory, uint32_t after, uint32_t *gap)
{
	uint64_t key = (uint64_t)serial->before << 32 | after;
	size_t *count = &serial->public.gap_count;
	int error;

	*gap = number_map__get(&serial->gap_of, key);
	if (*gap != GRAIN_NONE || *count == GAPS_MOST)
		return 0;
	error = memory__grow(memory, (void **)&serial->gaps, &serial->gap_capacity, *count,
			     sizeof(*serial->gaps));
	if (!error)
		error = number_map__put(&serial->gap_of, key, (uint32_t)*count);
	if (error)
		return error;
	*gap = (uint32_t)*count;
	serial->gaps[(*count)++] =
		(struct grain_serial_gap){.before = serial->before, .after = after, .function = GRAIN_NONE};
	return 0;
}

int account_serial__end(struct account_serial *serial, struct memory *memory, uint32_t after,
			uint64_t passed_ns)
{
	uint32_t gap;
	int error;

	if (passed_ns == serial->gap_begin_ns)
		return 0;
	error = find_gap(serial, memory, after, &gap);
	if (error || gap == GRAIN_NONE)
		return error;
	serial->gaps[gap].times++;
	serial->gaps[gap].ns += passed_ns - serial->gap_begin_ns;
	for (size_t i = serial->gap_first; i < serial->sample_count; i++)
		serial->samples[i].gap = gap;
	return 0;
}

int account_serial__sample(struct account_serial *serial, struct memory *memory, uint32_t stack)
{
	int error = memory__grow(memory, (void **)&serial->samples, &serial->sample_capacity,
				 serial->sample_count, sizeof(*serial->samples));

	if (!error)
		serial->samples[serial->sample_count++] =
			(struct account_sample){.stack = stack, .gap = GRAIN_NONE};
	return error;
}

/* ---- names -------------------------------------------------------------- */

/*
 * Returns the innermost address of the program itself: with a line if there is one, else without. If there is
 * none, returns the innermost address.
 */
static uint32_t own_address(const struct event_stream *s, const struct event_stack *stack)
{
	const uint32_t *frames = &s->frames[stack->first];
	uint32_t depth = sample_stack__depth(s, stack), own = GRAIN_NONE;

	for (uint32_t i = 0; i < depth; i++) {
		const struct event_address *a = &s->addresses[frames[i]];

		if (a->system)
			continue;
		if (a->line)
			return frames[i];
		if (own == GRAIN_NONE && a->func && a->func[0])
			own = frames[i];
	}
	return own == GRAIN_NONE ? frames[0] : own;
}

struct naming {
	struct grain_graph *graph;
	struct account_serial *serial;
	uint64_t *of_line;     /* per line of the graph's samples: serial samples */
	uint32_t *function_at; /* per function of the graph's samples: its place among the serial ones, from
				  1; 0: none */
	uint64_t *best;	       /* per serial function: samples of its hottest line */
	uint64_t *pairs;       /* per sample: its gap and its serial function */
};

static uint32_t take_function(struct naming *n, uint32_t address)
{
	const struct sample_names *names = n->graph->functions;
	uint32_t row = names->row[address], *at = &n->function_at[row];

	if (!*at) {
		*at = (uint32_t)++n->serial->public.function_count;
		n->serial->functions[*at - 1] =
			(struct grain_serial_function){.function = names->names[row].function,
						       .file = names->names[row].file};
	}
	n->serial->functions[*at - 1].samples++;
	return *at - 1;
}

/* The function's place is its hottest line. */
static void take_line(struct naming *n, uint32_t function, uint32_t address)
{
	uint32_t row = n->graph->lines->row[address];
	uint64_t samples = ++n->of_line[row];

	if (samples <= n->best[function])
		return;
	n->best[function] = samples;
	n->serial->functions[function].file = n->graph->lines->names[row].file;
	n->serial->functions[function].line = n->graph->lines->names[row].line;
}

static void take_samples(struct naming *n)
{
	const struct event_stream *stream = n->graph->stream;
	struct account_serial *serial = n->serial;

	for (size_t i = 0; i < serial->sample_count; i++) {
		const struct event_stack *stack = &stream->stacks[serial->samples[i].stack];
		uint32_t address, function;

		if (!stack->count)
			continue;
		address = own_address(stream, stack);
		function = take_function(n, address);
		take_line(n, function, address);
		if (serial->samples[i].gap != GRAIN_NONE)
			serial->gaps[serial->samples[i].gap].samples++;
		n->pairs[serial->public.samples++] = (uint64_t)serial->samples[i].gap << 32 | function;
	}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Finds the function with the most samples of each gap. */
static void name_gaps(struct naming *n)
{
	size_t count = n->serial->public.samples, most = 0;
	uint32_t last = GRAIN_NONE;

	qsort(n->pairs, count, sizeof(*n->pairs), by_number);
	for (size_t i = 0, same; i < count; i += same) {
		uint32_t gap = (uint32_t)(n->pairs[i] >> 32);

		for (same = 1; i + same < count && n->pairs[i + same] == n->pairs[i]; same++)
			;
		if (gap == GRAIN_NONE || (gap == last && same <= most))
			continue;
		most = same;
		last = gap;
		n->serial->gaps[gap].function = (uint32_t)n->pairs[i];
	}
}

static int by_samples(const void *a, const void *b)
{
	const struct grain_serial_function *const *x = a, *const *y = b;

	if ((*x)->samples != (*y)->samples)
		return (*x)->samples < (*y)->samples ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static int by_ns(const void *a, const void *b)
{
	const struct grain_serial_gap *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return (x->after > y->after) - (x->after < y->after);
}

/* Puts functions and gaps in order. Gaps go on to mean the same functions. */
static int sort(struct account_serial *serial)
{
	size_t count = serial->public.function_count;
	const struct grain_serial_function **order = calloc(count + 1, sizeof(*order));
	struct grain_serial_function *sorted = calloc(count + 1, sizeof(*sorted));
	uint32_t *place = calloc(count + 1, sizeof(*place));
	int error = order && sorted && place ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !error; i++)
		order[i] = &serial->functions[i];
	if (!error)
		qsort(order, count, sizeof(*order), by_samples);
	for (size_t i = 0; i < count && !error; i++) {
		sorted[i] = *order[i];
		place[order[i] - serial->functions] = (uint32_t)i;
	}
	for (size_t i = 0; i < serial->public.gap_count && !error; i++)
		if (serial->gaps[i].function != GRAIN_NONE)
			serial->gaps[i].function = place[serial->gaps[i].function];
	if (!error) {
		free(serial->functions);
		serial->functions = sorted;
		sorted = NULL;
	}
	free(order);
	free(sorted);
	free(place);
	return error;
}

int graph__name_serial(struct grain_graph *graph)
{
	struct account_serial *serial = &graph->account->serial;
	size_t functions = graph->functions->count + 1;
	struct naming n = {.graph = graph, .serial = serial};
	int error = 0;

	if (serial->sample_count) {
		serial->functions = calloc(functions, sizeof(*serial->functions));
		n.of_line = calloc(graph->lines->count + 1, sizeof(*n.of_line));
		n.function_at = calloc(functions, sizeof(*n.function_at));
		n.best = calloc(functions, sizeof(*n.best));
		n.pairs = calloc(serial->sample_count, sizeof(*n.pairs));
		error = serial->functions && n.of_line && n.function_at && n.best && n.pairs ? 0 : -ENOMEM;
		if (!error) {
			take_samples(&n);
			name_gaps(&n);
			error = sort(serial);
		}
	}
	if (serial->public.gap_count)
		qsort(serial->gaps, serial->public.gap_count, sizeof(*serial->gaps), by_ns);
	serial->public.functions = serial->functions;
	serial->public.gaps = serial->gaps;
	memory__release(&graph->memory, (void **)&serial->samples, serial->sample_capacity,
			sizeof(*serial->samples));
	free(n.of_line);
	free(n.function_at);
	free(n.best);
	free(n.pairs);
	return error;
}

void account_serial__free(struct account_serial *serial)
{
	free(serial->functions);
	free(serial->gaps);
	free(serial->samples);
	number_map__free(&serial->gap_of);
}

const struct grain_serial *grain_graph__serial(const struct grain_graph *graph)
{
	return &graph->account->serial.public;
}
