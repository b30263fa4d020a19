// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace/trace_windows.h"
#include "analysis/trace/trace_events.h"
#include "analysis/trace/trace_format.h"

#include <stdlib.h>
#include <string.h>

/*
 * Keys are addresses, or small numbers that follow each other. This factor spreads the number of the window
 * over all bits, so that keys of different windows differ.
 */
#define KEY_OF_WINDOW UINT64_C(0x9e3779b97f4a7c15)

static bool names_object(uint8_t kind)
{
	return kind == TRACE_TASK_CREATE || kind == TRACE_TASK_BEGIN || kind == TRACE_TEAM_START ||
	       kind == TRACE_MEMBER_BEGIN || kind == TRACE_TASK_FULFILL;
}

/*
 * Returns the number of `thread` in this window. It gets a new one at its first record there. `now` maps
 * threads to these numbers.
 */
static int stand_in(struct trace_content *c, uint32_t *now, uint32_t thread, uint32_t *out,
		    struct budget *budget)
{
	int error = 0;

	if (now[thread] == GRAIN_NONE) {
		error = array__grow(&c->threads, c->thread_count, sizeof(*c->threads), budget);
		if (!error) {
			now[thread] = c->thread_count;
			c->threads[c->thread_count++] = c->threads[thread];
		}
	}
	*out = now[thread];
	return error;
}

/*
 * Drops the records of the first part that are later than its end. They are only of those threads that graind
 * reads first. If regions are kept, the end is before the first of them.
 */
static void end_first_part(struct trace_content *c, const struct event_stream *stream)
{
	const struct event_window *first = stream->windows;
	size_t kept = 0;

	if (!stream->window_count || !(first->kept & EVENT_KEPT_FIRST))
		return;
	for (size_t i = 0; i < c->count; i++)
		if (c->records[i].time_ns <= first->end_ns ||
		    (stream->window_count > 1 && c->records[i].time_ns >= first[1].begin_ns))
			c->records[kept++] = c->records[i];
	c->count = kept;
}

int trace_windows__split(struct trace_content *content, const struct event_stream *stream,
			 struct budget *budget)
{
	size_t threads = content->thread_count, window = 0;
	uint32_t *now = NULL;
	int error = 0;

	end_first_part(content, stream);
	if (stream->window_count < 2)
		return 0;
	error = budget__take(budget, threads * sizeof(*now));
	if (error)
		return error;
	error = budget__take(budget, stream->window_count * sizeof(*content->window_threads));
	if (error)
		return error;
	content->window_threads = calloc(stream->window_count, sizeof(*content->window_threads));
	now = malloc((threads + 1) * sizeof(*now));
	if (!now || !content->window_threads) {
		free(now);
		return -ENOMEM;
	}
	for (size_t i = 0; i < content->count && !error; i++) {
		struct trace_record *rec = &content->records[i];

		while (window + 1 < stream->window_count &&
		       rec->time_ns >= stream->windows[window + 1].begin_ns) {
			content->window_threads[window] = content->thread_count;
			memset(now, 0xff, threads * sizeof(*now));
			window++;
		}
		/* The window ended when a thread was about to record this event. */
		if (rec->time_ns > stream->windows[window].end_ns)
			rec->time_ns = stream->windows[window].end_ns;
		if (!window)
			continue;
		error = stand_in(content, now, rec->thread, &rec->thread, budget);
		if (names_object(rec->kind))
			rec->key ^= (uint64_t)window * KEY_OF_WINDOW;
	}
	for (; window < stream->window_count; window++)
		content->window_threads[window] = content->thread_count;
	free(now);
	budget__give(budget, threads * sizeof(*now));
	return error;
}
