// SPDX-License-Identifier: BSD-2-Clause
/* Effects of the scheduler on threads and, in their fragments, on contexts. */
#include "analysis/replay/replay.h"
#include "analysis/machine/numa.h"

#include <stdlib.h>
#include <string.h>

static void add(struct grain_scheduled *to, const struct grain_scheduled *part)
{
	to->off_ns += part->off_ns;
	to->ready_ns += part->ready_ns;
	to->preempted_ns += part->preempted_ns;
	to->switches += part->switches;
	to->preemptions += part->preemptions;
	to->migrations += part->migrations;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns what the scheduler did since `from`, from an off-cpu event and its on-cpu event. */
static struct grain_scheduled since(const struct replay *r, const struct thread *t, const struct event *on,
				    uint64_t from)
{
	bool preempted = t->off_reason == EVENT_REASON_PREEMPTED;
	uint64_t begin = later(t->off_since, from), ready = r->now_ns;
	struct grain_scheduled part = {
		.off_ns = r->now_ns - begin,
		.switches = 1,
		.preemptions = preempted,
		.migrations = t->off_cpu != on->cpu,
	};

	if (preempted || t->off_reason == EVENT_REASON_YIELDED)
		ready = t->off_since;
	else if (on->value)
		ready = later(on->value, t->off_since);
	ready = later(ready, begin);
	part.ready_ns = ready < r->now_ns ? r->now_ns - ready : 0;
	part.preempted_ns = preempted ? part.ready_ns : 0;
	return part;
}

static int blame(struct grain_graph *g, uint32_t number, const struct grain_scheduled *part)
{
	if (!part->preemptions || number == 0 || number > g->stream->neighbour_count)
		return 0;
	if (!g->taken) {
		int error = memory__array(&g->memory, g->stream->neighbour_count, sizeof(*g->taken),
					  (void **)&g->taken);

		if (error < 0)
			return error;
	}
	g->taken[number - 1].preemptions++;
	g->taken[number - 1].ns += part->ready_ns;
	return 0;
}

int replay__off_cpu(struct replay *r, uint32_t thread, const struct event *e)
{
	struct thread *t = &r->graph->threads[thread];

	r->graph->scheduler_seen = true;
	t->unseen += t->off;
	t->off = true;
	t->on = false;
	t->off_since = r->now_ns;
	t->off_cpu = e->cpu;
	t->off_reason = e->sub;
	t->off_by = e->id == GRAIN_NONE ? 0 : e->id;
	return 0;
}

int replay__on_cpu(struct replay *r, uint32_t thread, const struct event *e)
{
	struct grain_graph *g = r->graph;
	struct thread *t = &g->threads[thread];
	struct grain_scheduled part;
	struct rare *rare;
	int error;

	g->scheduler_seen = true;
	t->unseen += t->on;
	t->on = true;
	if (!t->off)
		return 0;
	t->off = false;
	part = since(r, t, e, 0);
	add(&t->scheduled, &part);
	if (t->top == GRAIN_NONE || !frame__on_top_in_fragment(r, t->top))
		return 0;
	part = since(r, t, e, g->raw[r->frames[t->top].item].start_ns);
	error = part.migrations ? numa__move(g, thread, r->now_ns, t->off_cpu, e->cpu) : 0;
	if (error == 0)
		error = graph__rare(g, r->frames[t->top].context, &rare);
	if (error < 0)
		return error;
	add(&rare->scheduled, &part);
	return blame(g, t->off_by, &part);
}

/* After a loss, only the thread's next switch shows whether it has a CPU. */
void replay__lost_switches(struct replay *r, uint32_t thread, const struct event *e)
{
	struct thread *t = &r->graph->threads[thread];

	t->off = t->on = false;
	if (__builtin_add_overflow(t->switches_lost, e->value, &t->switches_lost))
		t->switches_lost = UINT64_MAX;
}

/* ---- neighbours by command and control group --------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct grain_neighbour *x = a, *y = b;
	int order = strcmp(x->command, y->command);

	if (!order)
		order = strcmp(x->cgroup, y->cgroup);
	return order ? order : (int)x->own - (int)y->own;
}

static int by_time(const void *a, const void *b)
{
	const struct grain_neighbour *x = a, *y = b;

	if (x->taken_ns != y->taken_ns)
		return x->taken_ns < y->taken_ns ? 1 : -1;
	return by_name(a, b);
}

int graph__name_neighbours(struct grain_graph *g)
{
	const struct event_stream *s = g->stream;
	size_t count = 0, merged = 0;
	int error;

	if (!g->taken)
		return 0;
	error = memory__array(&g->memory, s->neighbour_count, sizeof(*g->neighbours),
			      (void **)&g->neighbours);
	if (error < 0)
		return error;
	for (size_t i = 0; i < s->neighbour_count; i++) {
		const struct event_neighbour *n = &s->neighbours[i];

		if (!g->taken[i].preemptions)
			continue;
		g->neighbours[count++] = (struct grain_neighbour){
			.command = n->command ? n->command : "?",
			.cgroup = n->cgroup ? n->cgroup : "",
			.pid = n->pid,
			.processes = 1,
			.own = g->info.pid >= 0 && n->pid == g->info.pid,
			.measuring = n->measuring,
			.preemptions = g->taken[i].preemptions,
			.taken_ns = g->taken[i].ns,
		};
	}
	qsort(g->neighbours, count, sizeof(*g->neighbours), by_name);
	for (size_t i = 0; i < count; i++) {
		struct grain_neighbour *n = &g->neighbours[i],
				       *to = merged ? &g->neighbours[merged - 1] : NULL;

		if (!to || by_name(to, n)) {
			g->neighbours[merged++] = *n;
			continue;
		}
		to->processes++;
		to->preemptions += n->preemptions;
		to->taken_ns += n->taken_ns;
	}
	qsort(g->neighbours, merged, sizeof(*g->neighbours), by_time);
	g->neighbour_count = merged;
	return 0;
}
