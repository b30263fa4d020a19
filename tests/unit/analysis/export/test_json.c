/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON forms, read back with a JSON library. */
#include "analysis/export/json_out.h"
#include "tests/unit/graph_text.h"

#include <errno.h>
#include <jansson.h>
#include <locale.h>

static char *written_double(double value)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json_out *o = json_out__new(f);

	json_out__double(o, value);
	json_out__finish(o);
	fclose(f);
	return text;
}

static void test_doubles(void)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0"},
		{-0.0, "0"},
		{1, "1"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{1.0 / 3, "0.333333333"},
		{2.0 / 3, "0.666666667"},
		{99.99999999999, "100"},
		{0.99999999999, "1"},
		{0.00012345, "0.00012345"},
		{123456789, "123456789"},
		{123456789012345, "123456789000000"},
		{1e15, "1e+15"},
		{1.5e300, "1.5e+300"},
		{3e-7, "3e-07"},
		{NAN, "null"},
		{INFINITY, "null"},
		{-INFINITY, "null"},
	};
	uint64_t random = 88172645463325252u;
	int wrong = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = written_double(cases[i].value);

		CHECK_STR(text, cases[i].text, "json: %g", cases[i].value);
		free(text);
	}
	for (int i = 0; i < 20000; i++) {
		char *text;
		double value;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		value = (double)(random >> 11) / (double)(1ull << (random % 60));
		text = written_double(value);
		if (fabs(strtod(text, NULL) - value) > 0.6e-8 * value)
			wrong++;
		free(text);
	}
	CHECK(wrong == 0, "json: random doubles keep nine digits");
}

static void test_strings(void)
{
	static const char raw[] = "a\"b\\c\n\t\x01\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xff \xc0\x80 "
				  "\xed\xa0\x80 \xe2\x82";
	static const char *const expected = "a\"b\\c\n\t\x01\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 "
					    "\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd "
					    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd";
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json_out *o = json_out__new(f);
	json_t *root;

	json_out__open(o, '[');
	json_out__string(o, raw);
	json_out__string(o, NULL);
	json_out__uint(o, UINT64_MAX);
	json_out__int(o, INT64_MIN);
	json_out__close(o, ']');
	CHECK(json_out__finish(o) == 0, "json: strings are written");
	fclose(f);
	CHECK(strstr(text, "18446744073709551615,-9223372036854775808]") != NULL, "json: extreme integers");
	/* The library has no unsigned integers. */
	memcpy(strstr(text, "18446744073709551615"), "                   1", 20);
	root = json_loads(text, 0, NULL);
	CHECK(root != NULL, "json: parses");
	CHECK_STR(json_string_value(json_array_get(root, 0)), expected,
		  "json: strings are escaped, what is not UTF-8 is replaced");
	CHECK(json_is_null(json_array_get(root, 1)), "json: no string is null");
	json_decref(root);
	free(text);
}

static void test_large(void)
{
	size_t n = 3 * JSON_OUT_BUFFER + 17, size;
	char *text = malloc(n + 1), *out = NULL;
	FILE *f = open_memstream(&out, &size), *full = fopen("/dev/full", "w");
	struct json_out *o = json_out__new(f);

	memset(text, 'x', n);
	text[n] = '\0';
	json_out__string(o, text);
	CHECK(json_out__finish(o) == 0, "json: a string larger than the buffer");
	fclose(f);
	CHECK(size == n + 2 && out[0] == '"' && out[n + 1] == '"', "json: it is whole");
	free(out);
	o = json_out__new(full);
	json_out__string(o, text);
	CHECK(json_out__finish(o) == -ENOSPC, "json: a full disk is an error");
	fclose(full);
	free(text);
}

static const char *const summary_keys[] = {"job",      "pid",	   "exe",
					   "cmd",      "uid",	   "runtime",
					   "threads",  "start_ns", "wall_ns",
					   "source",   "grains",   "events",
					   "work_ns",  "span_ns",  "average_parallelism",
					   "overhead", "problems", "definitions",
					   "regions",  "loops",	   "depths",
					   "advice"};
static const char *const grain_keys[] = {"id",
					 "parent",
					 "kind",
					 "source",
					 "definition",
					 "depth",
					 "start_ns",
					 "end_ns",
					 "exec_ns",
					 "cpu_ns",
					 "create_ns",
					 "bookkeeping_ns",
					 "fragments",
					 "join",
					 "lower",
					 "upper",
					 "counters",
					 "parallel_benefit",
					 "work_deviation",
					 "instantaneous_parallelism",
					 "scatter",
					 "load_balance",
					 "memory_hierarchy_utilization",
					 "critical",
					 "incomplete",
					 "depends_on"};

static void has_keys(const json_t *object, const char *const *keys, size_t n, const char *what)
{
	size_t missing = 0;

	for (size_t i = 0; i < n; i++) {
		if (json_object_get(object, keys[i]))
			continue;
		missing++;
		printf("# %s lacks %s\n", what, keys[i]);
	}
	CHECK(missing == 0, "json: %s has all keys", what);
}

