/* SPDX-License-Identifier: BSD-2-Clause */
/* Counter tracks: sums of steps up and down. A sum is written when it changes. */
#include "render/traces/perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "render/base/format.h"
#include "render/base/radix.h"
#include "render/base/array.h"

#define UNIT_COUNT 2
/* The largest number of counters of an event log. */
#define MOST_COUNTERS 64

struct steps {
	struct radix_pair *step; /* time, and the number that is added, as two's complement */
	size_t count, capacity;
	bool failed;
};

static void add(struct steps *s, uint64_t time_ns, int64_t by)
{
	if (s->failed || !array__reserve((void **)&s->step, &s->capacity, s->count, sizeof(*s->step))) {
		s->failed = true;
		return;
	}
	s->step[s->count++] = (struct radix_pair){time_ns, (uint64_t)by};
}

static void add_span(struct steps *s, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	add(s, start_ns, 1);
	add(s, end_ns, -1);
}

static void take_fragments(const struct grain_graph *graph, uint32_t context, struct steps *s)
{
	struct grain_context c;

	grain_graph__context(graph, context, &c);
	for (uint32_t i = c.first_item; i < c.first_item + c.item_count; i++) {
		struct grain_item item;

		grain_graph__item(graph, i, &item);
		if (item.kind == GRAIN_FRAGMENT)
			add_span(s, item.start_ns, item.end_ns);
	}
}

static void take_alive(const struct grain_graph *graph, uint32_t context, struct steps *s)
{
	struct grain_context c;

	grain_graph__context(graph, context, &c);
	if (c.kind == GRAIN_TASK && c.item_count)
		add_span(s, c.start_ns, c.end_ns);
}

/* Takes the time in which a task is queued: from the end of its creation to the begin of its body. */
static void take_queued(const struct grain_graph *graph, uint32_t context, struct steps *s)
{
	struct grain_context c, child;

	grain_graph__context(graph, context, &c);
	for (uint32_t i = c.first_item; i < c.first_item + c.item_count; i++) {
		struct grain_item item;

		grain_graph__item(graph, i, &item);
		if (item.kind != GRAIN_FORK)
			continue;
		grain_graph__context(graph, item.ref, &child);
		if (!child.undeferred && child.item_count)
			add_span(s, item.end_ns, child.start_ns);
	}
}

static int write_track(struct perfetto *p, uint64_t track, const char *name)
{
	size_t message, counter;

	perfetto__begin(p);
	message = protobuf__begin(&p->packets, PACKET_TRACK);
	protobuf__number(&p->packets, TRACK_UUID, track);
	protobuf__number(&p->packets, TRACK_PARENT, PERFETTO_PROCESS_TRACK);
	protobuf__text(&p->packets, TRACK_NAME, name);
	counter = protobuf__begin(&p->packets, TRACK_COUNTER);
	protobuf__number(&p->packets, COUNTER_UNIT, UNIT_COUNT);
	protobuf__end(&p->packets, counter);
	protobuf__end(&p->packets, message);
	return perfetto__end(p);
}

static int write_value(struct perfetto *p, uint64_t track, uint64_t time_ns, uint64_t value)
{
	size_t event;

	perfetto__begin(p);
	event = perfetto__begin_event(p, time_ns, EVENT_COUNTER, track);
	protobuf__number(&p->packets, EVENT_COUNTER_VALUE, value);
	protobuf__end(&p->packets, event);
	return perfetto__end(p);
}

static int write_steps(struct perfetto *p, uint64_t track, struct steps *s)
{
	uint64_t value = 0, told = 0;
	int error = radix__sort(s->step, s->count);

	if (!error)
		error = write_value(p, track, grain_graph__info(p->graph)->start_ns, 0);
	for (size_t i = 0; i < s->count && !error; i++) {
		value += s->step[i].value;
		if (i + 1 < s->count && s->step[i + 1].key == s->step[i].key)
			continue;
		if (value != told)
			error = write_value(p, track, s->step[i].key, value);
		told = value;
	}
	return error;
}

static int write_counted(struct perfetto *p, size_t counter, uint64_t track)
{
	size_t contexts = grain_graph__context_count(p->graph);
	struct steps s = {0};
	char name[256], clean[200];
	int error;

	for (size_t i = 0; i < contexts; i++) {
		struct grain_context c;
		uint64_t value;

		grain_graph__context(p->graph, (uint32_t)i, &c);
		if (grain_graph__counter(p->graph, (uint32_t)i, counter, &value) && value <= INT64_MAX)
			add(&s, c.end_ns, (int64_t)value);
	}
	format__clean(clean, sizeof(clean), grain_graph__counter_name(p->graph, counter), 60);
	snprintf(name, sizeof(name), "%s of what has ended", clean);
	error = s.failed ? -ENOMEM : write_track(p, track, name);
	if (!error)
		error = write_steps(p, track, &s);
	free(s.step);
	return error;
}

int perfetto__write_counters(struct perfetto *p)
{
	static const struct {
		const char *name;
		void (*take)(const struct grain_graph *graph, uint32_t context, struct steps *s);
	} tracks[] = {{"parallelism", take_fragments},
		      {"tasks created, not begun", take_queued},
		      {"tasks begun, not ended", take_alive}};
	size_t contexts = grain_graph__context_count(p->graph),
	       counters = grain_graph__counter_count(p->graph);
	uint64_t track = PERFETTO_COUNTER_TRACKS;
	int error = 0;

	for (size_t t = 0; t < sizeof(tracks) / sizeof(tracks[0]) && !error; t++, track++) {
		struct steps s = {0};

		for (size_t i = 0; i < contexts; i++)
			tracks[t].take(p->graph, (uint32_t)i, &s);
		error = s.failed ? -ENOMEM : write_track(p, track, tracks[t].name);
		if (!error)
			error = write_steps(p, track, &s);
		free(s.step);
	}
	for (size_t i = 0; i < counters && i < MOST_COUNTERS && !error; i++, track++)
		error = write_counted(p, i, track);
	return error;
}
