/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes keys with their values, as in the summary. Declares the functions that write parts of the summary in
 * other files.
 */
#ifndef GRAIND_JSON_KEYS_H
#define GRAIND_JSON_KEYS_H

#include "analysis/graph/graph.h"
#include "analysis/graph/graph_ids.h"
#include "analysis/export/json_out.h"

#include <errno.h>
#include <stdlib.h>

static inline void key_uint(struct json_out *o, const char *key, uint64_t value)
{
	json_out__key(o, key);
	json_out__uint(o, value);
}

static inline void key_double(struct json_out *o, const char *key, double value)
{
	json_out__key(o, key);
	json_out__double(o, value);
}

static inline void key_string(struct json_out *o, const char *key, const char *value)
{
	json_out__key(o, key);
	json_out__string(o, value);
}

static inline void key_stat(struct json_out *o, const char *key, const struct grain_stat *s)
{
	json_out__key(o, key);
	json_out__open(o, '{');
	key_uint(o, "sum", s->sum);
	key_double(o, "mean", s->mean);
	key_uint(o, "min", s->min);
	key_uint(o, "max", s->max);
	key_double(o, "stddev", s->stddev);
	json_out__close(o, '}');
}

static inline void key_source(struct json_out *o, const struct grain_graph *g, uint32_t definition)
{
	key_string(o, "source", definition == GRAIN_NONE ? NULL : g->definitions[definition].source);
}

/* Writes an identifier. Its length grows with the depth of the graph, so the buffer is made to fit. */
static inline void key_id(struct json_out *o, const char *key, const struct grain_graph *g, enum id_kind kind,
			  uint32_t index)
{
	size_t length = graph__id(g, kind, index, NULL, 0);
	char *text = malloc(length + 1);

	json_out__key(o, key);
	if (!text) {
		o->error = o->error ? o->error : -ENOMEM;
		json_out__null(o);
		return;
	}
	graph__id(g, kind, index, text, length + 1);
	json_out__plain(o, text, length);
	free(text);
}

static inline void key_id_or_null(struct json_out *o, const char *key, const struct grain_graph *g,
				  enum id_kind kind, uint32_t index)
{
	if (index != GRAIN_NONE) {
		key_id(o, key, g, kind, index);
		return;
	}
	json_out__key(o, key);
	json_out__null(o);
}

/* json_loops.c: "loops", and "locks", "cancels" and "dependences" */
void json__write_loops(struct json_out *o, const struct grain_graph *g);
/*
 * json_account.c: "account"; the same of a compared run, without parts; "account_change", null if one of the
 * runs has no account
 */
void json__write_account(struct json_out *out, const struct grain_graph *graph);
void json__write_account_of_run(struct json_out *out, const struct grain_graph *graph);
void json__write_account_change(struct json_out *out, const struct grain_graph *base,
				const struct grain_graph *run);
void json__write_locks(struct json_out *o, const struct grain_graph *g);
/* json_metrics.c: "problems"; the counters of one context, an object; and those of a row of the profile */
void json__write_problems(struct json_out *o, const struct grain_graph *g);
void json__write_counters(struct json_out *o, const struct grain_graph *g, uint32_t context);
void json__write_profile_counters(struct json_out *o, const struct grain_graph *g, size_t row);
/* json_tasking.c: a row's task profile, null of chunks; "scheduling_points"; "task_depths"; "barriers" */
void json__write_construct(struct json_out *o, const struct grain_graph *g, const struct grain_profile *p);
void json__write_scheduling_points(struct json_out *o, const struct grain_graph *g);
void json__write_task_depths(struct json_out *o, const struct grain_graph *g);
void json__write_barriers(struct json_out *o, const struct grain_graph *g, uint32_t region);
/* json_metrics.c: "counters", what was asked for */
void json__write_asked_counters(struct json_out *o, const struct grain_graph *g);

/* json_numa.c: "numa" */
void json__write_numa(struct json_out *o, const struct grain_graph *g);
/* json_accesses.c: "addresses"; of a context that has any, and of counts that are not 0, "accesses" */
void json__write_accesses(struct json_out *o, const struct grain_graph *g);
void json__write_accesses_of(struct json_out *o, const struct grain_graph *g, uint32_t context);
struct grain_access_counts;
void json__write_access_counts(struct json_out *o, const struct grain_access_counts *counts);

/* json_samples.c: writes "sampling"; returns 0 or -ENOMEM */
int json__write_sampling(struct json_out *o, const struct grain_graph *g);

/* json_sequences.c: writes "sequences"; returns 0 or -ENOMEM */
int json__write_sequences(struct json_out *out, const struct grain_graph *graph);

/* json_scheduler.c: "scheduler"; what it did to one context, an object */
void json__write_scheduler(struct json_out *o, const struct grain_graph *g);
void json__write_windows(struct json_out *o, const struct grain_graph *graph); /* json_windows.c */
void json__write_scheduled(struct json_out *o, const struct grain_graph *g, uint32_t context);
/* json_advice.c: "advice"; "what_if", with `count` questions before the usual ones */
void json__write_advice(struct json_out *o, const struct grain_graph *g);
struct grain_whatif_question;
void json__write_whatif(struct json_out *o, const struct grain_graph *g,
			const struct grain_whatif_question *questions, size_t count);

#endif
