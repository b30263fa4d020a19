/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events reach a trace in the order in which rings are emptied. However far
 * they are from the order of time, they are read as if they had been written
 * in it; those of one time stay in the order in which they were written.
 */
#include "daemon/common/trace/trace_writer.h"
#include "tests/unit/check.h"
#include "tests/unit/stream_text.h"

#include <fcntl.h>

/* Several chunks, and more than wait in the reader's window. */
#define EVENTS 300000u

static char trace_path[] = "/tmp/graind-unit-order.XXXXXX";
static uint64_t seed = 88172645463325252u;

static uint64_t noise(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed / 8 % below;
}

static struct event_stream *read_written(const struct trace_event *events)
{
	struct event_stream *s = NULL;
	struct trace_writer *w = NULL;
	struct grain_error err;

	unlink(trace_path);
	if (trace_writer__create(AT_FDCWD, trace_path, NULL, &w) || trace_writer__events(w, events, EVENTS) ||
	    trace_writer__finish(w, NULL))
		exit(1);
	if (read_path(trace_path, 0, &s, &err))
		printf("# %s\n", err.text);
	return s;
}

/* By time, then by the place in `events`, which the address of the lock says. */
static int in_order(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void same_as_sorted(const char *name, struct trace_event *events)
{
	struct event_stream *s, *sorted;
	size_t got = 0, wrong = 0;

	for (uint32_t i = 0; i < EVENTS; i++)
		events[i].key = i + 1;
	s = read_written(events);
	qsort(events, EVENTS, sizeof(*events), in_order);
	sorted = read_written(events);
	for (size_t i = 0; s && i < s->count; i++) {
		if (s->events[i].kind != EVENT_LOCK_GOT)
			continue;
		wrong += got >= EVENTS || s->events[i].value != events[got].key ||
			 s->events[i].time_ns != events[got].time_ns;
		got++;
	}
	CHECK(s && got == EVENTS && wrong == 0, "%s: all events, in the order of time", name);
	CHECK(s && sorted && s->count == sorted->count &&
		      memcmp(s->events, sorted->events, s->count * sizeof(*s->events)) == 0,
	      "%s: as if they had been written in it", name);
	event_stream__free(s);
	event_stream__free(sorted);
}

/* Each is a lock that was got without waiting. */
static struct trace_event lock_at(uint64_t time_ns, uint32_t tid)
{
	return (struct trace_event){.time_ns = time_ns,
				    .extra = time_ns,
				    .tid = tid,
				    .kind = TRACE_LOCK_WAIT,
				    .arg = TRACE_LOCK_OMP};
}

int main(void)
{
	struct trace_event *events = calloc(EVENTS, sizeof(*events));
	int fd = mkstemp(trace_path);

	if (fd < 0 || !events)
		return 1;
	close(fd);
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = lock_at(1000 + i / 3, 1);
	same_as_sorted("sorted", events);
	/* Four rings, emptied in turn. */
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = lock_at(1000 + i / 8000 * 20000 + i % 2000 * 10 + noise(10), 1 + i / 2000 % 4);
	same_as_sorted("emptied in turn", events);
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = lock_at(1000000 + noise(1000), 1 + i % 3);
	same_as_sorted("all at the same few times", events);
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = lock_at(1000000 + i, 1);
	events[EVENTS - 1].time_ns = events[EVENTS - 1].extra = 5;
	same_as_sorted("the last is the first", events);
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = lock_at(1000000 + EVENTS - i, 1);
	same_as_sorted("the other way round", events);
	/* Too far apart for one key of time and place. */
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = lock_at(noise(UINT64_C(1) << 54), 1 + i % 2);
	same_as_sorted("over half a year", events);
	free(events);
	unlink(trace_path);
	CHECK_DONE();
}
