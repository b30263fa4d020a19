// SPDX-License-Identifier: BSD-2-Clause
/* Windows in the summary: which part of the time was recorded, and an estimate of the whole. */
#include "analysis/include/grain_windows.h"
#include "analysis/export/json_keys.h"

static void write_estimate(struct json_out *o, const char *key, const struct grain_estimate *estimate)
{
	json_out__key(o, key);
	json_out__open(o, '{');
	key_double(o, "value", estimate->value);
	key_double(o, "error", estimate->error);
	json_out__close(o, '}');
}

void json__write_windows(struct json_out *o, const struct grain_graph *g)
{
	struct grain_windows w;

	grain_graph__windows(g, &w);
	json_out__key(o, "recording");
	json_out__open(o, '{');
	key_string(o, "mode", w.windows ? "windows" : "all");
	if (w.windows) {
		key_uint(o, "windows", w.windows);
		key_uint(o, "whole_ns", w.whole_ns);
		key_uint(o, "recorded_ns", w.recorded_ns);
		key_uint(o, "probes_ns", w.probes_ns);
		json_out__key(o, "estimated");
		json_out__open(o, '{');
		write_estimate(o, "work_ns", &w.work_ns);
		json_out__close(o, '}');
	}
	json_out__close(o, '}');
}
