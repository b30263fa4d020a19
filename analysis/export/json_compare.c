/* SPDX-License-Identifier: BSD-2-Clause */
/* The comparison as JSON (analysis/METRICS.md, "Two runs"). */
#include "analysis/compare/compare_rows.h"
#include "analysis/export/json_keys.h"

#include <math.h>

#define INFLATED_WRITTEN 100

static void key_int(struct json_out *o, const char *key, int64_t value)
{
	json_out__key(o, key);
	json_out__int(o, value);
}

static void key_bool(struct json_out *o, const char *key, bool value)
{
	json_out__key(o, key);
	json_out__bool(o, value);
}

static void write_graph(struct json_out *o, const char *key, const struct grain_graph *g, uint64_t job)
{
	json_out__key(o, key);
	json_out__open(o, '{');
	json_out__key(o, "job");
	if (job)
		json_out__uint(o, job);
	else
		json_out__null(o);
	key_string(o, "exe", g->info.exe);
	key_string(o, "cmd", g->info.command);
	key_uint(o, "threads", g->info.threads);
	key_uint(o, "wall_ns", g->totals.wall_ns);
	key_uint(o, "work_ns", g->totals.work_ns);
	key_uint(o, "span_ns", g->totals.span_ns);
	key_double(o, "average_parallelism", g->totals.average_parallelism);
	key_uint(o, "grains", g->totals.grains);
	key_uint(o, "incomplete", g->truth.incomplete_grains);
	key_uint(o, "discarded", g->totals.discarded);
	key_uint(o, "lost", g->truth.lost);
	key_bool(o, "damaged", g->info.damaged);
	json__write_account_of_run(o, g);
	json_out__close(o, '}');
}

static void key_ratio(struct json_out *o, const char *key, uint64_t before, uint64_t after)
{
	key_double(o, key, before ? (double)after / (double)before : NAN);
}

static void write_totals(struct json_out *o, const struct grain_compare *c)
{
	static const char *const reasons[GRAIN_COMPARE_REASON_COUNT] = {
		[GRAIN_COMPARE_INCOMPLETE] = "incomplete",
		[GRAIN_COMPARE_NOT_FOUND] = "not_found",
		[GRAIN_COMPARE_OTHER_WORK] = "other_iterations",
		[GRAIN_COMPARE_BASE_INCOMPLETE] = "base_incomplete",
		[GRAIN_COMPARE_BASE_ZERO] = "base_zero",
	};
	const struct grain_totals *before = &c->match.base->totals, *after = &c->match.run->totals;
	const struct grain_compare_totals *t = &c->totals;
	int i;

	json_out__key(o, "ratio");
	json_out__open(o, '{');
	key_ratio(o, "wall", before->wall_ns, after->wall_ns);
	key_ratio(o, "work", before->work_ns, after->work_ns);
	key_ratio(o, "span", before->span_ns, after->span_ns);
	json_out__close(o, '}');
	key_uint(o, "matched", t->matched);
	key_double(o, "matched_percent", t->matched_percent);
	key_uint(o, "base_only", t->base_only);
	key_uint(o, "run_only", t->run_only);
	key_uint(o, "base_only", t->base_only);
	key_uint(o, "run_only", t->run_only);
	key_bool(o, "same_shape", t->same_shape);
	key_uint(o, "other_definition", t->other_definition);
	json_out__key(o, "work_deviation");
	json_out__open(o, '{');
	key_double(o, "threshold", t->threshold);
	key_uint(o, "grains", t->inflated);
	key_double(o, "percent", t->matched ? 100.0 * (double)t->inflated / (double)t->matched : NAN);
	key_int(o, "excess_ns", t->excess_ns);
	json_out__key(o, "absent");
	json_out__open(o, '{');
	for (i = 0; i < GRAIN_COMPARE_REASON_COUNT; i++)
		if (reasons[i])
			key_uint(o, reasons[i], t->reasons[i]);
	json_out__close(o, '}');
	json_out__close(o, '}');
}

static void write_side(struct json_out *o, const char *key, const struct grain_side *side,
		       const struct grain_graph *g)
{
	int k;

	json_out__key(o, key);
	if (!side->instances) {
		json_out__null(o);
		return;
	}
	json_out__open(o, '{');
	key_uint(o, "instances", side->instances);
	key_stat(o, "exec_ns", &side->exec);
	key_stat(o, "create_ns", &side->create);
	key_stat(o, "wait_ns", &side->wait);
	json_out__key(o, "problems");
	json_out__open(o, '{');
	for (k = 0; k < GRAIN_PROBLEM_COUNT; k++)
		if (g->problems[k].available)
			key_double(o, g->problems[k].name, side->problem_percent[k]);
	json_out__close(o, '}');
	json_out__close(o, '}');
}

static void write_definitions(struct json_out *o, const struct grain_compare *c)
{
	size_t i;

	json_out__key(o, "definitions");
	json_out__open(o, '[');
	for (i = 0; i < c->row_count; i++) {
		const struct grain_compare_definition *d = &c->rows[i];

		json_out__open(o, '{');
		key_string(o, "source", d->source[0] ? d->source : NULL);
		key_string(o, "base_source",
			   d->base == GRAIN_NONE ? NULL : c->match.base->definitions[d->base].source);
		key_string(o, "func", d->function);
		key_string(o, "kind", d->kind);
		write_side(o, "base", &d->before, c->match.base);
		write_side(o, "run", &d->after, c->match.run);
		key_uint(o, "matched", d->matched);
		key_uint(o, "inflated", d->inflated);
		key_double(o, "median_deviation", d->median_deviation);
		key_int(o, "excess_ns", d->excess_ns);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_inflated(struct json_out *o, const struct grain_compare *c)
{
	const struct match *m = &c->match;
	size_t i;

	json_out__key(o, "inflated");
	json_out__open(o, '[');
	for (i = 0; i < c->inflated_count && i < INFLATED_WRITTEN; i++) {
		uint32_t context = c->inflated[i];
		uint64_t before = m->base->contexts[m->base_of[context]].exec_ns;
		uint64_t after = m->run->contexts[context].exec_ns;

		json_out__open(o, '{');
		key_id(o, "id", m->run, ID_CONTEXT, context);
		key_source(o, m->run, m->run->contexts[context].definition);
		key_uint(o, "base_exec_ns", before);
		key_uint(o, "exec_ns", after);
		key_double(o, "work_deviation", match__deviation(m, context));
		key_int(o, "excess_ns", (int64_t)(after - before));
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

int grain_compare__write_json(const struct grain_compare *compare, uint64_t base_job, uint64_t job, FILE *out)
{
	struct json_out *o = json_out__new(out);

	if (!o)
		return -ENOMEM;
	json_out__open(o, '{');
	write_graph(o, "base", compare->match.base, base_job);
	write_graph(o, "run", compare->match.run, job);
	write_totals(o, compare);
	json__write_account_change(o, compare->match.base, compare->match.run);
	write_definitions(o, compare);
	write_inflated(o, compare);
	json_out__close(o, '}');
	json_out__line(o);
	return json_out__finish(o);
}
