/* SPDX-License-Identifier: BSD-2-Clause */
/* What the machine-readable forms of a graph say, and that its event log gives them again. */
#ifndef GRAIND_TESTS_GRAPH_JSON_H
#define GRAIND_TESTS_GRAPH_JSON_H

#include "tests/unit/graph_text.h"

#include <jansson.h>

static inline char *json_text(const struct grain_graph *g, int grains)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f || (grains ? grain_graph__write_grains_json(g, f) : grain_graph__write_summary_json(g, 0, f)))
		exit(1);
	fclose(f);
	return text;
}

static inline json_t *summary_of(const struct grain_graph *g)
{
	char *text = json_text(g, 0);
	json_t *root = json_loads(text, 0, NULL);

	CHECK(root != NULL, "the summary parses");
	free(text);
	return root;
}

/* The line of the context `id`. */
static inline json_t *grain_of(const struct grain_graph *g, const char *id)
{
	char *text = json_text(g, 1), *rest = text, *line;
	json_t *found = NULL;

	while (!found && (line = strsep(&rest, "\n")) && *line) {
		json_t *root = json_loads(line, 0, NULL);
		const char *name = json_string_value(json_object_get(root, "id"));

		if (name && strcmp(name, id) == 0)
			found = json_incref(root);
		json_decref(root);
	}
	free(text);
	CHECK(found != NULL, "%s has a line of JSON", id);
	return found;
}

/* `expected` as JSON; "null" for what is null. */
static inline void check_json(const json_t *object, const char *key, const char *expected, const char *what)
{
	json_t *value = json_object_get(object, key);
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	CHECK_STR(text ? text : "absent", expected, "%s: %s", what, key);
	free(text);
}

static inline void check_grain(const struct grain_graph *g, const char *id, const char *key,
			       const char *expected)
{
	json_t *grain = grain_of(g, id);

	check_json(grain, key, expected, id);
	json_decref(grain);
}

/* Every context's identifier is its own. */
static inline void check_unique(const struct grain_graph *g, const char *name)
{
	char text[256];
	uint32_t twice = 0;

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		grain_graph__context_id(g, i, text, sizeof text);
		twice += context_named(g, text) != i;
	}
	CHECK(twice == 0, "%s: identifiers are unique", name);
}

/* The exported log gives the same log, grains and summary. */
static inline void check_round_trip(const struct grain_graph *g, const char *name)
{
	char *log = NULL, *log_again = NULL;
	struct grain_graph *again;
	size_t size;
	FILE *f = open_memstream(&log, &size);

	CHECK(f && grain_graph__write_log(g, f) == 0, "%s: the log is written", name);
	fclose(f);
	again = graph_of_text(name, log);
	if (again) {
		char *a = json_text(g, 0), *b = json_text(again, 0);

		CHECK_STR(b, a, "%s: its log gives the same summary", name);
		free(a);
		free(b);
		a = json_text(g, 1);
		b = json_text(again, 1);
		CHECK_STR(b, a, "%s: its log gives the same grains", name);
		free(a);
		free(b);
		f = open_memstream(&log_again, &size);
		grain_graph__write_log(again, f);
		fclose(f);
		CHECK_STR(log_again, log, "%s: its log gives the same log", name);
		free(log_again);
	}
	grain_graph__free(again);
	free(log);
	check_unique(g, name);
}

#endif
