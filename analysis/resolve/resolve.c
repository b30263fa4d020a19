// SPDX-License-Identifier: BSD-2-Clause
/* Resolves a trace from its first record to its last: order, threads, memory, counters. */
#include "analysis/event/folded.h"
#include "analysis/base/large.h"
#include "analysis/resolve/resolver.h"

#include <stdlib.h>
#include <string.h>

/* If a cause has the same time as its effect, it comes at most this many events after it. */
#define LOOK_AHEAD 64

static int prepare(struct resolver *r)
{
	struct trace_content *c = r->content;
	int error = budget__take(r->budget, (c->thread_count + 1) * sizeof(*r->threads));

	if (error)
		return error;
	r->threads = calloc((size_t)c->thread_count + 1, sizeof(*r->threads));
	if (!r->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->thread_count; i++) {
		r->threads[i].tid = c->threads[i];
		r->threads[i].group = r->threads[i].worker_of = r->threads[i].stack = GRAIN_NONE;
		r->threads[i].chunk_event = r->threads[i].wait_event = SIZE_MAX;
	}
	error = site_table__init(&r->sites, r->stream, c, r->budget);
	return error ? error : survey__run(r);
}

/* Whether the next record has the same time. Only then the order may be wrong. */
static bool has_equal(const struct resolver *r, size_t at)
{
	const struct trace_record *records = r->content->records;

	return at + 1 < r->content->count && records[at + 1].time_ns == records[at].time_ns;
}

static bool needs_cause(const struct resolver *r, const struct trace_record *rec)
{
	if (rec->kind == TRACE_TASK_BEGIN)
		return number_map__get(&r->tasks, rec->key) == GRAIN_NONE;
	return rec->kind == TRACE_MEMBER_BEGIN && rec->arg &&
	       number_map__get(&r->teams, rec->key) == GRAIN_NONE;
}

/* The survey has stored the team in the key of a region's begin. */
static bool is_cause(const struct trace_record *effect, const struct trace_record *cause)
{
	if (cause->key != effect->key || cause->thread == effect->thread)
		return false;
	return effect->kind == TRACE_TASK_BEGIN
		       ? cause->kind == TRACE_TASK_CREATE
		       : cause->kind == TRACE_TEAM_START || cause->kind == TRACE_REGION_BEGIN;
}

/* If the cause of record `at` has the same time but comes after it, moves the cause before it. */
static bool pull_cause(struct resolver *r, size_t at)
{
	struct trace_record *records = r->content->records;
	size_t limit = at + LOOK_AHEAD < r->content->count ? at + LOOK_AHEAD : r->content->count,
	       found = at + 1;

	while (found < limit && records[found].time_ns == records[at].time_ns &&
	       !is_cause(&records[at], &records[found]))
		found++;
	if (found >= limit || records[found].time_ns != records[at].time_ns)
		return false;
	for (size_t i = at + 1, to = at; i <= found; i++) {
		struct trace_record rec = records[i];

		if (rec.thread != records[found].thread)
			continue;
		memmove(&records[to + 1], &records[to], (i - to) * sizeof(rec));
		records[to++] = rec;
		r->threads[rec.thread].last_record = r->threads[rec.thread].last_record == i
							     ? (uint32_t)(to - 1)
							     : r->threads[rec.thread].last_record;
	}
	return true;
}

/* Ends everything that is open on the threads from `first` to `last`. */
static int close_threads(struct resolver *r, uint32_t first, uint32_t last)
{
	int error = 0;

	for (uint32_t i = first; i < last && !error; i++) {
		struct thread *t = &r->threads[i];

		error = frames__leave_barrier(r, t);
		if (!error)
			error = frames__close_to(r, t, 0);
		if (!error && t->begun)
			error = resolver__thread_ends(r, t);
	}
	return error;
}

/* Ends a window. What frames that are open at its end did later is unknown. */
static int leave_window(struct resolver *r, uint64_t next_ns)
{
	const struct event_window *windows = r->stream->windows;
	size_t count = r->stream->window_count;
	int error = 0;

	while (r->window + 1 < count && next_ns >= windows[r->window + 1].begin_ns && !error) {
		uint32_t seen = r->content->window_threads[r->window];

		if (windows[r->window].end_ns > r->now)
			r->now = windows[r->window].end_ns;
		r->reader = NULL;
		error = close_threads(r, r->closed_threads, seen);
		r->closed_threads = seen;
		r->window++;
	}
	return error;
}

