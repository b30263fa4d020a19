/* SPDX-License-Identifier: BSD-2-Clause */
/* The page: one script of its own, bounded documents, names that stay text, errors of the output. */
#include <errno.h>
#include <openssl/evp.h>

#include "render/page/page.h"
#include "tests/unit/check.h"
#include "tests/unit/render_program.h"

#define LONG_NAME 1000000

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

static char *page_of(const struct grain_graph *graph)
{
	struct render_opts opts = {.view = RENDER_VIEW_PROBLEM, .job = 7};
	struct grain_error err = {""};
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);
	int error = render__page(graph, &opts, out, &err);

	fclose(out);
	if (!error)
		return data;
	printf("# %s\n", err.text);
	free(data);
	return NULL;
}

static struct grain_graph *graph_of(const char *exe, const char *function)
{
	struct program *p = calloc(1, sizeof(*p));
	struct grain_error err = {""};
	struct grain_graph *graph = NULL;

	if (p && program_start(p, 2, exe, function) == 0) {
		program_region(p, program_flat, 20);
		graph = program_finish(p, 0, &err);
	}
	if (!graph)
		printf("# %s\n", err.text);
	free(p);
	return graph;
}

/* The JSON in the element `id`. */
static json_t *document(const char *page, const char *id)
{
	char tag[64];
	const char *at, *end;

	snprintf(tag, sizeof(tag), "<script type=\"application/json\" id=\"%s\">", id);
	at = page ? strstr(page, tag) : NULL;
	end = at ? strstr(at, "</script>") : NULL;
	return end ? json_loadb(at + strlen(tag), (size_t)(end - at) - strlen(tag), 0, NULL) : NULL;
}

/* Whether the policy has the hash of what is in the page's only such element. */
static bool is_allowed(const char *page, const char *element, const char *source)
{
	char open[16], close[16], expected[128];
	unsigned char hash[EVP_MAX_MD_SIZE], text[64];
	unsigned length;
	const char *at, *end;

	snprintf(open, sizeof(open), "<%s>", element);
	snprintf(close, sizeof(close), "</%s>", element);
	at = strstr(page, open);
	end = at ? strstr(at, close) : NULL;
	if (!end || count(page, open) != 1)
		return false;
	at += strlen(open);
	EVP_Digest(at, (size_t)(end - at), hash, &length, EVP_sha256(), NULL);
	EVP_EncodeBlock(text, hash, (int)length);
	snprintf(expected, sizeof(expected), "%s 'sha256-%s';", source, (char *)text);
	return strstr(page, expected) != NULL;
}

static void test_policy(void)
{
	struct grain_graph *graph = graph_of("/opt/app/prog", "f");
	char *page = graph ? page_of(graph) : NULL;

	CHECK(page, "a page is written");
	if (page) {
		CHECK(strstr(page, "default-src 'none'"), "nothing is loaded from anywhere");
		CHECK(is_allowed(page, "script", "script-src"), "the one script has its hash in the policy");
		CHECK(is_allowed(page, "style", "style-src"), "the one style has its hash in the policy");
		CHECK(strstr(page, "<title>job 7: prog</title>"), "the title names job and program");
		CHECK(!strstr(page, PAGE_TITLE) && !strstr(page, PAGE_DATA),
		      "no mark of the template is left");
	}
	free(page);
	grain_graph__free(graph);
}

static void test_names(void)
{
	/* As they are in a log: in quotes, those of its own escaped. */
	static const char *const names[] = {"</script><script>alert(1)</script>", "<!--<script>",
					    "]]>&amp;\\\"'`${1}",
					    "a\xe2\x80\xa8"
					    "b\xe2\x80\xa9"
					    "c",
					    "broken \xff\xc3 utf-8 \xed\xa0\x80"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char exe[128];
		struct grain_graph *graph;
		char *page;
		json_t *summary, *report;

		snprintf(exe, sizeof(exe), "/opt/%s", names[i]);
		graph = graph_of(exe, names[i]);
		page = graph ? page_of(graph) : NULL;
		summary = document(page, "summary");
		report = document(page, "report");
		CHECK(page && count(page, "<script") == count(page, "</script>"),
		      "name %zu: scripts end where they should", i);
		CHECK(page && count(page, "<script>") == 1 && !strstr(page, "<!--"),
		      "name %zu: there is one script", i);
		CHECK(json_is_object(summary) && json_is_object(report), "name %zu: both documents are JSON",
		      i);
		if (i == 0)
			CHECK_STR(json_string_value(json_object_get(summary, "exe")), exe,
				  "a name comes out as it went in");
		json_decref(summary);
		json_decref(report);
		free(page);
		grain_graph__free(graph);
	}
}

