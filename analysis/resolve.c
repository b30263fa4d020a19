// SPDX-License-Identifier: BSD-2-Clause
/* From the first record of a trace to the last: order, threads, memory, counters. */
#include "analysis/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* How far a cause may stand behind its effect at the same time. */
#define LOOK_AHEAD 64
/* Records whose memory is given back at once. */
#define RELEASE 65536

/*
 * Whether the thread was inside a region when its first event was seen: it does
 * something that only happens in one while it is in none that was seen to begin.
 */
static void find_start(struct thread *t, const struct trace_record *rec)
{
	switch (rec->kind) {
	case TRACE_REGION_BEGIN:
		if (rec->frame > t->region_sp)
			t->region_sp = rec->frame;
		break;
	case TRACE_REGION_END:
		if (rec->frame > t->region_sp)
			t->region_sp = 0;
		break;
	case TRACE_MEMBER_BEGIN:
		t->start_known = true;
		break;
	case TRACE_WAIT_BEGIN:
	case TRACE_WAIT_END:
		if (rec->arg != TRACE_WAIT_BARRIER && rec->arg != TRACE_WAIT_REGION_END)
			break;
		/* fall through */
	case TRACE_TASK_CREATE:
	case TRACE_TASK_CREATE_END:
	case TRACE_TASK_BEGIN:
	case TRACE_TASK_END:
	case TRACE_TEAM_START:
	case TRACE_TEAM_STARTED:
		if (!t->region_sp)
			t->start_known = t->orphan_start = true;
		break;
	default:
		break;
	}
}

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
		r->threads[i].open_create = GRAIN_NONE;
	}
	for (size_t i = 0; i < c->count; i++) {
		struct thread *t = &r->threads[c->records[i].thread];

		t->last_record = (uint32_t)i;
		if (!t->start_known)
			find_start(t, &c->records[i]);
	}
	return site_table__init(&r->sites, r->stream, c, r->budget);
}

static bool needs_cause(const struct resolver *r, const struct trace_record *rec)
{
	if (rec->kind == TRACE_TASK_BEGIN)
		return number_map__get(&r->tasks, rec->key) == GRAIN_NONE;
	return rec->kind == TRACE_MEMBER_BEGIN && number_map__get(&r->teams, rec->key) == GRAIN_NONE;
}

/* Moves the cause of record `at` ahead of it when it stands behind it at the same time. */
static bool pull_cause(struct resolver *r, size_t at)
{
	struct trace_record *records = r->content->records;
	uint8_t kind = records[at].kind == TRACE_TASK_BEGIN ? TRACE_TASK_CREATE : TRACE_TEAM_START;
	size_t limit = at + LOOK_AHEAD < r->content->count ? at + LOOK_AHEAD : r->content->count,
	       found = at + 1;

	while (found < limit && records[found].time_ns == records[at].time_ns &&
	       !(records[found].kind == kind && records[found].key == records[at].key &&
		 records[found].thread != records[at].thread))
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

/* Gives whole pages of [from, to) back; what is in them is not needed any more. */
static void release(const struct trace_record *from, const struct trace_record *to)
{
	uintptr_t page = 4096, first = ((uintptr_t)from + page - 1) & ~(page - 1),
		  last = (uintptr_t)to & ~(page - 1);

	/* Only memory is at stake when this fails. */
	if (last > first)
		(void)madvise((void *)first, last - first, MADV_DONTNEED);
}

static int thread_ends(struct resolver *r, struct thread *t)
{
	t->begun = false;
	return resolver__emit(r, t, EVENT_THREAD_END, GRAIN_NONE) ? 0 : -E2BIG;
}

static int all_records(struct resolver *r)
{
	struct trace_record *records = r->content->records;
	size_t count = r->content->count, released = 0;
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		struct thread *t;

		for (int moves = 0; moves < LOOK_AHEAD && needs_cause(r, &records[i]) && pull_cause(r, i);
		     moves++)
			;
		t = &r->threads[records[i].thread];
		error = resolver__record(r, t, &records[i]);
		if (!error && i >= t->last_record && t->begun && !t->depth && t->open_create == GRAIN_NONE)
			error = thread_ends(r, t);
		if (i - released >= RELEASE) {
			release(&records[released], &records[i]);
			released = i;
		}
	}
	for (uint32_t i = 0; i < r->content->thread_count && !error; i++) {
		struct thread *t = &r->threads[i];

		if (t->open_create != GRAIN_NONE)
			error = frames__close_create(r, t);
		if (!error)
			error = frames__leave_barrier(r, t);
		if (!error)
			error = frames__close_to(r, t, 0);
		if (!error && t->begun)
			error = thread_ends(r, t);
	}
	return error;
}

static int count_all(struct resolver *r)
{
	struct event_stream *s = r->stream;
	int error = 0;

	for (uint32_t i = 0; i < s->task_count; i++) {
		s->truth.unmatched_begins += (s->task_trouble[i] & EVENT_TROUBLE_NO_CREATE) != 0;
		s->truth.never_begun += (s->task_trouble[i] & EVENT_TROUBLE_NO_BEGIN) != 0;
		s->truth.never_ended += (s->task_trouble[i] & EVENT_TROUBLE_NO_END) != 0;
	}
	for (size_t i = 0; i < s->loss_count; i++) {
		/* Events with a page that could not be read were recorded all the same. */
		if (strncmp(s->losses[i].cause, "read", 4) != 0 &&
		    __builtin_add_overflow(s->truth.lost, s->losses[i].count, &s->truth.lost))
			s->truth.lost = UINT64_MAX;
	}
	if (r->unclosed_creations)
		error = event_stream__add_loss(s, "unclosed-creations", 18, r->unclosed_creations, r->budget);
	if (!error && r->unmatched_teams)
		error = event_stream__add_loss(s, "unmatched-teams", 15, r->unmatched_teams, r->budget);
	return error;
}

int resolve__run(struct event_stream *stream, struct trace_content *content, struct budget *budget)
{
	struct resolver r = {.stream = stream, .content = content, .budget = budget};
	int error = prepare(&r);

	if (!error)
		error = all_records(&r);
	if (!error)
		error = count_all(&r);
	for (uint32_t i = 0; r.threads && i < content->thread_count; i++)
		free(r.threads[i].frames);
	free(r.threads);
	free(r.region_event);
	number_map__free(&r.tasks);
	number_map__free(&r.teams);
	number_map__free(&r.members);
	site_table__free(&r.sites);
	if (!error) {
		free(content->records);
		content->records = NULL;
	}
	return error;
}
