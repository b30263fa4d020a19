/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files, and the event log of what was read, as strings to compare. */
#ifndef GRAIND_TESTS_STREAM_TEXT_H
#define GRAIND_TESTS_STREAM_TEXT_H

#include "analysis/event/event.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char stream_path[64];

static __attribute__((destructor)) void remove_temporary(void)
{
	if (stream_path[0])
		unlink(stream_path);
}

static inline const char *temporary(const void *content, size_t bytes)
{
	FILE *f;
	int fd;

	if (!stream_path[0]) {
		strcpy(stream_path, "/tmp/graind-unit.XXXXXX");
		fd = mkstemp(stream_path);
		if (fd < 0)
			exit(1);
		close(fd);
	}
	f = fopen(stream_path, "w");
	if (!f || fwrite(content, 1, bytes, f) != bytes || fclose(f))
		exit(1);
	return stream_path;
}

/* The log of the stream, to be freed; from its first event on unless `metadata`. */
static inline char *log_of(const struct event_stream *stream, int metadata)
{
	char *text = NULL, *line;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f || event_stream__write_log(stream, f) || fclose(f))
		exit(1);
	if (metadata)
		return text;
	for (line = text; *line && (*line < '0' || *line > '9'); line = strchr(line, '\n') + 1)
		;
	memmove(text, line, strlen(line) + 1);
	return text;
}

static inline int read_path(const char *path, int keep_going, struct event_stream **out,
			    struct grain_error *err)
{
	struct grain_load_opts opts = {.keep_going = keep_going};

	err->text[0] = '\0';
	return event_stream__read(path, &opts, out, err);
}

#endif
