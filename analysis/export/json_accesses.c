/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampled accesses to memory, in the summary and of each grain. */
#include "analysis/include/grain_numa.h"
#include "analysis/export/json_keys.h"

#include <math.h>

#define MOST_PARTS 200

static const char *const why_names[GRAIN_ACCESS_WHYS] = {"unknown", "absent", "unmapped", "ended", "refused"};

static bool is_none(const struct grain_access_counts *counts)
{
	return !counts->local && !counts->remote && !counts->unknown;
}

static void write_counts(struct json_out *o, const struct grain_access_counts *counts)
{
	key_uint(o, "samples", counts->local + counts->remote + counts->unknown);
	key_uint(o, "local", counts->local);
	key_uint(o, "remote", counts->remote);
	key_double(o, "remote_percent", 100 * grain_access_counts__remote(counts));
}

void json__write_access_counts(struct json_out *o, const struct grain_access_counts *counts)
{
	if (is_none(counts))
		return;
	json_out__key(o, "accesses");
	json_out__open(o, '{');
	write_counts(o, counts);
	json_out__close(o, '}');
}

void json__write_accesses_of(struct json_out *o, const struct grain_graph *g, uint32_t context)
{
	struct grain_access_counts counts;

	grain_graph__accesses_of(g, context, &counts);
	json__write_access_counts(o, &counts);
}

static void write_parts(struct json_out *o, const struct grain_graph *g)
{
	struct grain_access_counts counts;

	json_out__key(o, "definitions");
	json_out__open(o, '[');
	for (size_t i = 0, written = 0; i < g->profile_count && written < MOST_PARTS; i++) {
		const struct grain_profile *p = &g->profiles[i];

		grain_graph__accesses_of_profile(g, i, &counts);
		if (is_none(&counts))
			continue;
		written++;
		json_out__open(o, '{');
		key_source(o, g, p->definition);
		key_string(o, "kind", p->kind);
		write_counts(o, &counts);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	json_out__key(o, "problems");
	json_out__open(o, '[');
	for (int k = 0; k < GRAIN_PROBLEM_COUNT; k++) {
		grain_graph__accesses_of_problem(g, (enum grain_problem)k, &counts);
		if (!g->problems[k].available || is_none(&counts))
			continue;
		json_out__open(o, '{');
		key_string(o, "problem", g->problems[k].name);
		write_counts(o, &counts);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

void json__write_accesses(struct json_out *o, const struct grain_graph *g)
{
	struct grain_accesses a;

	grain_graph__accesses(g, &a);
	json_out__key(o, "addresses");
	json_out__open(o, '{');
	json_out__key(o, "available");
	json_out__bool(o, a.event != NULL);
	if (!a.event) {
		char why[400];

		snprintf(why, sizeof(why), "%.300s: remote ones are judged by where pages are", a.why);
		key_string(o, "why", why);
		json_out__close(o, '}');
		return;
	}
	key_string(o, "event", a.event);
	key_uint(o, "hz", a.hz);
	write_counts(o, &a.all);
	key_uint(o, "lost", a.lost);
	json_out__key(o, "unknown");
	json_out__open(o, '{');
	for (int i = 0; i < GRAIN_ACCESS_WHYS; i++)
		key_uint(o, why_names[i], a.unknown[i]);
	json_out__close(o, '}');
	json_out__key(o, "teams");
	json_out__open(o, '{');
	write_counts(o, &a.teams);
	json_out__close(o, '}');
	json_out__key(o, "grains");
	json_out__open(o, '{');
	write_counts(o, &a.grains);
	json_out__close(o, '}');
	write_parts(o, g);
	json_out__close(o, '}');
}
