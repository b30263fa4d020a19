/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's two JSON documents. Their size is limited for every recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/include/grain_whatif.h"
#include "render/base/format.h"
#include "render/page/page.h"
#include "render/base/array.h"

/*
 * The rows with the largest weight are kept. The weight of a row is the number under `key`, in the row or in
 * its object `inner`.
 */
static const struct {
	const char *list, *key, *inner;
} weights[] = {
	{"regions", "wall_ns", NULL},	   {"loops", "wall_ns", NULL},
	{"depths", "exec_ns", "sum"},	   {"task_depths", "exec_ns", "sum"},
	{"definitions", "exec_ns", "sum"}, {"scheduling_points", "time_ns", NULL},
	{"locks", "wait_ns", NULL},	   {"advice", "saves_ns", NULL},
};

struct row {
	const char *text;
	size_t bytes;
	double weight;
};

static double weight_of(const char *list, const json_t *row)
{
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		const json_t *value;

		if (strcmp(list, weights[i].list))
			continue;
		value = json_object_get(row, weights[i].key);
		if (weights[i].inner)
			value = json_object_get(value, weights[i].inner);
		return json_is_number(value) ? json_number_value(value) : 0;
	}
	return 0;
}

static int heaviest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->weight < y->weight || x->weight > y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

static int in_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->text < y->text ? -1 : x->text > y->text;
}

/* Skips the JSON value at `p`, which must be well-formed. Returns its end. */
static const char *skip_value(const char *p)
{
	size_t depth = 0;

	for (;; p++) {
		if (*p == '"')
			for (p++; *p != '"'; p++)
				p += *p == '\\';
		depth += *p == '[' || *p == '{';
		depth -= *p == ']' || *p == '}';
		if (!depth && (p[1] == ',' || p[1] == ']' || p[1] == '}'))
			return p + 1;
	}
}

static double weight_of_text(const char *list, const char *row, size_t bytes)
{
	json_t *value = json_loadb(row, bytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	double weight = weight_of(list, value);

	json_decref(value);
	return weight;
}

/*
 * Splits the list at `text`. Each row is parsed alone, so that a million rows need little memory. Returns
 * false if out of memory.
 */
static bool split_list(const char *name, const char *text, struct row **rows, size_t *count)
{
	size_t room = 0;

	*count = 0;
	for (const char *p = text + 1; text[1] != ']'; p++) {
		const char *end = skip_value(p);

		if (!array__reserve((void **)rows, &room, *count, sizeof(**rows)))
			return false;
		(*rows)[(*count)++] = (struct row){.text = p, .bytes = (size_t)(end - p)};
		p = end;
		if (*p == ']')
			break;
	}
	for (size_t i = 0; *count > PAGE_MOST_ROWS && i < *count; i++)
		(*rows)[i].weight = weight_of_text(name, (*rows)[i].text, (*rows)[i].bytes);
	return true;
}

static bool copy_list(const char *name, const char *text, FILE *out)
{
	struct row *rows = NULL;
	size_t count, kept;
	bool ok = split_list(name, text, &rows, &count);

	kept = count > PAGE_MOST_ROWS ? PAGE_MOST_ROWS : count;
	if (ok && kept < count) {
		qsort(rows, count, sizeof(*rows), heaviest_first);
		qsort(rows, kept, sizeof(*rows), in_order);
	}
	fputc('[', out);
	for (size_t i = 0; ok && i < kept; i++) {
		fputs(i ? "," : "", out);
		fwrite(rows[i].text, 1, rows[i].bytes, out);
	}
	fprintf(out, "],\"%s_in_all\":%zu", name, count);
	free(rows);
	return ok;
}

/* Copies the document. Long lists are cut. */
static bool copy_bounded(const char *text, FILE *out)
{
	const char *p = text;

	fputc('{', out);
	while (p[1] == '"' && (*p == '{' || *p == ',')) {
		const char *key = p + 2, *colon = strchr(key, ':'), *end;
		char name[64];

		if (!colon)
			return false;
		end = skip_value(colon + 1);
		snprintf(name, sizeof(name), "%.*s", (int)(colon - key - 1), key);
		fputs(p == text ? "" : ",", out);
		fprintf(out, "\"%s\":", name);
		if (colon[1] == '[' && !copy_list(name, colon + 1, out))
			return false;
		if (colon[1] != '[')
			fwrite(colon + 1, 1, (size_t)(end - colon - 1), out);
		p = end;
	}
	fputc('}', out);
	return !ferror(out);
}

static void bound_text(json_t *text)
{
	const char *value = json_string_value(text);
	size_t bytes = PAGE_MOST_BYTES;
	char cut[PAGE_MOST_BYTES + 4];

	if (json_string_length(text) <= PAGE_MOST_BYTES)
		return;
	while (bytes && ((unsigned char)value[bytes] & 0xc0) == 0x80)
		bytes--;
	memcpy(cut, value, bytes);
	memcpy(cut + bytes, "\xe2\x80\xa6", 4);
	json_string_set(text, cut);
}

static void bound_texts(json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;

	if (json_is_string(value))
		bound_text(value);
	json_object_foreach(value, key, inner) bound_texts(inner);
	json_array_foreach(value, i, inner) bound_texts(inner);
}

json_t *page_summary__bound(const char *text)
{
	char *bounded = NULL;
	size_t bytes = 0;
	FILE *memory = *text == '{' ? open_memstream(&bounded, &bytes) : NULL;
	json_t *document = NULL;
	bool ok = memory && copy_bounded(text, memory);

	if (memory && fclose(memory) == 0 && ok)
		document = json_loadb(bounded, bytes, JSON_ALLOW_NUL, NULL);
	free(bounded);
	if (document)
		bound_texts(document);
	return document;
}

json_t *page_summary__read(const struct grain_graph *graph, uint64_t job)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	json_t *document = NULL;
	int error = memory ? grain_graph__write_summary_json_whatif(graph, job, NULL, 0, memory) : -ENOMEM;

	if (memory && fclose(memory) == 0 && !error)
		document = page_summary__bound(text);
	free(text);
	return document;
}

