// SPDX-License-Identifier: BSD-2-Clause
/* The counters of a stream: their names, and their readings at events. */
#include "analysis/event/event_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int event_stream__counter(struct event_stream *stream, uint32_t number, struct budget *budget,
			  uint32_t *index)
{
	int error;

	for (*index = 0; *index < stream->counter_count; ++*index)
		if (stream->counters[*index].number == number)
			return 0;
	if (stream->counter_count == EVENT_COUNTERS_MAX)
		return -EDOM;
	error = array__grow(&stream->counters, stream->counter_count, sizeof(*stream->counters), budget);
	if (!error)
		stream->counters[stream->counter_count++] =
			(struct event_counter){.number = number, .order = UINT32_MAX};
	return error;
}

int event_stream__declare_counter(struct event_stream *stream, uint32_t number, char *name,
				  struct budget *budget)
{
	uint32_t index, declared = 0;
	int error = event_stream__counter(stream, number, budget, &index);

	for (size_t i = 0; !error && i < stream->counter_count; i++)
		if (stream->counters[i].name && (i == index || !strcmp(stream->counters[i].name, name)))
			error = -EEXIST;
	if (!error)
		error = budget__take(budget, strlen(name) + 1);
	if (error) {
		free(name);
		return error;
	}
	for (size_t i = 0; i < stream->counter_count; i++)
		declared += stream->counters[i].name != NULL;
	stream->counters[index].name = name;
	stream->counters[index].order = declared;
	return 0;
}

int event_stream__share_counter(struct event_stream *stream, uint32_t number, double share)
{
	for (size_t i = 0; i < stream->counter_count; i++) {
		if (stream->counters[i].number != number || !stream->counters[i].name)
			continue;
		stream->counters[i].share = share;
		return 0;
	}
	return -ENOENT;
}

int event_stream__absent_counter(struct event_stream *stream, char *name, char *why, struct budget *budget)
{
	int error = stream->absent_counter_count == EVENT_COUNTERS_MAX
			    ? -EDOM
			    : budget__take(budget, strlen(name) + strlen(why) + 2);

	if (!error)
		error = array__grow(&stream->absent_counters, stream->absent_counter_count,
				    sizeof(*stream->absent_counters), budget);
	if (error) {
		free(name);
		free(why);
		return error;
	}
	stream->absent_counters[stream->absent_counter_count++] =
		(struct event_absent_counter){.name = name, .why = why};
	return 0;
}

int event_stream__add_reading(struct event_stream *stream, uint32_t event, uint32_t counter, uint64_t value,
			      struct budget *budget)
{
	int error = array__grow(&stream->readings, stream->reading_count, sizeof(*stream->readings), budget);

	if (!error)
		stream->readings[stream->reading_count++] =
			(struct event_reading){.value = value, .event = event, .counter = counter};
	return error;
}

static int by_order(const void *a, const void *b)
{
	const struct event_counter *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Puts the counters into the order of their declarations, and renumbers the readings. */
static void order_counters(struct event_stream *s)
{
	uint32_t number[EVENT_COUNTERS_MAX], place[EVENT_COUNTERS_MAX];

	for (size_t i = 0; i < s->counter_count; i++)
		number[i] = s->counters[i].number;
	qsort(s->counters, s->counter_count, sizeof(*s->counters), by_order);
	for (size_t i = 0; i < s->counter_count; i++)
		for (uint32_t k = 0; k < s->counter_count; k++)
			if (s->counters[k].number == number[i])
				place[i] = k;
	for (size_t i = 0; i < s->reading_count; i++)
		s->readings[i].counter = place[s->readings[i].counter];
}

/* Returns the first reading of this line or of a later one. */
static size_t first_of_line(const struct event_stream *s, uint32_t line)
{
	size_t low = 0, high = s->reading_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->readings[middle].event < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Writes the readings of one line in the order of their counters. If a counter has several, writes the last
 * one. `out` may be `in`.
 */
static size_t place_line(struct event_reading *out, const struct event_reading *in, size_t n, uint32_t event)
{
	size_t placed = 0;

	for (size_t i = 0; i < n; i++) {
		struct event_reading reading = in[i];
		size_t at = placed;

		reading.event = event;
		while (at > 0 && out[at - 1].counter >= reading.counter)
			at--;
		if (at == placed || out[at].counter != reading.counter) {
			memmove(&out[at + 1], &out[at], (placed - at) * sizeof(*out));
			placed++;
		}
		out[at] = reading;
	}
	return placed;
}

static bool ascend(const uint32_t *lines, size_t count)
{
	uint32_t last = 0;

	for (size_t i = 0; i < count; i++) {
		if (lines[i] && lines[i] < last)
			return false;
		last = lines[i] ? lines[i] : last;
	}
	return true;
}

int event_stream__place_readings(struct event_stream *s, const uint32_t *lines, size_t count,
				 struct budget *budget)
{
	struct event_reading *to = s->readings;
	uint64_t bytes = s->reading_count * sizeof(*to);
	size_t n = 0;

	if (!s->counter_count)
		return 0;
	order_counters(s);
	if (!s->reading_count)
		return 0;
	/* The file has threads one after another, so the order of events is not the order of lines. */
	if (!ascend(lines, count)) {
		if (budget__take(budget, bytes))
			return -E2BIG;
		to = malloc(bytes);
		if (!to && bytes)
			return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		size_t first = lines[i] ? first_of_line(s, lines[i]) : s->reading_count, past = first;

		while (past < s->reading_count && s->readings[past].event == lines[i])
			past++;
		n += place_line(to + n, s->readings + first, past - first, (uint32_t)i);
	}
	if (to != s->readings) {
		free(s->readings);
		budget__give(budget, bytes);
		s->readings = to;
	}
	s->reading_count = n;
	return 0;
}

void event_stream__free_counters(struct event_stream *stream)
{
	for (size_t i = 0; i < stream->counter_count; i++)
		free(stream->counters[i].name);
	for (size_t i = 0; i < stream->absent_counter_count; i++) {
		free(stream->absent_counters[i].name);
		free(stream->absent_counters[i].why);
	}
	free(stream->absent_counters);
	free(stream->counters);
	free(stream->readings);
	stream->absent_counters = NULL;
	stream->absent_counter_count = 0;
	stream->counters = NULL;
	stream->readings = NULL;
	stream->counter_count = stream->reading_count = 0;
}
