/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the page: the template, two JSON documents, and the columns. */
#include "render/page/page.h"

#include <errno.h>
#include <libdeflate.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "render/base/format.h"
#include "render/page/page_scene.h"

/*
 * All columns have at most MOST_BYTES_PER_CONTEXT bytes for each context. For fewer than a million contexts,
 * the limit is that of a million.
 */
#define MILLION 1000000
#define MOST_BYTES_PER_CONTEXT 14
/* Higher levels take more than half as much time again, and save only one byte in a hundred. */
#define PACK_LEVEL 1

static void tell(const struct render_opts *opts, double done)
{
	if (opts->progress)
		opts->progress(opts->progress_ctx, done);
}

/*
 * Flushes the output. Returns 0. If something that was written since errno was 0 did not arrive, returns the
 * reason.
 */
static int flush(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

/* Writes a document into a script element. Text that could end the element is escaped as JSON allows. */
static int write_json(const char *id, json_t *document, FILE *out)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;

	if (!text)
		return -ENOMEM;
	errno = 0;
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
	return flush(out);
}

/* Replaces a column's data by the text that is written into the page. */
static int pack_column(struct libdeflate_compressor *compressor, struct page_column *column)
{
	size_t room = libdeflate_zlib_compress_bound(compressor, column->bytes);
	uint8_t *packed = malloc(room), *text = NULL;
	size_t bytes =
		packed ? libdeflate_zlib_compress(compressor, column->data, column->bytes, packed, room) : 0;

	if (bytes && bytes < INT_MAX)
		text = malloc(4 * (bytes / 3 + 1) + 1);
	if (text) {
		free(column->data);
		column->data = text;
		column->bytes = (size_t)EVP_EncodeBlock(text, packed, (int)bytes);
	}
	free(packed);
	return text ? 0 : -ENOMEM;
}

static int pack_columns(struct page_columns *columns, const struct render_opts *opts)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(PACK_LEVEL);
	int error = compressor ? 0 : -ENOMEM;

	for (size_t i = 0; i < columns->count && !error; i++) {
		struct page_column *c = &columns->column[i];

		if (page_column__is_zero(c))
			c->bytes = 0;
		else
			error = pack_column(compressor, c);
		tell(opts, .5 + .4 * (double)(i + 1) / (double)columns->count);
	}
	if (compressor)
		libdeflate_free_compressor(compressor);
	return error;
}

/* If the page would be too large, drops counters, the last one first. */
static void drop_counters(struct page_columns *columns)
{
	size_t bytes = 0, contexts = columns->contexts > MILLION ? columns->contexts : MILLION;

	for (size_t i = 0; i < columns->count; i++)
		bytes += columns->column[i].bytes;
	while (columns->counters && bytes / MOST_BYTES_PER_CONTEXT > contexts) {
		struct page_column *c = columns->counter[--columns->counters];

		bytes -= c->bytes;
		c->bytes = 0;
	}
}

static void write_column(const struct page_column *column, FILE *out)
{
	if (!column->bytes)
		return;
	fprintf(out, "<script type=\"text/plain\" id=\"column-%s\">", column->name);
	fwrite(column->data, 1, column->bytes, out);
	fputs("</script>\n", out);
}

static const char *program(const struct grain_graph *graph)
{
	const char *exe = grain_graph__info(graph)->exe, *slash = strrchr(exe, '/');

	if (slash && slash[1])
		return slash + 1;
	return *exe ? exe : "program";
}

static int write_summary(const struct grain_graph *graph, uint64_t job, FILE *out)
{
	json_t *summary = page_summary__read(graph, job);
	int error = write_json("summary", summary, out);

	json_decref(summary);
	return error;
}

static int write_data(const struct grain_graph *graph, const struct render_opts *opts, const char *title,
		      FILE *out)
{
	struct page_columns columns = {0};
	json_t *report = NULL, *scene = NULL;
	int error = write_summary(graph, opts->job, out);

	tell(opts, .1);
	if (!error)
		error = page_columns__fill(&columns, graph);
	tell(opts, .4);
	if (!error)
		error = page_scene__fill(&columns, graph, &scene);
	tell(opts, .5);
	if (!error)
		error = pack_columns(&columns, opts);
	if (!error) {
		drop_counters(&columns);
		report = page_report__make(graph, opts, &columns, title, scene);
		scene = NULL;
		error = write_json("report", report, out);
	}
	errno = 0;
	for (size_t i = 0; i < columns.count && !error; i++)
		write_column(&columns.column[i], out);
	if (!error)
		error = flush(out);
	tell(opts, 1);
	json_decref(scene);
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
	int error = -ENOMEM;

	format__clean(name, sizeof(name), program(graph), 40);
	if (opts->job)
		format__printf(&title, "job %llu: ", (unsigned long long)opts->job);
	format__printf(&title, "%s", name);
	format__add_xml(&escaped, title.data ? title.data : "");
	if (title.failed || escaped.failed)
		goto out;
	errno = 0;
	fwrite(page_template, 1, (size_t)(title_at - page_template), out);
	fputs(escaped.data, out);
	title_at += strlen(PAGE_TITLE);
	fwrite(title_at, 1, (size_t)(data_at - title_at), out);
	error = flush(out);
	if (!error)
		error = write_data(graph, opts, title.data, out);
	if (!error) {
		errno = 0;
		fputs(data_at + strlen(PAGE_DATA), out);
		error = flush(out);
	}
out:
	/* The caller handles errors of the output, because it knows more about them. */
	if (error == -ENOMEM && err)
		snprintf(err->text, sizeof(err->text), "cannot make the page: %s", strerror(-error));
	format__free(&title);
	format__free(&escaped);
	return error;
}
