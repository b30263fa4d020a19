/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/base/line_reader.h"
#include "analysis/base/budget.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (4u << 20)

struct lines {
	char *buffer;
	size_t have;
	bool passing; /* skipping the rest of a line that is too long */
	line_fn take;
	void *ctx;
};

/* Hands on the lines that end within the buffer. Moves the rest to the buffer's front. */
static int take_buffer(struct lines *l)
{
	char *line = l->buffer, *end = l->buffer + l->have, *lf;
	int error;

	for (; (lf = memchr(line, '\n', (size_t)(end - line))); line = lf + 1) {
		size_t bytes = (size_t)(lf - line);

		*lf = '\0';
		error = l->passing ? 0
				   : l->take(l->ctx, line, bytes,
					     bytes > LINE_MAX_BYTES ? LINE_LONG : LINE_WHOLE);
		if (error)
			return error;
		l->passing = false;
	}
	l->have = (size_t)(end - line);
	if (l->have > LINE_MAX_BYTES && !l->passing) {
		error = l->take(l->ctx, line, l->have, LINE_LONG);
		if (error)
			return error;
		l->passing = true;
	}
	if (l->passing)
		l->have = 0;
	memmove(l->buffer, line, l->have);
	return 0;
}

int lines__each(const struct line_file *file, line_fn take, void *ctx)
{
	const struct grain_load_opts *opts = file->opts;
	struct lines l = {.buffer = malloc(BUFFER_BYTES), .take = take, .ctx = ctx};
	uint64_t done = 0;
	off_t size = lseek(file->fd, 0, SEEK_END);
	ssize_t n;
	int error = l.buffer ? 0 : -ENOMEM;

	lseek(file->fd, 0, SEEK_SET);
	while (!error && (n = read(file->fd, l.buffer + l.have, BUFFER_BYTES - l.have)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error = load_error(file->err, -errno, "%s: cannot be read: %s", file->path,
					   strerror(errno));
			break;
		}
		l.have += (size_t)n;
		done += (size_t)n;
		error = take_buffer(&l);
		if (!error && opts && opts->progress && size > 0)
			opts->progress(opts->progress_ctx, file->share * (double)done / (double)size);
	}
	if (!error && l.have)
		error = take(ctx, l.buffer, l.have, LINE_CUT);
	free(l.buffer);
	return error;
}