/* A text from the observed program. Bytes that are not text become '?'. */
static json_t *text_of(const char *value)
{
	char clean[PAGE_MOST_BYTES + 8];
	json_t *text = json_string(value);

	return text ? text : json_string(format__clean(clean, sizeof(clean), value, PAGE_MOST_BYTES));
}

/* Lists all definitions by index, including those of waits. */
static json_t *list_definitions(const struct grain_graph *graph)
{
	size_t count = grain_graph__definition_count(graph);
	json_t *list = json_array();

	for (uint32_t i = 0; i < count && i < 10 * PAGE_MOST_ROWS; i++) {
		struct grain_definition d;

		grain_graph__definition(graph, i, &d);
		json_array_append_new(list,
				      json_pack("{s:o,s:o,s:o,s:o,s:I}", "source", text_of(d.source), "file",
						text_of(d.file), "function", text_of(d.function), "kind",
						text_of(d.kind), "line", (json_int_t)d.line));
	}
	bound_texts(list);
	return list;
}

static json_t *list_metrics(const struct grain_graph *graph, const struct page_columns *columns)
{
	json_t *list = json_array();

	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		struct grain_problem_summary summary;

		grain_graph__problem(graph, (enum grain_problem)p, &summary);
		if (columns->metric[p])
			json_array_append_new(list, json_string(summary.name));
	}
	return list;
}

json_t *page_report__make(const struct grain_graph *graph, const struct render_opts *opts,
			  const struct page_columns *columns, const char *title, json_t *scene)
{
	json_t *tids = json_array(), *counters = json_array();
	size_t all = grain_graph__counter_count(graph);

	for (size_t i = 0; i < columns->thread_count; i++)
		json_array_append_new(tids, json_integer(columns->tids[i]));
	for (size_t i = 0; i < columns->counters; i++)
		json_array_append_new(counters, text_of(grain_graph__counter_name(graph, i)));
	return json_pack(
		"{s:i,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:b,s:b,s:I,s:o,s:o,s:o,s:o,s:o,s:o}",
		"version", PAGE_VERSION, "title", title, "view", render_view__name(opts->view), "tick_ns",
		(json_int_t)columns->tick_ns, "start_ns", (json_int_t)columns->start_ns, "contexts",
		(json_int_t)columns->contexts, "fragments", (json_int_t)columns->fragments, "joins",
		(json_int_t)columns->joins, "regions", (json_int_t)columns->regions, "loops",
		(json_int_t)columns->loops, "dependences", (json_int_t)columns->dependences, "cpu_known",
		columns->cpu_known, "counters_exact", columns->counters_exact, "bounds", columns->bounds,
		"counters_in_all", (json_int_t)all, "metrics", list_metrics(graph, columns), "counters",
		counters, "tids", tids, "definitions", list_definitions(graph), "excerpts",
		page_excerpts__read(graph, opts), "scene", scene);
}