static void test_summary(const struct grain_graph *g)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	const json_t *problems, *definition;
	json_t *root;

	CHECK(grain_graph__write_summary_json(g, 7, f) == 0, "json: the summary is written");
	fclose(f);
	root = json_loads(text, 0, NULL);
	CHECK(root != NULL, "json: the summary parses");
	has_keys(root, summary_keys, sizeof summary_keys / sizeof *summary_keys, "the summary");
	CHECK(json_integer_value(json_object_get(root, "job")) == 7, "json: job");
	CHECK(json_integer_value(json_object_get(root, "work_ns")) == 510, "json: work");
	CHECK(json_integer_value(json_object_get(json_object_get(root, "grains"), "tasks")) == 3,
	      "json: tasks");
	problems = json_object_get(root, "problems");
	CHECK(json_object_size(problems) == GRAIN_PROBLEM_COUNT, "json: every problem is there");
	CHECK(json_is_false(json_object_get(json_object_get(problems, "work_deviation"), "available")) &&
		      json_string_length(json_object_get(json_object_get(problems, "work_deviation"), "why")),
	      "json: an absent metric has its reason");
	CHECK(json_integer_value(json_object_get(json_object_get(problems, "parallel_benefit"), "grains")) ==
		      1,
	      "json: one grain without benefit");
	definition = json_array_get(json_object_get(root, "definitions"), 0);
	CHECK_STR(json_string_value(json_object_get(definition, "source")), "fib.c:8",
		  "json: the definition");
	CHECK(json_integer_value(json_object_get(definition, "critical_path_ns")) == 240,
	      "json: its part of the critical path");
	CHECK_STR(json_string_value(
			  json_object_get(json_array_get(json_object_get(root, "regions"), 0), "id")),
		  "0.p0", "json: the region");
	json_decref(root);
	free(text);
}

static void test_grains(const struct grain_graph *g)
{
	char *text = NULL, *line, *rest;
	size_t size, lines = 0;
	FILE *f = open_memstream(&text, &size);

	CHECK(grain_graph__write_grains_json(g, f) == 0, "json: the grains are written");
	fclose(f);
	for (rest = text; (line = strsep(&rest, "\n")) && *line;) {
		json_t *root = json_loads(line, 0, NULL);
		const char *id = json_string_value(json_object_get(root, "id"));

		CHECK(root != NULL, "json: line %zu parses", ++lines);
		if (id && strcmp(id, "0.p0.s0.0.1") == 0) {
			has_keys(root, grain_keys, sizeof grain_keys / sizeof *grain_keys, "a grain");
			CHECK_STR(json_string_value(json_object_get(root, "join")), "0.p0.s0.0/j0",
				  "json: join");
			CHECK(json_array_size(json_object_get(root, "fragments")) == 1, "json: fragments");
			CHECK(fabs(json_number_value(json_object_get(root, "parallel_benefit")) -
				   200.0 / 75) < 1e-8,
			      "json: benefit");
			CHECK(json_is_true(json_object_get(root, "critical")), "json: critical");
			CHECK(json_is_null(json_object_get(root, "work_deviation")), "json: absent is null");
		}
		json_decref(root);
	}
	CHECK(lines == grain_graph__context_count(g), "json: one line a context");
	free(text);
}

static uint64_t loss(const json_t *losses, const char *cause)
{
	return (uint64_t)json_integer_value(json_object_get(losses, cause));
}

/* `lost` is of events only, and its parts by cause are those of events. */
static void test_losses(void)
{
	static const struct {
		const char *source, *lines;
		uint64_t lost, ring_full, inside, unclosed;
	} cases[] = {
		{"shim", "@lost cause=unclosed-creations count=2\n@lost cause=read-faults count=9\n", 300,
		 300, 0, 2},
		{"shim",
		 "@lost cause=unclosed-creations count=2\n@lost cause=shim-ring-full count=5\n20 1 0 lost "
		 "count=40\n",
		 345, 300, 45, 2},
		{"uprobes", "@lost cause=unknown-bodies count=70\n@lost cause=ring-full count=5\n", 305, 305,
		 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char log[1024], *text = NULL;
		const json_t *events, *losses;
		struct grain_graph *g;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		json_t *root;

		snprintf(log, sizeof log,
			 GRAPH_HEAD "@capture source=%s\n10 1 0 lost count=300 of=switches\n%s",
			 cases[i].source, cases[i].lines);
		g = graph_of_text(cases[i].source, log);
		CHECK(g && grain_graph__write_summary_json(g, 1, f) == 0, "json: losses %zu are written", i);
		fclose(f);
		root = json_loads(text, 0, NULL);
		events = json_object_get(root, "events");
		losses = json_object_get(events, "losses");
		CHECK(loss(events, "lost") == cases[i].lost &&
			      loss(losses, "ring-full") == cases[i].ring_full &&
			      loss(losses, "shim-ring-full") == cases[i].inside &&
			      loss(losses, "unclosed-creations") == cases[i].unclosed,
		      "json: losses %zu by cause", i);
		json_decref(root);
		free(text);
		grain_graph__free(g);
	}
}

int main(void)
{
	struct grain_graph *g = NULL;

	/* A locale with a decimal comma must change nothing, where the machine has one. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	test_doubles();
	test_strings();
	test_large();
	test_losses();
	CHECK(grain_graph__load("tests/data/fib_two_threads.log", NULL, &g, NULL) == 0,
	      "json: the log loads");
	if (g) {
		test_summary(g);
		test_grains(g);
		CHECK(grain_graph__write_log(g, stdout) == -ENODATA, "json: no log without kept events");
		grain_graph__free(g);
	}
	CHECK_DONE();
}
