// SPDX-License-Identifier: BSD-2-Clause
/* A stream's data about memory: nodes, and locations of pages. */
#include "analysis/event/event_build.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct event_area *area)
{
	free(area->name);
	free(area->module);
	free(area->kind);
	*area = (struct event_area){0};
}

uint32_t event_stream__find_area(const struct event_stream *s, uint32_t number)
{
	for (size_t i = 0; i < s->numa.area_count; i++)
		if (s->numa.areas[i].number == number)
			return (uint32_t)i;
	return GRAIN_NONE;
}

int event_stream__add_area(struct event_stream *s, struct event_area *area, struct budget *budget)
{
	struct event_numa *numa = &s->numa;
	int error = 0;

	if (event_stream__find_area(s, area->number) != GRAIN_NONE)
		error = -EEXIST;
	else if (numa->area_count == EVENT_AREAS_MAX)
		error = -EDOM;
	if (!error)
		error = budget__take(budget,
				     strlen(area->name) + strlen(area->module) + strlen(area->kind) + 3);
	if (!error)
		error = array__grow(&numa->areas, numa->area_count, sizeof(*numa->areas), budget);
	if (error) {
		clear(area);
		return error;
	}
	numa->areas[numa->area_count++] = *area;
	return 0;
}

void event_stream__free_numa(struct event_stream *s)
{
	struct event_numa *numa = &s->numa;

	for (size_t i = 0; i < numa->area_count; i++)
		clear(&numa->areas[i]);
	free(numa->areas);
	free(numa->pages);
	free(numa->nodes);
	free(numa->allowed_cpus);
	free(numa->allowed_nodes);
	free(numa->why);
	free(numa->access_event);
	free(numa->access_why);
}
