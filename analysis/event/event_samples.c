// SPDX-License-Identifier: BSD-2-Clause
/* The samples of a stream: code addresses with their names, and stacks of them. */
#include "analysis/event/event_build.h"

#include <stdlib.h>
#include <string.h>

void event_address__clear(struct event_address *address)
{
	free(address->func);
	free(address->file);
	free(address->path);
	free(address->module);
	*address = (struct event_address){0};
}

/* Finds the address, or adds it. */
static int find(struct event_stream *s, uint64_t address, struct budget *budget, uint32_t *index)
{
	int error;

	*index = number_map__get(&s->address_index, address);
	if (*index != GRAIN_NONE)
		return 0;
	if (s->address_count >= GRAIN_NONE)
		return -E2BIG;
	error = budget__take(budget, 4 * sizeof(struct number_map_slot));
	if (!error)
		error = array__grow(&s->addresses, s->address_count, sizeof(*s->addresses), budget);
	if (!error)
		error = number_map__put(&s->address_index, address, (uint32_t)s->address_count);
	if (error)
		return error;
	*index = (uint32_t)s->address_count;
	s->addresses[s->address_count++] = (struct event_address){.address = address};
	return 0;
}

static uint64_t bytes_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

int event_stream__name_address(struct event_stream *s, struct event_address *named, struct budget *budget)
{
	uint64_t bytes = bytes_of(named->func) + bytes_of(named->file) + bytes_of(named->path) +
			 bytes_of(named->module),
		 address = named->address;
	uint32_t index;
	int error = budget__take(budget, bytes);

	if (!error)
		error = find(s, address, budget, &index);
	if (!error && s->addresses[index].named)
		error = -EEXIST;
	if (error) {
		event_address__clear(named);
		named->address = address;
		return error;
	}
	named->named = true;
	s->addresses[index] = *named;
	return 0;
}

int event_stream__new_stack(struct event_stream *s, uint32_t room, struct budget *budget, uint32_t *id)
{
	int error = 0;

	if (room > EVENT_STACK_MAX)
		room = EVENT_STACK_MAX;
	if (s->stack_count >= GRAIN_NONE || s->frame_count + room >= GRAIN_NONE)
		return -E2BIG;
	error = array__grow(&s->stacks, s->stack_count, sizeof(*s->stacks), budget);
	for (uint32_t i = 0; i < room && !error; i++) {
		error = array__grow(&s->frames, s->frame_count + i, sizeof(*s->frames), budget);
		if (!error)
			s->frames[s->frame_count + i] = GRAIN_NONE;
	}
	if (error)
		return error;
	*id = (uint32_t)s->stack_count;
	s->stacks[s->stack_count++] = (struct event_stack){.first = (uint32_t)s->frame_count, .room = room};
	s->frame_count += room;
	return 0;
}

int event_stream__push_address(struct event_stream *s, uint32_t stack, uint64_t address,
			       struct budget *budget)
{
	struct event_stack *to = &s->stacks[stack];
	uint32_t index;
	int error;

	if (to->count == to->room)
		return -EDOM;
	error = find(s, address, budget, &index);
	if (error)
		return error;
	s->frames[to->first + to->count++] = index;
	return 0;
}

void event_stream__free_samples(struct event_stream *s)
{
	for (size_t i = 0; i < s->address_count; i++)
		event_address__clear(&s->addresses[i]);
	free(s->addresses);
	free(s->stacks);
	free(s->frames);
	free(s->sampling.clock);
	free(s->sampling.why);
	number_map__free(&s->address_index);
}
