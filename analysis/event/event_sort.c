// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sorts by time: a stable radix sort of (time, index), then one pass that moves the records in place. After
 * that, causes move before effects of the same time. qsort() would take twice as long.
 */
#include "analysis/event/event_build.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
/* In a nearly sorted array, no item is farther than this from its place. */
#define NEAR (512u << 10)
/* If a cause has the same time as its effect, it comes at most this many events after it. */
#define LOOK_AHEAD 64

struct time_index {
	uint64_t time;
	uint32_t index;
};

/* Sorts *keys. May exchange *keys and *scratch. */
static void sort_keys(struct time_index **keys, struct time_index **scratch, size_t count)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < count; i++) {
		low = (*keys)[i].time < low ? (*keys)[i].time : low;
		high = (*keys)[i].time > high ? (*keys)[i].time : high;
	}
	for (unsigned shift = 0; count && shift < 64 && (high - low) >> shift; shift += DIGIT_BITS) {
		struct time_index *from = *keys, *to = *scratch;
		size_t starts[DIGITS] = {0}, sum = 0;

		for (size_t i = 0; i < count; i++)
			starts[(from[i].time - low) >> shift & (DIGITS - 1)]++;
		for (size_t d = 0; d < DIGITS; d++) {
			size_t n = starts[d];

			starts[d] = sum;
			sum += n;
		}
		for (size_t i = 0; i < count; i++)
			to[starts[(from[i].time - low) >> shift & (DIGITS - 1)]++] = from[i];
		*keys = to;
		*scratch = from;
	}
}

/* Moves items (and lines), so that position i gets item keys[i].index. Destroys the keys. */
static void permute(char *items, size_t size, uint32_t *lines, struct time_index *keys, size_t count)
{
	for (size_t start = 0; start < count; start++) {
		char item[SORTED_MAX_BYTES];
		uint32_t line = lines ? lines[start] : 0;
		size_t at = start;

		memcpy(item, items + start * size, size);
		while (keys[at].index != start) {
			size_t next = keys[at].index;

			memcpy(items + at * size, items + next * size, size);
			if (lines)
				lines[at] = lines[next];
			keys[at].index = (uint32_t)at;
			at = next;
		}
		memcpy(items + at * size, item, size);
		if (lines)
			lines[at] = line;
		keys[at].index = (uint32_t)at;
	}
}

/*
 * As permute(), for items that are nearly in place, as a capture writes them. Reads ahead into a ring, so
 * that it passes through memory once and in order.
 */
static bool permute_nearly_sorted(char *items, size_t size, const struct time_index *keys, size_t count)
{
	size_t far = 0, slots = 2, ahead = 0;
	char *ring;

	for (size_t i = 0; i < count; i++) {
		size_t distance = keys[i].index > i ? keys[i].index - i : i - keys[i].index;

		far = distance > far ? distance : far;
	}
	if (far > NEAR)
		return false;
	while (slots < 2 * far + 2)
		slots *= 2;
	ring = malloc(slots * size);
	if (!ring)
		return false;
	for (size_t i = 0; i < count; i++) {
		for (; ahead <= i + far && ahead < count; ahead++)
			memcpy(ring + (ahead & (slots - 1)) * size, items + ahead * size, size);
		memcpy(items + i * size, ring + (keys[i].index & (slots - 1)) * size, size);
	}
	free(ring);
	return true;
}

static uint64_t time_of(const char *item)
{
	uint64_t time;

	memcpy(&time, item, sizeof(time));
	return time;
}

int sorted_items__sort(void *array, size_t size, uint32_t *lines, size_t count, struct budget *budget)
{
	char *items = array;
	size_t bytes = count * sizeof(struct time_index), i;
	struct time_index *keys = NULL, *scratch = NULL;
	int error;

	for (i = 1; i < count && time_of(items + (i - 1) * size) <= time_of(items + i * size); i++)
		;
	if (i >= count)
		return 0;
	error = budget__take(budget, 2 * bytes);
	if (error)
		return error;
	keys = malloc(bytes);
	scratch = malloc(bytes);
	if (keys && scratch) {
		for (i = 0; i < count; i++)
			keys[i] = (struct time_index){time_of(items + i * size), (uint32_t)i};
		sort_keys(&keys, &scratch, count);
		free(scratch);
		scratch = NULL;
		if (lines || !permute_nearly_sorted(items, size, keys, count))
			permute(items, size, lines, keys, count);
	} else {
		error = -ENOMEM;
	}
	free(keys);
	free(scratch);
	budget__give(budget, 2 * bytes);
	return error;
}

static bool is_cause(const struct event *effect, const struct event *cause)
{
	return cause->id == effect->id && cause->tid != effect->tid &&
	       cause->kind == (effect->kind == EVENT_TASK_BEGIN ? EVENT_CREATE_BEGIN : EVENT_REGION_BEGIN);
}

/*
 * The effect at `at` comes before its cause, and both have the same time. Moves the cause before the effect,
 * with the events that its thread has before the cause at that time.
 */
static bool move_cause(struct event_stream *s, uint32_t *lines, size_t at)
{
	size_t found = at + 1, limit = at + LOOK_AHEAD < s->count ? at + LOOK_AHEAD : s->count;

	while (found < limit && s->events[found].time_ns == s->events[at].time_ns &&
	       !is_cause(&s->events[at], &s->events[found]))
		found++;
	if (found >= limit || s->events[found].time_ns != s->events[at].time_ns)
		return false;
	for (size_t i = at + 1, to = at; i <= found; i++) {
		struct event e = s->events[i];
		uint32_t line = lines[i];

		if (e.tid != s->events[found].tid)
			continue;
		memmove(&s->events[to + 1], &s->events[to], (i - to) * sizeof(e));
		memmove(&lines[to + 1], &lines[to], (i - to) * sizeof(line));
		s->events[to] = e;
		lines[to++] = line;
	}
	return true;
}

void event_stream__order_causes(struct event_stream *s, uint32_t *lines, uint8_t *tasks, uint8_t *regions)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct event *e = &s->events[i];

		if (e->id == GRAIN_NONE)
			continue;
		if (e->kind == EVENT_CREATE_BEGIN)
			tasks[e->id] = CAUSE_SEEN;
		else if (e->kind == EVENT_REGION_BEGIN)
			regions[e->id] = CAUSE_SEEN;
		else if (e->kind == EVENT_TASK_BEGIN && tasks[e->id] == CAUSE_LATER &&
			 move_cause(s, lines, i))
			i--;
		else if (e->kind == EVENT_MEMBER_BEGIN && regions[e->id] == CAUSE_LATER &&
			 move_cause(s, lines, i))
			i--;
	}
}
