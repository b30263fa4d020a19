// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/include/grain_samples.h"
#include "analysis/export/json_keys.h"
#include "analysis/metrics/profile.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_OF_ALL 50
#define MOST_OF_PART 10
#define MOST_PARTS 200

static int write_hot(struct json_out *o, const struct grain_graph *g, struct grain_hot_opts opts, size_t most)
{
	struct grain_hot *hot;
	uint64_t samples;
	size_t count;
	int error = grain_graph__hot(g, &opts, &hot, &count, &samples);

	if (error)
		return error;
	if (!opts.lines && (opts.profile != SIZE_MAX || opts.problem >= 0))
		key_uint(o, "samples", samples);
	json_out__key(o, opts.lines ? "lines" : "functions");
	json_out__open(o, '[');
	for (size_t i = 0; i < count && i < most; i++) {
		json_out__open(o, '{');
		key_string(o, "function", hot[i].function);
		key_string(o, "file", hot[i].file[0] ? hot[i].file : NULL);
		if (opts.lines) {
			key_uint(o, "line", hot[i].line);
			key_uint(o, "samples", hot[i].self);
		} else {
			key_uint(o, "self", hot[i].self);
			key_uint(o, "total", hot[i].total);
		}
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	free(hot);
	return 0;
}

/* Writes the hot functions and the hot lines. */
static int write_both(struct json_out *o, const struct grain_graph *g, struct grain_hot_opts opts,
		      size_t most)
{
	int error = write_hot(o, g, opts, most);

	opts.lines = true;
	return error ? error : write_hot(o, g, opts, most);
}

/* Marks the rows of the profile that have samples, by slot. NULL: out of memory. */
static bool *sampled_rows(const struct grain_graph *g)
{
	bool *sampled = calloc(profile__slots(g) + 1, sizeof(*sampled));

	for (size_t i = 0; i < g->sample_count && sampled; i++) {
		const struct sample *s = &g->samples[i];

		if (sample__is_in_grain(s, g->contexts))
			sampled[profile__slot_of(g, &g->contexts[s->context])] = true;
	}
	return sampled;
}

static int write_parts(struct json_out *o, const struct grain_graph *g)
{
	bool *sampled = sampled_rows(g);
	int error = 0;

	if (!sampled)
		return -ENOMEM;
	json_out__key(o, "definitions");
	json_out__open(o, '[');
	for (size_t i = 0, written = 0; i < g->profile_count && written < MOST_PARTS && !error; i++) {
		const struct grain_profile *p = &g->profiles[i];

		if (!sampled[profile__slot(g, p)])
			continue;
		written++;
		json_out__open(o, '{');
		key_source(o, g, p->definition);
		key_string(o, "kind", p->kind);
		error = write_both(o, g, (struct grain_hot_opts){.profile = i, .problem = -1}, MOST_OF_PART);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	json_out__key(o, "problems");
	json_out__open(o, '[');
	for (int k = 0; k < GRAIN_PROBLEM_COUNT && !error; k++) {
		if (!g->problems[k].available || !g->problems[k].grains)
			continue;
		json_out__open(o, '{');
		key_string(o, "problem", g->problems[k].name);
		error = write_both(o, g, (struct grain_hot_opts){.profile = SIZE_MAX, .problem = k},
				   MOST_OF_PART);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	free(sampled);
	return error;
}

int json__write_sampling(struct json_out *o, const struct grain_graph *g)
{
	struct grain_sampling s;
	int error = 0;

	grain_graph__sampling(g, &s);
	json_out__key(o, "sampling");
	json_out__open(o, '{');
	json_out__key(o, "available");
	json_out__bool(o, s.clock != NULL);
	if (!s.clock) {
		key_string(o, "why", s.why);
		json_out__close(o, '}');
		return 0;
	}
	key_string(o, "clock", s.clock);
	key_uint(o, "hz", s.hz);
	key_uint(o, "samples", s.samples);
	key_uint(o, "lost", s.lost);
	key_uint(o, "grains", s.grains);
	key_uint(o, "members", s.members);
	key_uint(o, "runtime", s.runtime);
	key_uint(o, "outside", s.outside);
	error = write_both(o, g, (struct grain_hot_opts){.profile = SIZE_MAX, .problem = -1}, MOST_OF_ALL);
	if (!error)
		error = write_parts(o, g);
	json_out__close(o, '}');
	return error;
}
