/* SPDX-License-Identifier: BSD-2-Clause */
/* Source text around definitions. Chooses the lines and cleans them. The library's user reads the files. */
#include <stdlib.h>
#include <string.h>

#include "render/base/format.h"
#include "render/page/page.h"

#define EXCERPTS_MAX 100
#define LINES_BEFORE 4
#define LINES_AFTER 5
#define LINE_COLUMNS 200
#define TEXT_BYTES (16u << 10)

/* Copies a line. Tabs become blanks, and bytes that are not text become '?'. */
static json_t *clean_line(const char *line, size_t length)
{
	char wide[4 * LINE_COLUMNS + 8], clean[4 * LINE_COLUMNS + 8];
	size_t n = 0;

	for (size_t i = 0; i < length && line[i] && line[i] != '\r' && n < sizeof(wide) - 9; i++) {
		if (line[i] != '\t') {
			wide[n++] = line[i];
			continue;
		}
		do
			wide[n++] = ' ';
		while (n % 8);
	}
	wide[n] = '\0';
	return json_string(format__clean(clean, sizeof(clean), wide, LINE_COLUMNS));
}

static json_t *split(const char *text, size_t size)
{
	const char *end = text + size, *next;
	json_t *lines = json_array();

	for (; lines && text < end; text = next < end ? next + 1 : end) {
		next = memchr(text, '\n', (size_t)(end - text));
		next = next ? next : end;
		json_array_append_new(lines, clean_line(text, (size_t)(next - text)));
	}
	return lines;
}

static void add(json_t *excerpts, uint32_t definition, const struct grain_definition *d,
		const struct render_opts *opts, char *text)
{
	uint32_t first = d->line > LINES_BEFORE ? d->line - LINES_BEFORE : 1;
	ssize_t got = opts->read_source(opts->read_source_ctx, d->file, first, d->line + LINES_AFTER, text,
					TEXT_BYTES);
	json_t *lines = got > 0 ? split(text, (size_t)got) : NULL;

	if (json_array_size(lines) > d->line - first)
		json_array_append_new(excerpts,
				      json_pack("{s:I,s:I,s:o}", "definition", (json_int_t)definition,
						"first", (json_int_t)first, "lines", lines));
	else
		json_decref(lines);
}

json_t *page_excerpts__read(const struct grain_graph *graph, const struct render_opts *opts)
{
	size_t count = opts->read_source ? grain_graph__definition_count(graph) : 0;
	char *text = malloc(TEXT_BYTES);
	json_t *excerpts = text ? json_array() : NULL;

	for (uint32_t i = 0; excerpts && i < count && json_array_size(excerpts) < EXCERPTS_MAX; i++) {
		struct grain_definition d;

		grain_graph__definition(graph, i, &d);
		if (d.line && d.line < UINT32_MAX - LINES_AFTER && *d.file == '/')
			add(excerpts, i, &d, opts, text);
	}
	free(text);
	return excerpts;
}
