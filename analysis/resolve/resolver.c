// SPDX-License-Identifier: BSD-2-Clause
/* Shared by all parts of the resolver: memory, and what every event gets. */
#include "analysis/resolve/resolver.h"

int resolver__more_frames(struct resolver *r, struct thread *t)
{
	return array__make_room(&t->frames, t->depth, &t->capacity, sizeof(*t->frames), r->budget);
}

int resolver__new_task(struct resolver *r, unsigned trouble, uint32_t *out)
{
	struct event_stream *s = r->stream;
	int error = array__make_room(&s->task_trouble, s->task_count, &r->task_capacity, 1, r->budget);

	if (error)
		return error;
	*out = s->task_count++;
	s->task_trouble[*out] = (uint8_t)trouble;
	return 0;
}

int resolver__map(struct resolver *r, struct number_map *map, uint64_t key, uint32_t value)
{
	int error = budget__take(r->budget, 4 * sizeof(struct number_map_slot));

	return error ? error : number_map__put(map, key, value);
}

int resolver__thread_ends(struct resolver *r, struct thread *t)
{
	t->begun = false;
	return resolver__emit(r, t, EVENT_THREAD_END, GRAIN_NONE) ? 0 : -E2BIG;
}

int resolver__attach_reading(struct resolver *r, const struct thread *t)
{
	const struct event_stream *s = r->stream;
	int error = 0;

	for (uint32_t k = 0; k < s->counter_count && !error; k++) {
		uint32_t number = s->counters[k].number;

		if (number < TRACE_READING_MAX && t->reading.known >> number & 1)
			error = event_stream__add_reading(r->stream, (uint32_t)s->count - 1, k,
							  t->reading.value[number], r->budget);
	}
	return error;
}

void resolver__forget_loops(struct resolver *r, uint32_t region)
{
	for (uint32_t n = 0; n < r->regions[region].constructs; n++)
		number_map__remove(&r->instances, (uint64_t)region << 32 | n);
	r->regions[region].constructs = 0;
}
