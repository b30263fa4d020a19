/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay of events: threads, and one handler for each kind of event. */
#include "analysis/graph/counters.h"
#include "analysis/replay/replay.h"
#include "analysis/base/large.h"

#include <errno.h>
#include <stdlib.h>

#define PROGRESS_EVENTS (1u << 18)

/* tid -> index into threads, open addressing, a power of two. */
struct thread_map {
	uint32_t *slots;
	size_t size;
	uint32_t recent[64]; /* the threads that were used last, by the low bits of tid */
};

static size_t hash(uint32_t tid, size_t size)
{
	return (tid * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
}

static int map_grow(struct grain_graph *g, struct thread_map *map)
{
	struct thread_map larger = {.size = map->size ? map->size * 2 : 256};
	size_t i, s;
	int error = memory__array(&g->memory, larger.size, sizeof *larger.slots, (void **)&larger.slots);

	if (error < 0)
		return error;
	for (i = 0; i < g->thread_count; i++) {
		for (s = hash(g->threads[i].tid, larger.size); larger.slots[s];
		     s = (s + 1) & (larger.size - 1))
			;
		larger.slots[s] = (uint32_t)i + 1;
	}
	memory__release(&g->memory, (void **)&map->slots, map->size, sizeof *map->slots);
	map->slots = larger.slots;
	map->size = larger.size;
	return 0;
}

/* Finds the thread if it was used recently. Else returns GRAIN_NONE, although the thread may exist. */
static inline uint32_t recent_thread(const struct grain_graph *g, const struct thread_map *map, uint32_t tid)
{
	uint32_t recent = map->recent[tid % 64];

	return recent < g->thread_count && g->threads[recent].tid == tid ? recent : GRAIN_NONE;
}

/* Finds any other thread, or adds it. */
static int find_thread(struct grain_graph *g, struct thread_map *map, uint32_t tid, uint32_t *out)
{
	uint32_t *recent = &map->recent[tid % 64];
	size_t s;
	int error;

	if (g->thread_count * 2 >= map->size) {
		error = map_grow(g, map);
		if (error < 0)
			return error;
	}
	for (s = hash(tid, map->size); map->slots[s]; s = (s + 1) & (map->size - 1)) {
		if (g->threads[map->slots[s] - 1].tid == tid) {
			*out = *recent = map->slots[s] - 1;
			return 0;
		}
	}
	error = GROW(g, threads, thread_count, thread_capacity);
	if (error < 0)
		return error;
	g->threads[g->thread_count] =
		(struct thread){.tid = tid, .top = GRAIN_NONE, .first_kind = EVENT_KIND_MAX};
	*out = *recent = (uint32_t)g->thread_count++;
	map->slots[s] = *out + 1;
	return 0;
}

static bool is_structural(uint8_t kind)
{
	return (kind >= EVENT_REGION_BEGIN && kind <= EVENT_SINGLE_END && kind != EVENT_DEPEND);
}

/* Whether only a running context can cause an event of this kind. */
static bool needs_context(uint8_t kind)
{
	return kind == EVENT_REGION_BEGIN || kind == EVENT_CREATE_BEGIN || kind == EVENT_WAIT_BEGIN ||
	       kind == EVENT_GROUP_BEGIN || kind == EVENT_LOOP_BEGIN || kind == EVENT_SECTIONS_BEGIN ||
	       kind == EVENT_SINGLE_BEGIN;
}

/* There are hardly more contexts, items and joins than events that make them. */
static void make_room(struct grain_graph *g, const size_t *events)
{
	size_t contexts = events[EVENT_CREATE_BEGIN] + events[EVENT_MEMBER_BEGIN] +
			  events[EVENT_CHUNK_BEGIN] + events[EVENT_SECTION_BEGIN] + g->thread_count,
	       waits = events[EVENT_WAIT_BEGIN], chunks = events[EVENT_CHUNK_END] + events[EVENT_SECTION_END],
	       items = contexts + events[EVENT_CREATE_BEGIN] + events[EVENT_CREATE_END] + 2 * waits + chunks;

	memory__reserve(&g->memory, (void **)&g->contexts, &g->context_capacity, contexts,
			sizeof *g->contexts);
	memory__reserve(&g->memory, (void **)&g->raw, &g->raw_capacity, items, sizeof *g->raw);
	memory__reserve(&g->memory, (void **)&g->joins, &g->join_capacity, waits, sizeof *g->joins);
}

/*
 * Surveys a thread that continues in a later window. What it does first there shows in which context it was.
 */
static void survey_window(struct grain_graph *g, struct thread *t, size_t index)
{
	struct event *e = &g->stream->events[index];

	if (e->kind == EVENT_THREAD_BEGIN && t->first_kind != EVENT_KIND_MAX) {
		t->came_back = index + 1;
		e->sub = EVENT_KIND_MAX;
	} else if (t->came_back && is_structural(e->kind)) {
		g->stream->events[t->came_back - 1].sub = e->kind;
		t->came_back = 0;
	}
}

/* Finds each thread's first and last event, so that the replay recognises both. */
static int survey(struct grain_graph *g, struct thread_map *map)
{
	const struct event_stream *s = g->stream;
	size_t i, events[EVENT_KIND_MAX] = {0};

	for (i = 0; i < s->count; i++) {
		const struct event *e = &s->events[i];
		struct thread *t;
		uint32_t thread;

		if (e->kind == EVENT_LOST && e->tid == 0)
			continue;
		thread = recent_thread(g, map, e->tid);
		if (thread == GRAIN_NONE) {
			int error = find_thread(g, map, e->tid, &thread);

			if (error < 0)
				return error;
		}
		t = &g->threads[thread];
		if (t->events++ == 0)
			t->first_ns = t->outside_since = e->time_ns;
		t->last_ns = e->time_ns;
		if (s->window_count)
			survey_window(g, t, i);
		if (t->first_kind == EVENT_KIND_MAX && is_structural(e->kind))
			t->first_kind = e->kind;
		if (e->kind < EVENT_KIND_MAX)
			events[e->kind]++;
	}
	make_room(g, events);
	return 0;
}

static int dispatch(struct replay *r, uint32_t thread, const struct event *e)
{
	switch (e->kind) {
	case EVENT_REGION_BEGIN:
		return replay__region_begin(r, thread, e);
	case EVENT_REGION_END:
		return replay__region_end(r, thread, e);
	case EVENT_MEMBER_BEGIN:
		return replay__member_begin(r, thread, e);
	case EVENT_MEMBER_END:
		return replay__member_end(r, thread, e);
	case EVENT_CREATE_BEGIN:
		return replay__create_begin(r, thread, e);
	case EVENT_CREATE_END:
		return replay__create_end(r, thread, e);
	case EVENT_TASK_BEGIN:
		return replay__task_begin(r, thread, e);
	case EVENT_TASK_SWITCH:
		return replay__task_switch(r, thread, e);
	case EVENT_TASK_END:
		return replay__task_end(r, thread, e);
	case EVENT_TASK_SUSPEND:
		return replay__task_suspend(r, e);
	case EVENT_TASK_BOUNDS:
		return replay__task_bounds(r, e);
	case EVENT_TASK_FULFILL:
		return replay__task_fulfill(r, e);
	case EVENT_TASK_DISCARD:
		replay__task_discard(r, e);
		return 0;
	case EVENT_DEPEND:
		return replay__depend(r, thread, e);
	case EVENT_CANCEL:
		replay__cancel(r, e);
		return 0;
	case EVENT_LOCK_BEGIN:
	case EVENT_LOCK_GOT:
		return replay__lock(r, thread, e);
	case EVENT_WAIT_BEGIN:
		return replay__wait_begin(r, thread, e);
	case EVENT_WAIT_END:
		return replay__wait_end(r, thread, e);
	case EVENT_GROUP_BEGIN:
		return replay__group_begin(r, thread);
	case EVENT_LOOP_BEGIN:
	case EVENT_SECTIONS_BEGIN:
		return replay__loop_begin(r, thread, e);
	case EVENT_CHUNK_BEGIN:
	case EVENT_SECTION_BEGIN:
		return replay__chunk_begin(r, thread, e);
	case EVENT_CHUNK_END:
	case EVENT_SECTION_END:
		return replay__chunk_end(r, thread, e);
	case EVENT_LOOP_END:
	case EVENT_SECTIONS_END:
		return replay__loop_end(r, thread, e);
	case EVENT_SINGLE_BEGIN:
		replay__single_begin(r, thread, e);
		return 0;
	case EVENT_SINGLE_END:
		replay__single_end(r, thread);
		return 0;
	case EVENT_OFF_CPU:
		return replay__off_cpu(r, thread, e);
	case EVENT_ON_CPU:
		return replay__on_cpu(r, thread, e);
	case EVENT_SAMPLE:
		return replay__sample(r, thread, e);
	case EVENT_ACCESS:
		return replay__access(r, thread, e);
	case EVENT_LOST:
		if (e->id == EVENT_LOST_SWITCHES)
			replay__lost_switches(r, thread, e);
		else
			replay__lost(r, thread, e);
		return 0;
	default:
		return 0;
	}
}

/* The thread begins anew, because the former window says nothing about what it does now. */
static int come_back(struct replay *r, uint32_t thread, const struct event *e)
{
	struct thread *t = &r->graph->threads[thread];

	t->away = t->off = t->on = false;
	if (t->top == GRAIN_NONE) {
		t->away_ns += r->now_ns - t->outside_since;
		t->outside_since = r->now_ns;
	}
	return needs_context(e->sub) ? replay__base(r, thread, false) : 0;
}

static int replay_event(struct replay *r, struct thread_map *map, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct thread *t;
	uint32_t thread;
	int error = e->time_ns == r->now_ns ? 0 : replay__advance(r, e->time_ns);

	if (error < 0)
		return error;
	if (e->kind == EVENT_LOST && e->tid == 0) {
		if (e->id != EVENT_LOST_SWITCHES)
			replay__lost(r, 0, e);
		return 0;
	}
	thread = recent_thread(g, map, e->tid);
	if (thread == GRAIN_NONE) {
		error = find_thread(g, map, e->tid, &thread);
		if (error < 0)
			return error;
	}
	if (g->counters)
		counters__at(g, (uint32_t)(e - g->stream->events), thread);
	t = &g->threads[thread];
	t->cpu = e->cpu;
	if (!t->started) {
		t->started = true;
		if (needs_context(t->first_kind))
			error = replay__base(r, thread, false);
	}
	if (error == 0 && t->away && e->kind == EVENT_THREAD_BEGIN)
		error = come_back(r, thread, e);
	if (error == 0)
		error = dispatch(r, thread, e);
	if (error == 0 && g->stream->window_count && e->kind == EVENT_THREAD_END) {
		error = replay__thread_close(r, thread);
		g->threads[thread].away = true;
	}
	if (error == 0 && --g->threads[thread].events == 0)
		error = replay__thread_close(r, thread);
	return error;
}

static int init(struct replay *r)
{
	struct grain_graph *g = r->graph;
	const struct event_stream *s = g->stream;
	size_t i;
	int error;

	g->scheduler_seen = g->info.scheduler;
	g->region_count = s->region_count;
	g->loop_count = s->loop_count;
	error = memory__array(&g->memory, s->task_count, sizeof(uint32_t), (void **)&r->context_of_task);
	if (error == 0)
		error = memory__array(&g->memory, s->region_count, sizeof(uint32_t),
				      (void **)&r->region_order);
	if (error == 0)
		error = memory__array(&g->memory, s->region_count, sizeof *g->regions, (void **)&g->regions);
	if (error == 0)
		error = memory__array(&g->memory, s->loop_count, sizeof *g->loops, (void **)&g->loops);
	if (error < 0)
		return error;
	for (i = 0; i < s->task_count; i++)
		r->context_of_task[i] = GRAIN_NONE;
	for (i = 0; i < s->region_count; i++) {
		struct region *region = &g->regions[i];

		region->parent = region->definition = region->single = region->item = region->end_join =
			region->first_barrier = region->last_barrier = GRAIN_NONE;
		region->start_ns = UINT64_MAX;
	}
	for (i = 0; i < s->loop_count; i++)
		g->loops[i].region = g->loops[i].context = g->loops[i].definition = g->loops[i].join =
			GRAIN_NONE;
	return 0;
}

/* Memory of events that were already replayed. The graph reuses it. */
struct used {
	char *events; /* how far it was handed on; NULL: the events are kept */
	char *contexts, *raw;
	bool to_raw;
};

static void hand_on(struct grain_graph *g, struct used *u, const struct event *to)
{
	const char *before = u->events;

	if (!u->events)
		return;
	if (u->to_raw)
		large__hand_on(&u->events, to, &u->raw, g->raw + g->raw_count, g->raw + g->raw_capacity);
	else
		large__hand_on(&u->events, to, &u->contexts, g->contexts + g->context_count,
			       g->contexts + g->context_capacity);
	u->to_raw ^= u->events != before;
}

int graph__replay(struct grain_graph *graph, const struct grain_load_opts *opts, struct grain_error *err)
{
	struct replay r = {.graph = graph, .free_frame = GRAIN_NONE, .active_region = GRAIN_NONE};
	struct thread_map map = {0};
	const struct event_stream *s = graph->stream;
	struct used used = {.events = opts && opts->keep_events ? NULL : (char *)s->events};
	size_t i = 0;
	int error = init(&r);

	if (error == 0)
		error = survey(graph, &map);
	if (error == 0 && s->count)
		r.now_ns = graph->info.start_ns = s->events[0].time_ns;
	if (error == 0)
		error = tasking__start(&r);
	for (i = 0; error == 0 && i < s->count; i++) {
		error = replay_event(&r, &map, &s->events[i]);
		if (i % LARGE_STEP == 0)
			hand_on(graph, &used, &s->events[i]);
		if (opts && opts->progress && i % PROGRESS_EVENTS == 0)
			opts->progress(opts->progress_ctx, 0.5 + 0.4 * (double)i / (double)s->count);
	}
	if (error == -EBADMSG && err)
		snprintf(err->text, sizeof err->text, "events are not in time order (event %zu)", i);
	graph->info.end_ns = r.now_ns;
	if (error == 0)
		error = replay__finish(&r);
	free(map.slots);
	free(r.frames);
	free(r.groups);
	free(r.levels);
	replay__free_depends(&r);
	tasking__stop(&r);
	free(r.locks);
	memory__release(&graph->memory, (void **)&r.context_of_task, s->task_count, sizeof(uint32_t));
	memory__release(&graph->memory, (void **)&r.region_order, s->region_count, sizeof(uint32_t));
	return error;
}
