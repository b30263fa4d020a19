/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops and sections, locks, cancellation and dependences in the summary. */
#include "analysis/export/json_keys.h"

#include <math.h>

static const char *const bounds_names[] = {"observed", "derived", "hidden"};

static void key_count(struct json_out *o, const char *key, uint64_t count)
{
	json_out__key(o, key);
	if (count)
		json_out__uint(o, count);
	else
		json_out__null(o);
}

static void key_bool(struct json_out *o, const char *key, bool value)
{
	json_out__key(o, key);
	json_out__bool(o, value);
}

static void write_loop(struct json_out *o, const struct grain_graph *g, uint32_t index)
{
	struct grain_loop l;

	grain_graph__loop(g, index, &l);
	json_out__open(o, '{');
	key_id(o, "id", g, ID_LOOP, index);
	key_string(o, "kind", l.sections ? "sections" : "loop");
	key_source(o, g, l.definition);
	key_string(o, "schedule", l.schedule);
	json_out__key(o, "chunk");
	if (l.chunk)
		json_out__int(o, l.chunk);
	else
		json_out__null(o);
	key_uint(o, "chunks", l.chunks);
	key_count(o, "iterations", l.iterations);
	key_string(o, "bounds", bounds_names[l.bounds]);
	key_string(o, "note", l.bounds == GRAIN_BOUNDS_HIDDEN ? "static share, bounds not observable" : NULL);
	key_bool(o, "ordered", l.ordered);
	key_bool(o, "doacross", l.doacross);
	key_bool(o, "nonmonotonic", l.nonmonotonic);
	key_bool(o, "distribute", l.distribute);
	key_uint(o, "members", l.members);
	key_uint(o, "start_ns", l.start_ns);
	key_uint(o, "wall_ns", l.end_ns - l.start_ns);
	key_uint(o, "exec_ns", l.exec_ns);
	key_uint(o, "bookkeeping_ns", l.bookkeeping_ns);
	key_id_or_null(o, "join", g, ID_JOIN, l.join);
	key_double(o, "load_balance", l.load_balance);
	key_count(o, "minimum_cores", l.minimum_cores);
	key_bool(o, "incomplete", l.incomplete);
	json_out__close(o, '}');
}

void json__write_loops(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	json_out__key(o, "loops");
	json_out__open(o, '[');
	for (i = 0; i < g->loop_count; i++)
		if (g->loops[i].seen)
			write_loop(o, g, (uint32_t)i);
	json_out__close(o, ']');
}

static void write_cancels(struct json_out *o, const char *key, const uint64_t counts[4])
{
	static const char *const constructs[] = {"parallel", "loop", "sections", "taskgroup"};
	size_t i;

	json_out__key(o, key);
	json_out__open(o, '{');
	for (i = 0; i < 4; i++)
		key_uint(o, constructs[i], counts[i]);
	json_out__close(o, '}');
}

void json__write_locks(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	json_out__key(o, "locks");
	json_out__open(o, '[');
	for (i = 0; i < g->lock_count; i++) {
		const struct grain_lock *lock = &g->locks[i];

		json_out__open(o, '{');
		key_string(o, "kind", lock->kind);
		key_source(o, g, lock->definition);
		key_uint(o, "waits", lock->waits);
		key_uint(o, "wait_ns", lock->wait_ns);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	write_cancels(o, "cancels", g->totals.cancels);
	write_cancels(o, "cancellation_points", g->totals.cancellation_points);
	json_out__key(o, "dependences");
	json_out__open(o, '{');
	key_uint(o, "edges", g->totals.dependences);
	key_uint(o, "unread", g->totals.unread_dependences);
	json_out__close(o, '}');
}
