/* SPDX-License-Identifier: BSD-2-Clause */
/* What the scheduler did, in the summary and for one context. */
#include "analysis/include/grain_scheduler.h"
#include "analysis/export/json_keys.h"

/* At most this many neighbours are written, those that took the most time. */
#define NEIGHBOURS_MAX 50

static void write_scheduled(struct json_out *o, const struct grain_scheduled *s)
{
	key_uint(o, "off_ns", s->off_ns);
	key_uint(o, "ready_ns", s->ready_ns);
	key_uint(o, "preempted_ns", s->preempted_ns);
	key_uint(o, "switches", s->switches);
	key_uint(o, "preemptions", s->preemptions);
	key_uint(o, "migrations", s->migrations);
}

void json__write_scheduled(struct json_out *o, const struct grain_graph *g, uint32_t context)
{
	struct grain_scheduled s;

	grain_graph__scheduled(g, context, &s);
	json_out__open(o, '{');
	write_scheduled(o, &s);
	json_out__close(o, '}');
}

static void write_thread(struct json_out *o, const struct grain_graph *g, size_t index)
{
	struct grain_thread t;

	grain_graph__thread(g, index, &t);
	json_out__open(o, '{');
	key_uint(o, "tid", t.tid);
	key_uint(o, "first_ns", t.first_ns);
	key_uint(o, "last_ns", t.last_ns);
	key_uint(o, "cpu_ns", t.cpu_ns);
	write_scheduled(o, &t.scheduled);
	key_uint(o, "unseen", t.unseen);
	key_uint(o, "lost", t.lost);
	json_out__close(o, '}');
}

static void write_neighbour(struct json_out *o, const struct grain_graph *g, size_t index)
{
	struct grain_neighbour n;

	grain_graph__neighbour(g, index, &n);
	json_out__open(o, '{');
	key_string(o, "command", n.command);
	key_string(o, "cgroup", n.cgroup[0] ? n.cgroup : NULL);
	json_out__key(o, "pid");
	if (n.pid >= 0)
		json_out__int(o, n.pid);
	else
		json_out__null(o);
	key_uint(o, "processes", n.processes);
	json_out__key(o, "own");
	json_out__bool(o, n.own);
	json_out__key(o, "measuring");
	json_out__bool(o, n.measuring);
	key_uint(o, "preemptions", n.preemptions);
	key_uint(o, "taken_ns", n.taken_ns);
	json_out__close(o, '}');
}

void json__write_scheduler(struct json_out *o, const struct grain_graph *g)
{
	const char *absent = grain_graph__scheduler_absent(g);
	size_t neighbours = grain_graph__neighbour_count(g);

	json_out__key(o, "scheduler");
	json_out__open(o, '{');
	json_out__key(o, "available");
	json_out__bool(o, !absent);
	if (absent) {
		key_string(o, "why", absent);
		json_out__close(o, '}');
		return;
	}
	json_out__key(o, "threads");
	json_out__open(o, '[');
	for (size_t i = 0; i < grain_graph__thread_count(g); i++)
		write_thread(o, g, i);
	json_out__close(o, ']');
	json_out__key(o, "neighbours");
	json_out__open(o, '[');
	for (size_t i = 0; i < neighbours && i < NEIGHBOURS_MAX; i++)
		write_neighbour(o, g, i);
	json_out__close(o, ']');
	key_uint(o, "neighbours_left_out", neighbours > NEIGHBOURS_MAX ? neighbours - NEIGHBOURS_MAX : 0);
	json_out__close(o, '}');
}
