/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact instantaneous parallelism while time advances. Only those past levels are kept that can still be a
 * later minimum. They form a stack of rising levels, which is no higher than the number of threads.
 */
#include "analysis/replay/replay.h"

#include <errno.h>

static int push_level(struct replay *r)
{
	while (r->level_count && r->levels[r->level_count - 1].running >= r->running)
		r->level_count--;
	if (r->level_count == r->level_capacity) {
		int error = memory__grow(&r->graph->memory, (void **)&r->levels, &r->level_capacity,
					 r->level_count, sizeof *r->levels);

		if (error < 0)
			return error;
	}
	r->levels[r->level_count++] = (struct level){.time_ns = r->now_ns, .running = r->running};
	return 0;
}

/* Counts thread time in which there is no fragment to run, no task to begin, and no task being created. */
static void count_idle(struct replay *r, uint64_t ns)
{
	uint64_t used = (uint64_t)r->running + r->creating + r->ready;

	if (r->active_region != GRAIN_NONE && r->active_threads > used)
		r->graph->regions[r->active_region].idle_ns += (r->active_threads - used) * ns;
}

int replay__advance(struct replay *r, uint64_t time_ns)
{
	int error;

	if (time_ns == r->now_ns)
		return 0;
	if (time_ns < r->now_ns)
		return -EBADMSG;
	if (r->changed) {
		error = push_level(r);
		if (error < 0)
			return error;
		r->changed = false;
	}
	count_idle(r, time_ns - r->now_ns);
	r->now_ns = time_ns;
	return 0;
}

uint32_t replay__least(const struct replay *r, uint64_t start_ns)
{
	size_t low = 0, high = r->level_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->levels[middle].time_ns >= start_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low < r->level_count ? r->levels[low].running : r->running;
}
