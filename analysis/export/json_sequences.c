// SPDX-License-Identifier: BSD-2-Clause
/* "sequences": what the program repeats. Its size is bounded: elements of long bodies are left out. */
#include "analysis/export/json_keys.h"
#include "analysis/include/grain_sequences.h"

#define ELEMENTS_MOST 48

static void write_element(struct json_out *o, const struct grain_graph *g, uint32_t index,
			  const struct grain_repeat_element *e, size_t repeats)
{
	json_out__open(o, '{');
	key_uint(o, "element", index);
	key_string(o, "kind", e->repeat != GRAIN_NONE ? "repeat" : e->loop ? "loop" : "parallel");
	json_out__key(o, "repeat");
	if (e->repeat < repeats)
		json_out__uint(o, e->repeat);
	else
		json_out__null(o);
	key_source(o, g, e->definition);
	key_uint(o, "least", e->least);
	key_uint(o, "most", e->most);
	key_uint(o, "sum_ns", e->sum_ns);
	key_uint(o, "median_ns", e->median_ns);
	key_uint(o, "after_ns", e->after_ns);
	key_uint(o, "after_median_ns", e->after_median_ns);
	json_out__close(o, '}');
}

/* The time that an element must have to be among the ELEMENTS_MOST with the most. */
static uint64_t least_time(const struct grain_sequences *s, size_t repeat, uint32_t length)
{
	uint64_t largest[ELEMENTS_MOST] = {0};

	for (uint32_t i = 0; i < length; i++) {
		struct grain_repeat_element e;
		uint64_t ns;
		int at = ELEMENTS_MOST;

		grain_sequences__element(s, repeat, i, &e);
		ns = e.sum_ns + e.after_ns;
		for (; at > 0 && largest[at - 1] < ns; at--)
			if (at < ELEMENTS_MOST)
				largest[at] = largest[at - 1];
		if (at < ELEMENTS_MOST)
			largest[at] = ns;
	}
	return largest[ELEMENTS_MOST - 1];
}

static void write_body(struct json_out *o, const struct grain_graph *g, const struct grain_sequences *s,
		       size_t repeat, uint32_t length)
{
	uint64_t least = length > ELEMENTS_MOST ? least_time(s, repeat, length) : 0;
	uint32_t written = 0;

	json_out__key(o, "body");
	json_out__open(o, '[');
	for (uint32_t i = 0; i < length && written < ELEMENTS_MOST; i++) {
		struct grain_repeat_element e;

		grain_sequences__element(s, repeat, i, &e);
		if (e.sum_ns + e.after_ns < least)
			continue;
		write_element(o, g, i, &e, grain_sequences__count(s));
		written++;
	}
	json_out__close(o, ']');
}

static void write_odd(struct json_out *o, const struct grain_graph *g, const struct grain_sequences *s,
		      size_t repeat, const struct grain_repeat *r)
{
	key_uint(o, "odd", r->odd);
	json_out__key(o, "odd_repetitions");
	json_out__open(o, '[');
	for (size_t i = 0; i < r->odd_count; i++) {
		struct grain_odd_repetition odd;
		struct grain_repeat_element e;

		grain_sequences__odd(s, repeat, i, &odd);
		grain_sequences__element(s, repeat, odd.element, &e);
		json_out__open(o, '{');
		key_uint(o, "number", odd.number);
		key_uint(o, "start_ns", odd.start_ns);
		key_uint(o, "length_ns", odd.length_ns);
		key_uint(o, "longer_ns", odd.longer_ns);
		key_uint(o, "element", odd.element);
		key_source(o, g, e.definition);
		json_out__key(o, "after");
		json_out__bool(o, odd.after);
		key_uint(o, "element_longer_ns", odd.element_longer_ns);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_strip(struct json_out *o, const struct grain_sequences *s, size_t repeat,
			const struct grain_repeat *r)
{
	static const char *const names[] = {"start_ns", "longest_ns", "shortest_ns"};

	json_out__key(o, "strip");
	json_out__open(o, '{');
	key_uint(o, "every", r->strip_every);
	for (int k = 0; k < 3; k++) {
		json_out__key(o, names[k]);
		json_out__open(o, '[');
		for (size_t i = 0; i < r->strip_count; i++) {
			struct grain_repeat_strip value;

			grain_sequences__strip(s, repeat, i, &value);
			json_out__uint(o, k == 0   ? value.start_ns
					  : k == 1 ? value.longest_ns
						   : value.shortest_ns);
		}
		json_out__close(o, ']');
	}
	json_out__close(o, '}');
}

static void write_causes(struct json_out *o, const struct grain_repeat *r)
{
	key_uint(o, "capacity_ns", r->capacity_ns);
	json_out__key(o, "causes_ns");
	json_out__open(o, '{');
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		key_uint(o, grain_cause__name((enum grain_cause)i), r->cause_ns[i]);
	json_out__close(o, '}');
}

static void write_repeat(struct json_out *o, const struct grain_graph *g, const struct grain_sequences *s,
			 size_t index)
{
	struct grain_repeat r;

	grain_sequences__get(s, index, &r);
	json_out__open(o, '{');
	json_out__key(o, "parent");
	if (r.parent != GRAIN_NONE)
		json_out__uint(o, r.parent);
	else
		json_out__null(o);
	key_id_or_null(o, "region", g, ID_REGION, r.region);
	key_uint(o, "runs", r.runs);
	key_uint(o, "count", r.count);
	key_uint(o, "least", r.least);
	key_uint(o, "most", r.most);
	key_uint(o, "length", r.length);
	key_uint(o, "regions", r.regions);
	key_uint(o, "start_ns", r.start_ns);
	key_uint(o, "end_ns", r.end_ns);
	key_uint(o, "sum_ns", r.sum_ns);
	key_uint(o, "min_ns", r.min_ns);
	key_uint(o, "median_ns", r.median_ns);
	key_uint(o, "max_ns", r.max_ns);
	key_double(o, "mean_ns", r.mean_ns);
	key_uint(o, "outside_ns", r.outside_ns);
	write_causes(o, &r);
	write_body(o, g, s, index, r.length);
	write_odd(o, g, s, index, &r);
	write_strip(o, s, index, &r);
	json_out__close(o, '}');
}

int json__write_sequences(struct json_out *o, const struct grain_graph *g)
{
	struct grain_sequences *s;
	struct grain_sequences_info info;
	int error = grain_sequences__new(g, &s);

	if (error)
		return error;
	grain_sequences__info(s, &info);
	json_out__key(o, "sequences");
	json_out__open(o, '{');
	key_uint(o, "regions", info.regions);
	key_uint(o, "loops", info.loops);
	key_uint(o, "repeated_ns", info.repeated_ns);
	key_uint(o, "wall_ns", info.wall_ns);
	json_out__key(o, "partial");
	json_out__bool(o, info.partial);
	json_out__key(o, "unfinished");
	json_out__bool(o, info.unfinished);
	json_out__key(o, "repeats");
	json_out__open(o, '[');
	for (size_t i = 0; i < grain_sequences__count(s); i++)
		write_repeat(o, g, s, i);
	json_out__close(o, ']');
	json_out__close(o, '}');
	grain_sequences__free(s);
	return 0;
}
