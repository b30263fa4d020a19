/* SPDX-License-Identifier: BSD-2-Clause */
/* The task profile in the summary: columns of "definitions", "scheduling_points", "task_depths", barriers. */
#include "analysis/include/grain_tasking.h"
#include "analysis/export/json_keys.h"

static void key_definition(struct json_out *o, const char *key, uint32_t definition)
{
	json_out__key(o, key);
	if (definition != GRAIN_NONE)
		json_out__uint(o, definition);
	else
		json_out__null(o);
}

static void key_null(struct json_out *o, const char *key)
{
	json_out__key(o, key);
	json_out__null(o);
}

void json__write_construct(struct json_out *o, const struct grain_graph *g, const struct grain_profile *p)
{
	static const char *const keys[] = {"inclusive_ns",  "creating_ns", "taskwait_ns", "task_ns",
					   "management_ns", "fragments",   "switches",	  "max_concurrent"};
	const size_t count = sizeof keys / sizeof *keys, timed = 4;
	uint32_t index =
		p->of == GRAIN_PROFILE_TASKS ? grain_graph__construct_of(g, p->definition) : GRAIN_NONE;
	struct grain_task_construct c = {.scheduled = false};
	size_t i;

	if (index != GRAIN_NONE) {
		grain_graph__task_construct(g, index, &c);
		key_stat(o, keys[0], &c.inclusive);
		key_stat(o, keys[1], &c.create);
		key_stat(o, keys[2], &c.taskwait);
		key_stat(o, keys[3], &c.task);
	}
	if (c.scheduled) {
		key_stat(o, keys[4], &c.management);
		key_uint(o, keys[5], c.fragments);
		key_uint(o, keys[6], c.switches);
		key_uint(o, keys[7], c.max_concurrent);
		return;
	}
	for (i = index == GRAIN_NONE ? 0 : timed; i < count; i++)
		key_null(o, keys[i]);
}

static void write_stubs(struct json_out *o, const struct grain_graph *g,
			const struct grain_scheduling_point *p)
{
	uint32_t i;

	json_out__key(o, "stubs");
	json_out__open(o, '[');
	for (i = 0; i < p->stubs; i++) {
		struct grain_stub stub;

		grain_graph__stub(g, p->first_stub + i, &stub);
		json_out__open(o, '{');
		key_definition(o, "definition", stub.definition);
		key_source(o, g, stub.definition);
		key_uint(o, "fragments", stub.fragments);
		key_stat(o, "exec_ns", &stub.exec);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

void json__write_scheduling_points(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	if (g->info.times_derived) {
		key_null(o, "scheduling_points");
		return;
	}
	json_out__key(o, "scheduling_points");
	json_out__open(o, '[');
	for (i = 0; i < grain_graph__scheduling_point_count(g); i++) {
		struct grain_scheduling_point p;

		grain_graph__scheduling_point(g, i, &p);
		json_out__open(o, '{');
		key_string(o, "kind", p.kind);
		key_definition(o, "definition", p.definition);
		key_source(o, g, p.definition);
		json_out__key(o, "in_task");
		json_out__bool(o, p.in_task);
		key_definition(o, "caller", p.caller);
		key_string(o, "caller_source",
			   p.caller == GRAIN_NONE ? NULL : g->definitions[p.caller].source);
		key_uint(o, "visits", p.visits);
		key_uint(o, "time_ns", p.time_ns);
		key_uint(o, "executing_ns", p.executing_ns);
		key_uint(o, "management_ns", p.management_ns);
		key_uint(o, "idle_ns", p.idle_ns);
		key_uint(o, "nested_ns", p.nested_ns);
		write_stubs(o, g, &p);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

void json__write_task_depths(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	json_out__key(o, "task_depths");
	json_out__open(o, '[');
	for (i = 0; i < grain_graph__depth_row_count(g); i++) {
		struct grain_depth_row d;

		grain_graph__depth_row(g, i, &d);
		json_out__open(o, '{');
		key_uint(o, "depth", d.depth);
		json_out__key(o, "and_deeper");
		json_out__bool(o, d.depth == GRAIN_DEPTH_LIMIT);
		key_definition(o, "definition", d.definition);
		key_source(o, g, d.definition);
		key_uint(o, "instances", d.instances);
		key_stat(o, "exec_ns", &d.exclusive);
		key_stat(o, "inclusive_ns", &d.inclusive);
		key_stat(o, "creating_ns", &d.create);
		key_stat(o, "taskwait_ns", &d.taskwait);
		key_stat(o, "task_ns", &d.task);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

void json__write_barriers(struct json_out *o, const struct grain_graph *g, uint32_t region)
{
	struct grain_barriers b;

	json_out__key(o, "barriers");
	if (!grain_graph__region_barriers(g, region, &b)) {
		json_out__null(o);
		return;
	}
	json_out__open(o, '{');
	key_uint(o, "time_ns", b.time_ns);
	key_uint(o, "executing_ns", b.executing_ns);
	key_uint(o, "management_ns", b.management_ns);
	key_uint(o, "idle_ns", b.idle_ns);
	json_out__close(o, '}');
}
