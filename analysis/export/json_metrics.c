/* SPDX-License-Identifier: BSD-2-Clause */
/* Problems and counters as JSON. */
#include "analysis/graph/counters.h"
#include "analysis/export/json_keys.h"
#include "analysis/machine/topology.h"
#include "analysis/include/grain_counters.h"

static void key_counter(struct json_out *o, const char *key, const struct grain_graph *g, int counter)
{
	key_string(o, key, counter < 0 ? NULL : g->stream->counters[counter].name);
}

/* Writes the choices that a metric was computed with. */
static void write_choices(struct json_out *o, const struct grain_graph *g, enum grain_problem problem)
{
	static const char *const flavours[] = {"exact", "optimistic", "conservative"};

	switch (problem) {
	case GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM:
		key_string(o, "parallelism", flavours[g->settings.parallelism]);
		if (g->interval_ns)
			key_uint(o, "interval_ns", g->interval_ns);
		break;
	case GRAIN_PROBLEM_SCATTER:
		key_string(o, "distance", g->topology && g->topology->distance ? "nodes" : "cores");
		break;
	case GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION:
		key_counter(o, "cycle_counter", g, g->counters->cycles);
		key_counter(o, "stall_counter", g, g->counters->stalls);
		break;
	case GRAIN_PROBLEM_CACHE_MISS_RATIO:
		key_counter(o, "miss_counter", g, g->counters->misses);
		key_counter(o, "reference_counter", g, g->counters->references);
		break;
	default:
		break;
	}
}

void json__write_problems(struct json_out *o, const struct grain_graph *g)
{
	json_out__key(o, "problems");
	json_out__open(o, '{');
	for (int i = 0; i < GRAIN_PROBLEM_COUNT; i++) {
		const struct grain_problem_summary *p = &g->problems[i];

		json_out__key(o, p->name);
		json_out__open(o, '{');
		json_out__key(o, "available");
		json_out__bool(o, p->available);
		if (p->available) {
			key_double(o, "threshold", p->threshold);
			key_uint(o, "grains", p->grains);
			key_double(o, "percent", p->percent);
			write_choices(o, g, (enum grain_problem)i);
		} else {
			key_string(o, "why", p->why);
		}
		json_out__close(o, '}');
	}
	json_out__close(o, '}');
}

void json__write_counters(struct json_out *o, const struct grain_graph *g, uint32_t context)
{
	json_out__open(o, '{');
	for (size_t i = 0; i < g->stream->counter_count; i++) {
		uint64_t value;

		json_out__string(o, g->stream->counters[i].name);
		json_out__colon(o);
		if (grain_graph__counter(g, context, i, &value))
			json_out__uint(o, value);
		else
			json_out__null(o);
	}
	json_out__close(o, '}');
}

void json__write_profile_counters(struct json_out *o, const struct grain_graph *g, size_t row)
{
	json_out__key(o, "counters");
	json_out__open(o, '{');
	for (size_t i = 0; i < g->stream->counter_count; i++) {
		uint64_t sum, instances;
		bool known = grain_graph__profile_counter(g, row, i, &sum, &instances);

		json_out__string(o, g->stream->counters[i].name);
		json_out__colon(o);
		json_out__open(o, '{');
		json_out__key(o, "sum");
		if (known)
			json_out__uint(o, sum);
		else
			json_out__null(o);
		key_uint(o, "instances", instances);
		json_out__close(o, '}');
	}
	json_out__close(o, '}');
}

void json__write_asked_counters(struct json_out *o, const struct grain_graph *g)
{
	json_out__key(o, "counters");
	json_out__open(o, '[');
	for (size_t i = 0; i < grain_graph__asked_counter_count(g); i++) {
		struct grain_counter c;

		grain_graph__asked_counter(g, i, &c);
		json_out__open(o, '{');
		key_string(o, "name", c.name);
		json_out__key(o, "available");
		json_out__bool(o, !c.absent);
		if (c.absent) {
			key_string(o, "why", c.absent);
		} else {
			key_double(o, "share", c.share);
			key_uint(o, "sum", c.sum);
			key_uint(o, "grains", c.grains);
			key_uint(o, "unknown", c.unknown);
		}
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}
