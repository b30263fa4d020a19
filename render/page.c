/* SPDX-License-Identifier: BSD-2-Clause */
/* render__page: the template, two JSON documents, the columns. */
#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/grain_whatif.h"
#include "render/format.h"
#include "render/page.h"
#include "render/page_columns.h"

#define PAGE_VERSION 1
/* Rows of a list of the summary that the page shows; the longest or worst come first. */
#define MOST_ROWS 1000

/* In a script element: what could end it is written as JSON can say it, too. */
static int write_json(const char *id, json_t *document, FILE *out)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;

	if (!text)
		return -ENOMEM;
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "<&");

		fwrite(p, 1, n, out);
		p += n;
		if (*p)
			fprintf(out, "\\u%04x", (unsigned)*p++);
	}
	fputs("</script>\n", out);
	free(text);
	return ferror(out) ? -EIO : 0;
}

static int write_column(const struct page_column *column, FILE *out)
{
	uLongf bytes = compressBound(column->bytes);
	uint8_t *packed = malloc(bytes), *text = NULL;
	int error = -ENOMEM;

	if (packed && compress2(packed, &bytes, column->data, column->bytes, 6) == Z_OK && bytes < INT_MAX)
		text = malloc(4 * (bytes / 3 + 1) + 1);
	if (text) {
		int length = EVP_EncodeBlock(text, packed, (int)bytes);

		fprintf(out, "<script type=\"text/plain\" id=\"column-%s\">", column->name);
		fwrite(text, 1, (size_t)length, out);
		fputs("</script>\n", out);
		error = ferror(out) ? -EIO : 0;
	}
	free(text);
	free(packed);
	return error;
}

static json_t *summary_document(const struct grain_graph *graph, uint64_t job)
{
	static const char *const lists[] = {"regions", "loops", "depths", "task_depths", "scheduling_points"};
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	json_t *document = NULL;
	int error = memory ? grain_graph__write_summary_json_whatif(graph, job, NULL, 0, memory) : -ENOMEM;

	if (memory && fclose(memory) == 0 && !error)
		document = json_loadb(text, bytes, 0, NULL);
	free(text);
	for (size_t i = 0; document && i < sizeof(lists) / sizeof(lists[0]); i++) {
		json_t *list = json_object_get(document, lists[i]);
		char key[64];

		snprintf(key, sizeof(key), "%s_in_all", lists[i]);
		json_object_set_new(document, key, json_integer((json_int_t)json_array_size(list)));
		while (json_array_size(list) > MOST_ROWS)
			json_array_remove(list, json_array_size(list) - 1);
	}
	return document;
}

static json_t *report_document(const struct grain_graph *graph, const struct render_opts *opts,
			       const struct page_columns *columns, const char *title)
{
	json_t *tids = json_array();

	for (size_t i = 0; i < columns->thread_count; i++)
		json_array_append_new(tids, json_integer(columns->tids[i]));
	return json_pack("{s:i,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "version", PAGE_VERSION,
			 "title", title, "view", render_view__name(opts->view), "tick_ns",
			 (json_int_t)columns->tick_ns, "start_ns", (json_int_t)columns->start_ns, "contexts",
			 (json_int_t)columns->contexts, "fragments", (json_int_t)columns->fragments, "joins",
			 (json_int_t)columns->joins, "regions", (json_int_t)columns->regions, "loops",
			 (json_int_t)grain_graph__loop_count(graph), "dependences",
			 (json_int_t)columns->dependences, "tids", tids, "excerpts",
			 page_excerpts__read(graph));
}

static const char *program(const struct grain_graph *graph)
{
	const char *exe = grain_graph__info(graph)->exe, *slash = strrchr(exe, '/');

	if (slash && slash[1])
		return slash + 1;
	return *exe ? exe : "program";
}

static int write_data(const struct grain_graph *graph, const struct render_opts *opts, const char *title,
		      FILE *out)
{
	struct page_columns columns = {0};
	json_t *summary = summary_document(graph, opts->job), *report = NULL;
	int error = write_json("summary", summary, out);

	if (!error)
		error = page_columns__fill(&columns, graph);
	if (!error) {
		report = report_document(graph, opts, &columns, title);
		error = write_json("report", report, out);
	}
	for (size_t i = 0; i < columns.count && !error; i++) {
		error = write_column(&columns.column[i], out);
		if (opts->progress)
			opts->progress(opts->progress_ctx, .4 + .6 * (double)(i + 1) / (double)columns.count);
	}
	json_decref(summary);
	json_decref(report);
	page_columns__free(&columns);
	return error;
}

int render__page(const struct grain_graph *graph, const struct render_opts *opts, FILE *out,
		 struct grain_error *err)
{
	const char *title_at = strstr(page_template, PAGE_TITLE), *data_at = strstr(page_template, PAGE_DATA);
	struct format_text title = {0}, escaped = {0};
	char name[128];
	int error;

	format__clean(name, sizeof(name), program(graph), 40);
	if (opts->job)
		format__printf(&title, "job %llu: ", (unsigned long long)opts->job);
	format__printf(&title, "%s", name);
	format__add_xml(&escaped, title.data ? title.data : "");
	if (title.failed || escaped.failed) {
		error = -ENOMEM;
		goto out;
	}
	fwrite(page_template, 1, (size_t)(title_at - page_template), out);
	fputs(escaped.data, out);
	title_at += strlen(PAGE_TITLE);
	fwrite(title_at, 1, (size_t)(data_at - title_at), out);
	error = write_data(graph, opts, title.data, out);
	if (!error)
		fputs(data_at + strlen(PAGE_DATA), out);
	if (!error && ferror(out))
		error = -EIO;
out:
	if (error && err)
		snprintf(err->text, sizeof(err->text), "cannot write the page: %s", strerror(-error));
	format__free(&title);
	format__free(&escaped);
	return error;
}
