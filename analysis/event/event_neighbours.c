// SPDX-License-Identifier: BSD-2-Clause
/* The processes that ran instead of the program's threads. Events name them by number. */
#include "analysis/event/event_build.h"

#include <stdlib.h>
#include <string.h>

static int add(struct event_stream *stream, uint32_t number, const struct event_neighbour *neighbour,
	       struct budget *budget)
{
	uint64_t bytes = (neighbour->command ? strlen(neighbour->command) + 1 : 0) +
			 (neighbour->cgroup ? strlen(neighbour->cgroup) + 1 : 0);
	struct event_neighbour *to;
	int error = 0;

	if (number == 0 || number > EVENT_NEIGHBOURS_MAX)
		return -EDOM;
	while (!error && stream->neighbour_count < number) {
		error = array__grow(&stream->neighbours, stream->neighbour_count, sizeof(*stream->neighbours),
				    budget);
		if (!error)
			stream->neighbours[stream->neighbour_count++] = (struct event_neighbour){.pid = -1};
	}
	if (error)
		return error;
	to = &stream->neighbours[number - 1];
	if (to->command || to->cgroup || to->pid >= 0)
		return -EEXIST;
	error = budget__take(budget, bytes);
	if (!error)
		*to = *neighbour;
	return error;
}

int event_stream__add_neighbour(struct event_stream *stream, uint32_t number,
				const struct event_neighbour *neighbour, struct budget *budget)
{
	int error = add(stream, number, neighbour, budget);

	if (error) {
		free(neighbour->command);
		free(neighbour->cgroup);
	}
	return error;
}
