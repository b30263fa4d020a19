/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice and what-if in the summary. */
#include "analysis/include/grain_whatif.h"
#include "analysis/export/json_keys.h"

#include <math.h>

/* Leaves out evidence that this kind of advice does not have. */
static void key_known(struct json_out *o, const char *key, double value)
{
	if (!isnan(value))
		key_double(o, key, value);
}

static void key_positive(struct json_out *o, const char *key, uint64_t value)
{
	if (value)
		key_uint(o, key, value);
}

static void write_evidence(struct json_out *o, const struct grain_graph *g, const struct grain_evidence *e)
{
	json_out__open(o, '{');
	key_uint(o, "grains", e->grains);
	key_uint(o, "of", e->of);
	if (e->worst != GRAIN_NONE)
		key_id(o, "worst", g, ID_CONTEXT, e->worst);
	key_known(o, "median_exec_ns", e->median_exec_ns);
	key_known(o, "median_cost_ns", e->median_cost_ns);
	if (e->cutoff_depth != GRAIN_NONE)
		key_uint(o, "cutoff_depth", e->cutoff_depth);
	key_positive(o, "times", e->times);
	key_positive(o, "vanish", e->vanish);
	key_positive(o, "chunk", e->chunk);
	key_positive(o, "minimum_cores", e->minimum_cores);
	key_positive(o, "threads", e->threads);
	key_positive(o, "nodes", e->nodes);
	key_positive(o, "wait_ns", e->wait_ns);
	key_known(o, "idle_percent", e->idle_percent);
	key_known(o, "deviation", e->deviation);
	key_known(o, "off_cpu_percent", e->off_cpu_percent);
	key_known(o, "scattered_percent", e->scattered_percent);
	key_known(o, "stalled_percent", e->stalled_percent);
	key_known(o, "elsewhere_percent", e->elsewhere_percent);
	key_positive(o, "memory_bytes", e->memory_bytes);
	if (e->function) {
		char place[512];

		snprintf(place, sizeof(place), e->function_line ? "%.400s:%u" : "%.400s", e->function_file,
			 e->function_line);
		key_string(o, "function", e->function);
		key_string(o, "function_source", place);
	}
	json_out__close(o, '}');
}

void json__write_advice(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	json_out__key(o, "advice");
	json_out__open(o, '[');
	for (i = 0; i < g->advice_count; i++) {
		const struct grain_advice *a = &g->advice[i].public;

		json_out__open(o, '{');
		key_string(o, "problem",
			   a->problem < GRAIN_PROBLEM_COUNT ? g->problems[a->problem].name : NULL);
		key_string(o, "kind", grain_advice__kind_name(a->kind));
		key_source(o, g, a->definition);
		key_string(o, "finding", a->finding);
		key_string(o, "text", a->text);
		key_uint(o, "saves_ns", a->saves_ns);
		json_out__key(o, "evidence");
		write_evidence(o, g, &a->evidence);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_whatif(struct json_out *o, const struct grain_graph *g,
			 const struct grain_whatif_question *question)
{
	struct grain_whatif w;
	int error = grain_graph__whatif(g, question->definition, question->factor, g->info.threads, &w);

	if (error < 0) {
		o->error = o->error ? o->error : error;
		return;
	}
	json_out__open(o, '{');
	key_source(o, g, question->definition);
	key_double(o, "factor", question->factor);
	key_uint(o, "cores", g->info.threads);
	key_uint(o, "work_ns", w.work_ns);
	key_uint(o, "span_ns", w.span_ns);
	key_uint(o, "least_ns", w.least_ns);
	key_uint(o, "most_ns", w.most_ns);
	key_uint(o, "before_least_ns", w.before_least_ns);
	key_uint(o, "before_most_ns", w.before_most_ns);
	key_uint(o, "saves_ns", w.saves_ns);
	json_out__close(o, '}');
}

void json__write_whatif(struct json_out *o, const struct grain_graph *g,
			const struct grain_whatif_question *questions, size_t count)
{
	struct grain_whatif_question usual[GRAIN_WHATIF_USUAL];
	size_t i, more = grain_graph__usual_questions(g, usual, GRAIN_WHATIF_USUAL);

	json_out__key(o, "what_if");
	json_out__open(o, '[');
	for (i = 0; i < count; i++)
		write_whatif(o, g, &questions[i]);
	for (i = 0; i < more; i++)
		write_whatif(o, g, &usual[i]);
	json_out__close(o, ']');
}
