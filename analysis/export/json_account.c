// SPDX-License-Identifier: BSD-2-Clause
/* The account in the JSON of the summary and of a comparison. */
#include "analysis/export/json_keys.h"
#include "analysis/include/grain_account.h"

#define PARTS_MOST 200
#define FUNCTIONS_MOST 50
#define GAPS_MOST 50

static void write_causes(struct json_out *o, const struct grain_account_part *part)
{
	key_uint(o, "capacity_ns", part->capacity_ns);
	json_out__key(o, "causes_ns");
	json_out__open(o, '{');
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		key_uint(o, grain_cause__name((enum grain_cause)i), part->cause_ns[i]);
	json_out__close(o, '}');
}

/* What people call the causes. */
static void write_words(struct json_out *o)
{
	json_out__key(o, "causes");
	json_out__open(o, '[');
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++) {
		json_out__open(o, '{');
		key_string(o, "cause", grain_cause__name((enum grain_cause)i));
		key_string(o, "label", grain_cause__label((enum grain_cause)i));
		key_string(o, "lost_to", grain_cause__lost((enum grain_cause)i));
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_factors(struct json_out *o, const struct grain_account *a)
{
	json_out__key(o, "efficiencies");
	json_out__open(o, '{');
	key_double(o, "parallel", a->parallel);
	key_double(o, "serial", a->serial);
	key_double(o, "load_balance", a->load_balance);
	key_double(o, "synchronisation", a->synchronisation);
	key_double(o, "scheduling", a->scheduling);
	key_double(o, "system", a->system);
	json_out__close(o, '}');
}

void json__write_account_of_run(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_account *a = grain_graph__account(g);

	json_out__key(o, "account");
	json_out__open(o, '{');
	key_string(o, "why", a->why);
	if (!a->why) {
		key_uint(o, "threads", a->threads);
		write_causes(o, &a->all);
		key_uint(o, "lost_ns", grain_account_part__lost_ns(&a->all));
		write_factors(o, a);
	}
	json_out__close(o, '}');
}

static void key_change(struct json_out *o, const char *key, uint64_t before, uint64_t after)
{
	json_out__key(o, key);
	json_out__int(o, (int64_t)(after - before));
}

void json__write_account_change(struct json_out *o, const struct grain_graph *base,
				const struct grain_graph *run)
{
	const struct grain_account *before = grain_graph__account(base), *after = grain_graph__account(run);

	json_out__key(o, "account_change");
	if (before->why || after->why) {
		json_out__null(o);
		return;
	}
	json_out__open(o, '{');
	key_change(o, "capacity_ns", before->all.capacity_ns, after->all.capacity_ns);
	key_change(o, "lost_ns", grain_account_part__lost_ns(&before->all),
		   grain_account_part__lost_ns(&after->all));
	json_out__key(o, "causes_ns");
	json_out__open(o, '{');
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		key_change(o, grain_cause__name((enum grain_cause)i), before->all.cause_ns[i],
			   after->all.cause_ns[i]);
	json_out__close(o, '}');
	json_out__close(o, '}');
}

static void write_place(struct json_out *o, const struct grain_serial_function *f)
{
	char place[512];

	snprintf(place, sizeof(place), f->line ? "%.400s:%u" : "%.400s", f->file, f->line);
	key_string(o, "function", f->function);
	key_string(o, "source", place[0] ? place : NULL);
}

/* The functions that serial code was in, and the regions that it was between; both only of a sampled program.
 */
static void write_serial(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_serial *serial = grain_graph__serial(g);

	if (!serial->samples)
		return;
	key_uint(o, "serial_ns", serial->ns);
	key_uint(o, "serial_samples", serial->samples);
	json_out__key(o, "serial_functions");
	json_out__open(o, '[');
	for (size_t i = 0; i < serial->function_count && i < FUNCTIONS_MOST; i++) {
		json_out__open(o, '{');
		write_place(o, &serial->functions[i]);
		key_uint(o, "samples", serial->functions[i].samples);
		key_double(o, "share", (double)serial->functions[i].samples / (double)serial->samples);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	json_out__key(o, "serial_between");
	json_out__open(o, '[');
	for (size_t i = 0; i < serial->gap_count && i < GAPS_MOST; i++) {
		const struct grain_serial_gap *gap = &serial->gaps[i];

		json_out__open(o, '{');
		key_string(o, "before",
			   gap->before == GRAIN_NONE ? NULL : g->definitions[gap->before].source);
		key_string(o, "after", gap->after == GRAIN_NONE ? NULL : g->definitions[gap->after].source);
		key_uint(o, "times", gap->times);
		key_uint(o, "ns", gap->ns);
		key_uint(o, "samples", gap->samples);
		key_string(o, "function",
			   gap->function == GRAIN_NONE ? NULL : serial->functions[gap->function].function);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

void json__write_account(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_account *a = grain_graph__account(g);

	json_out__key(o, "account");
	json_out__open(o, '{');
	key_string(o, "why", a->why);
	if (!a->why) {
		key_uint(o, "threads", a->threads);
		write_causes(o, &a->all);
		write_words(o);
		write_factors(o, a);
		json_out__key(o, "parts");
		json_out__open(o, '[');
		for (size_t i = 0; i < grain_graph__account_part_count(g) && i < PARTS_MOST; i++) {
			const struct grain_account_part *part = grain_graph__account_part(g, i);

			json_out__open(o, '{');
			key_source(o, g, part->definition);
			json_out__key(o, "serial");
			json_out__bool(o, part->serial);
			key_uint(o, "regions", part->regions);
			write_causes(o, part);
			json_out__close(o, '}');
		}
		json_out__close(o, ']');
		write_serial(o, g);
	}
	json_out__close(o, '}');
}
