// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/grain_counters.h"
#include "analysis/json_keys.h"

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
