/* SPDX-License-Identifier: BSD-2-Clause */
/* Comma-separated values: parsed here by RFC 4180 and compared with the JSON. */
#include "tests/unit/graph_json.h"

#include "analysis/include/grain_export.h"

#include <errno.h>

#define MAX_COLUMNS 64

static char *csv_text(const struct grain_graph *g, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	CHECK(grain_graph__write_csv(g, f) == 0, "is written");
	fclose(f);
	return text;
}

/* The fields of the line at *at, unquoted in place; *at is behind its CRLF. */
static size_t take_line(char **at, char *fields[MAX_COLUMNS])
{
	char *s = *at, *to;
	size_t n = 0;

	for (;;) {
		bool quoted = *s == '"', last;

		s += quoted;
		fields[n++] = to = s;
		while (quoted ? *s && (*s != '"' || s[1] == '"') : *s && *s != ',' && *s != '\r') {
			s += quoted && *s == '"';
			*to++ = *s++;
		}
		s += quoted;
		last = *s != ',';
		if (last) {
			CHECK(s[0] == '\r' && s[1] == '\n', "a line ends with CR LF");
			s++;
		}
		s++;
		*to = '\0';
		if (last || n == MAX_COLUMNS)
			break;
	}
	*at = s;
	return n;
}

/* What the column of a key has to say; NULL: compared elsewhere. */
static char *expected_of(const json_t *grain, const char *key)
{
	const json_t *value = json_object_get(grain, key), *first;

	if (!strncmp(key, "counter_", 8))
		value = json_object_get(json_object_get(grain, "counters"), key + 8);
	first = json_array_get(json_object_get(grain, "fragments"), 0);
	if (!strcmp(key, "tid") || !strcmp(key, "cpu") || !strcmp(key, "node"))
		value = json_object_get(first, key);
	if (!strcmp(key, "fragments")) {
		char text[32];

		snprintf(text, sizeof(text), "%zu", json_array_size(value));
		return strdup(text);
	}
	if (!strcmp(key, "depends_on")) {
		char text[1024] = "";

		for (size_t i = 0; i < json_array_size(value); i++) {
			strcat(text, i ? " " : "");
			strcat(text, json_string_value(json_array_get(value, i)));
		}
		return strdup(text);
	}
	if (!value && (!strcmp(key, "discarded") || !strcmp(key, "runtime")))
		return strdup("false");
	if (!value || json_is_null(value))
		return strdup("");
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return NULL;
}

/* Numbers and truth values as they stand in the line. */
static bool same_scalar(const json_t *grain, const char *key, const char *field)
{
	const json_t *value = json_object_get(grain, key);

	if (!strncmp(key, "counter_", 8))
		value = json_object_get(json_object_get(grain, "counters"), key + 8);
	if (!value)
		value = json_object_get(json_array_get(json_object_get(grain, "fragments"), 0), key);
	if (json_is_boolean(value))
		return !strcmp(field, json_is_true(value) ? "true" : "false");
	if (json_is_integer(value))
		return strtoll(field, NULL, 10) == json_integer_value(value);
	return json_is_real(value) && strtod(field, NULL) == json_real_value(value);
}

static void same_as_json(const char *name, const struct grain_graph *g)
{
	size_t size, columns, lines = 0, wrong = 0;
	char *csv = csv_text(g, &size), *json = json_text(g, 1), *at = csv, *rest = json, *line;
	char *keys[MAX_COLUMNS], *fields[MAX_COLUMNS];

	columns = take_line(&at, keys);
	while ((line = strsep(&rest, "\n")) && *line && *at) {
		json_t *grain = json_loads(line, 0, NULL);

		lines++;
		wrong += take_line(&at, fields) != columns;
		for (size_t i = 0; i < columns; i++) {
			char *expected = expected_of(grain, keys[i]);

			if (expected ? strcmp(expected, fields[i])
				     : !same_scalar(grain, keys[i], fields[i])) {
				printf("# %s: got '%s', expected '%s'\n", keys[i], fields[i],
				       expected ? expected : "the JSON's");
				wrong++;
			}
			free(expected);
		}
		json_decref(grain);
	}
	CHECK(wrong == 0 && *at == '\0', "%s: every field is the JSON's", name);
	CHECK(lines == grain_graph__context_count(g), "%s: one line a context", name);
	free(csv);
	free(json);
}

static const char nasty[] =
	"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=1\n"
	"@cpu 0 core=0 socket=0 node=3\n@counter 0 name=\"cycles, \\\"all\\\"\"\n"
	"@source 1 file=\"a,b \\\"c\\\".c\" line=10 func=f kind=task\n"
	"@source 2 file=\"bad\xff.c\" line=3 func=g kind=task\n"
	"0 1 0 thread-begin c0=0\n10 1 0 create-begin task=1 src=1 flags=undeferred c0=5\n"
	"10 1 0 depend task=1 addr=0x10 kind=out\n10 1 0 task-begin task=1 c0=5\n20 1 0 task-end task=1 "
	"c0=25\n"
	"20 1 0 create-end task=1 c0=25\n"
	"30 1 0 create-begin task=2 src=2 flags=undeferred c0=30\n30 1 0 depend task=2 addr=0x10 kind=in\n"
	"30 1 0 task-begin task=2 c0=30\n70 1 0 task-end task=2 c0=31\n70 1 0 create-end task=2 c0=31\n"
	"80 1 0 wait-begin kind=taskwait c0=40\n90 1 0 wait-end kind=taskwait c0=40\n90 1 0 thread-end "
	"c0=41\n";

static void test_quoting(void)
{
	struct grain_graph *g = graph_of_text("nasty", nasty);
	size_t size;
	char *text, *at, *fields[MAX_COLUMNS];

	if (!g)
		return;
	same_as_json("nasty", g);
	text = csv_text(g, &size);
	CHECK(strstr(text, "\"a,b \"\"c\"\".c:10\"") != NULL, "commas and quotes are quoted, quotes twice");
	CHECK(strstr(text, "bad\xef\xbf\xbd.c:3") != NULL, "what is not UTF-8 is U+FFFD");
	at = text;
	take_line(&at, fields);
	CHECK_STR(fields[0], "id", "the first column");
	CHECK_STR(fields[23], "counter_cycles, \"all\"", "a counter's column");
	take_line(&at, fields);
	take_line(&at, fields);
	CHECK_STR(fields[23], "20", "its value");
	CHECK_STR(fields[16], "3", "the NUMA node");
	free(text);
	grain_graph__free(g);
}

static void test_failures(void)
{
	struct grain_graph *g = graph_of_text("full", nasty);
	FILE *full = fopen("/dev/full", "w");

	if (!g)
		return;
	CHECK(grain_graph__write_csv(g, full) == -ENOSPC, "a full disk is an error");
	fclose(full);
	grain_graph__free(g);
}

int main(void)
{
	static const char *const files[] = {"tests/data/fib_two_threads.log",
					    "tests/data/constructs_two_threads.log",
					    "tests/data/mir_loop.csv"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct grain_graph *g = NULL;

		CHECK(grain_graph__load(files[i], NULL, &g, NULL) == 0, "%s loads", files[i]);
		if (g)
			same_as_json(files[i], g);
		grain_graph__free(g);
	}
	test_quoting();
	test_failures();
	CHECK_DONE();
}