static int all_records(struct resolver *r)
{
	struct trace_record *records = r->content->records;
	char *released = (char *)records, *handed = NULL;
	size_t count = r->content->count;
	int error = 0;

	event_stream__expect(r->stream, count + count / 64, r->budget);

	for (size_t i = 0; i < count && !error; i++) {
		struct thread *t;

		for (int moves = 0;
		     moves < LOOK_AHEAD && has_equal(r, i) && needs_cause(r, &records[i]) && pull_cause(r, i);
		     moves++)
			;
		t = &r->threads[records[i].thread];
		r->at = i;
		error = leave_window(r, records[i].time_ns);
		if (!error)
			error = resolver__record(r, t, &records[i]);
		if (!error && i >= t->last_record && t->begun && !t->depth)
			error = resolver__thread_ends(r, t);
		/* The ends that are inferred from here on have no counter reading. */
		r->reader = NULL;
		if (i % LARGE_STEP == 0)
			large__hand_on(&released, &records[i], &handed, r->stream->events + r->stream->count,
				       r->stream->events + r->stream->capacity);
	}
	if (r->stream->window_count && r->stream->windows[r->window].end_ns > r->now &&
	    r->stream->windows[r->window].end_ns != UINT64_MAX)
		r->now = r->stream->windows[r->window].end_ns;
	return error ? error : close_threads(r, r->closed_threads, r->content->thread_count);
}

/* Finds the sources of the call sites in rows of statistics. */
static int find_sources_of_rows(struct event_stream *stream, struct site_table *sites)
{
	static const enum site_kind kinds[FOLD_KINDS] = {[FOLD_TASK] = SITE_TASK,
							 [FOLD_TASKLOOP] = SITE_TASKLOOP,
							 [FOLD_LOOP] = SITE_LOOP,
							 [FOLD_SECTIONS] = SITE_SECTIONS};
	struct folded *folded = stream->folded;
	int error = 0;

	for (size_t i = 0; folded && i < folded->count && !error; i++)
		error = site_table__source(sites, folded->rows[i].site, folded->rows[i].sums.ident,
					   kinds[folded->rows[i].sums.kind], &folded->rows[i].source);
	if (folded) {
		folded->graph_lost = stream->truth.lost;
		folded->graph_lost_switches = stream->truth.lost_switches;
	}
	return error;
}

static int count_all(struct resolver *r)
{
	const struct {
		const char *cause;
		uint64_t count;
	} counters[] = {
		{"unclosed-creations", r->unclosed_creations}, {"unmatched-teams", r->unmatched_teams},
		{"unclosed-loops", r->unclosed_loops},	       {"unmatched-loops", r->unmatched_loops},
		{"mismatched-loops", r->mismatched_loops},
	};
	struct event_stream *s = r->stream;
	int error = find_sources_of_rows(s, &r->sites);

	for (uint32_t i = 0; i < s->task_count; i++) {
		s->truth.unmatched_begins += (s->task_trouble[i] & EVENT_TROUBLE_NO_CREATE) != 0;
		s->truth.never_begun += (s->task_trouble[i] & EVENT_TROUBLE_NO_BEGIN) != 0;
		s->truth.never_ended += (s->task_trouble[i] & EVENT_TROUBLE_NO_END) != 0;
	}
	for (size_t i = 0; i < s->loss_count; i++) {
		if (event_loss__is_of_events(&s->losses[i]) &&
		    __builtin_add_overflow(s->truth.lost, s->losses[i].count, &s->truth.lost))
			s->truth.lost = UINT64_MAX;
	}
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]) && !error; i++) {
		if (counters[i].count)
			error = event_stream__add_loss(s, counters[i].cause, strlen(counters[i].cause),
						       counters[i].count, r->budget);
	}
	return error;
}

int resolve__run(struct event_stream *stream, struct trace_content *content, struct budget *budget)
{
	struct resolver r = {.stream = stream,
			     .content = content,
			     .budget = budget,
			     .first_dirty = GRAIN_NONE};
	int error = prepare(&r);

	if (!error)
		error = all_records(&r);
	if (!error)
		error = count_all(&r);
	for (uint32_t i = 0; r.threads && i < content->thread_count; i++) {
		free(r.threads[i].frames);
		free(r.threads[i].attached);
		free(r.threads[i].survey.regions);
	}
	free(r.threads);
	free(r.regions);
	free(r.loops);
	free(r.combined);
	free(r.taskloops);
	free(r.groups);
	free(r.waiting);
	number_map__free(&r.tasks);
	number_map__free(&r.parts);
	number_map__free(&r.teams);
	number_map__free(&r.team_turns);
	number_map__free(&r.turn_at);
	number_map__free(&r.turn_now);
	number_map__free(&r.in_turn);
	number_map__free(&r.members);
	number_map__free(&r.bodies);
	number_map__free(&r.detached);
	number_map__free(&r.taskloop_tasks);
	number_map__free(&r.free_tasks);
	number_map__free(&r.free_keys);
	number_map__free(&r.task_groups);
	number_map__free(&r.instances);
	number_map__free(&r.bounded_calls);
	site_table__free(&r.sites);
	if (!error) {
		free(content->records);
		content->records = NULL;
	}
	return error;
}
