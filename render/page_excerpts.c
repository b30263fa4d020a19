/* SPDX-License-Identifier: BSD-2-Clause */
/* Source text around definitions, read with the rights of whoever asks for the report. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render/format.h"
#include "render/page.h"

#define EXCERPTS_MAX 100
#define LINES_BEFORE 4
#define LINES_AFTER 5
#define LINE_COLUMNS 200
#define FILE_MAX_BYTES (16 << 20)

/* A regular file, at once: one that is a pipe or a device is left alone. */
static FILE *open_source(const char *path)
{
	int fd = *path == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;
	FILE *file = NULL;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX_BYTES)
		file = fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* Tabs as far as they reach; whatever else is no text as '?'. */
static json_t *clean_line(char *line)
{
	char wide[4 * LINE_COLUMNS + 8], clean[4 * LINE_COLUMNS + 8];
	size_t n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	for (const char *p = line; *p && n < sizeof(wide) - 9; p++) {
		if (*p != '\t') {
			wide[n++] = *p;
			continue;
		}
		do
			wide[n++] = ' ';
		while (n % 8);
	}
	wide[n] = '\0';
	return json_string(format__clean(clean, sizeof(clean), wide, LINE_COLUMNS));
}

static json_t *read_lines(FILE *file, uint32_t first, uint32_t last)
{
	json_t *lines = json_array();
	char *line = NULL;
	size_t room = 0;

	for (uint32_t i = 1; lines && i <= last && getline(&line, &room, file) >= 0; i++)
		if (i >= first)
			json_array_append_new(lines, clean_line(line));
	free(line);
	return lines;
}

json_t *page_excerpts__read(const struct grain_graph *graph)
{
	size_t count = grain_graph__definition_count(graph);
	json_t *excerpts = json_array();

	for (uint32_t i = 0; excerpts && i < count && json_array_size(excerpts) < EXCERPTS_MAX; i++) {
		struct grain_definition d;
		uint32_t first;
		json_t *lines;
		FILE *file;

		grain_graph__definition(graph, i, &d);
		file = d.line && d.line < UINT32_MAX - LINES_AFTER ? open_source(d.file) : NULL;
		if (!file)
			continue;
		first = d.line > LINES_BEFORE ? d.line - LINES_BEFORE : 1;
		lines = read_lines(file, first, d.line + LINES_AFTER);
		fclose(file);
		if (json_array_size(lines) > d.line - first)
			json_array_append_new(excerpts,
					      json_pack("{s:I,s:I,s:o}", "definition", (json_int_t)i, "first",
							(json_int_t)first, "lines", lines));
		else
			json_decref(lines);
	}
	return excerpts;
}