static void test_long_name(void)
{
	char *name = malloc(LONG_NAME + 1);
	struct grain_graph *graph = NULL;
	char *page = NULL;
	json_t *summary = NULL;

	if (name) {
		for (size_t i = 0; i < LONG_NAME; i += 2)
			memcpy(name + i, "\xc3\xa9", 2);
		name[LONG_NAME] = '\0';
		graph = graph_of(name, "f");
		page = graph ? page_of(graph) : NULL;
		summary = document(page, "summary");
	}
	CHECK(json_is_object(summary), "a name of a megabyte");
	CHECK(page && strlen(page) < LONG_NAME / 2 + strlen(page_template),
	      "does not go into the page as it is");
	CHECK(json_string_length(json_object_get(summary, "exe")) <= PAGE_MOST_BYTES + 3,
	      "but its beginning, no letter cut");
	json_decref(summary);
	free(page);
	free(name);
	grain_graph__free(graph);
}

/* The weight is between what is before and behind it in a row. */
static json_t *bound(const char *list, const char *before, const char *behind, size_t rows)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	json_t *document;

	fprintf(out, "{\"first\":\"[,]}\\\"\",\"%s\":[", list);
	for (size_t i = 0; i < rows; i++) {
		fputs(i ? "," : "", out);
		/* The heaviest are those in the middle. */
		fprintf(out, "{\"id\":%zu,%s%zu%s}", i, before, i < rows / 2 ? i : rows - i, behind);
	}
	fputs("],\"none\":[],\"last\":null}", out);
	fclose(out);
	document = page_summary__bound(text);
	free(text);
	return document;
}

static void test_bounds(void)
{
	static const struct {
		const char *list, *before, *behind;
	} lists[] = {
		{"regions", "\"name\":\"]},{[\\\\\",\"wall_ns\":", ""},
		{"loops", "\"inner\":[[],{}],\"wall_ns\":", ",\"more\":[1]"},
		{"depths", "\"exec_ns\":{\"sum\":", "}"},
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const size_t rows = 3 * PAGE_MOST_ROWS, first = (rows - PAGE_MOST_ROWS) / 2;
		json_t *cut = bound(lists[i].list, lists[i].before, lists[i].behind, rows),
		       *list = json_object_get(cut, lists[i].list);
		bool ordered = true;
		char key[32];

		snprintf(key, sizeof(key), "%s_in_all", lists[i].list);
		for (size_t k = 0; k < json_array_size(list); k++) {
			json_int_t id = json_integer_value(json_object_get(json_array_get(list, k), "id"));

			ordered &= id >= (json_int_t)first && id <= (json_int_t)(first + PAGE_MOST_ROWS) &&
				   (!k || id > json_integer_value(
						       json_object_get(json_array_get(list, k - 1), "id")));
		}
		CHECK(json_array_size(list) == PAGE_MOST_ROWS && ordered,
		      "%s: the heaviest rows, in their order", lists[i].list);
		CHECK(json_integer_value(json_object_get(cut, key)) == (json_int_t)rows,
		      "%s: how many there are", lists[i].list);
		CHECK(json_object_get(cut, "last") && json_array_size(json_object_get(cut, "none")) == 0,
		      "%s: the rest is as it was", lists[i].list);
		json_decref(cut);
		cut = bound(lists[i].list, lists[i].before, lists[i].behind, 3);
		CHECK(json_array_size(json_object_get(cut, lists[i].list)) == 3, "%s: a short list stays",
		      lists[i].list);
		json_decref(cut);
	}
}

static void test_full_device(void)
{
	struct grain_graph *graph = graph_of("/opt/app/prog", "f");
	struct render_opts opts = {.view = RENDER_VIEW_PROBLEM};
	struct grain_error err = {""};
	FILE *full = fopen("/dev/full", "w");

	CHECK(graph && full && render__page(graph, &opts, full, &err) == -ENOSPC, "a full device is told");
	CHECK_STR(err.text, "", "the caller words it");
	if (full)
		fclose(full);
	grain_graph__free(graph);
}

static void test_columns(void)
{
	struct page_columns columns = {0};
	struct page_column *c = page_columns__add(&columns, "test");

	CHECK(page_column__is_zero(c), "an empty column is all zero");
	page_column__number(c, 0);
	page_column__number(c, 0);
	CHECK(page_column__is_zero(c) && c->bytes == 2, "zeros take a byte each");
	page_column__number(c, 300);
	page_column__signed(c, -1);
	page_column__signed(c, INT64_MIN);
	CHECK(!page_column__is_zero(c) && c->bytes == 2 + 2 + 1 + 10 && c->data[2] == 0xac &&
		      c->data[3] == 2 && c->data[4] == 1,
	      "numbers are as long as they must be");
	for (int i = 0; i < 100000; i++)
		page_column__text(c, "0123456789", 10);
	CHECK(c->bytes == 15 + 1000000 && page_columns__check(&columns) == 0, "a column grows");
	page_columns__free(&columns);
}

int main(void)
{
	test_policy();
	test_names();
	test_long_name();
	test_bounds();
	test_full_device();
	test_columns();
	CHECK_DONE();
}
