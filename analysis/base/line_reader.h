/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of a text file of any size, one at a time. */
#ifndef GRAIND_LINE_READER_H
#define GRAIND_LINE_READER_H

#include "analysis/include/grain.h"

#include <stddef.h>

#define LINE_MAX_BYTES (1u << 20)

enum line_state {
	LINE_WHOLE,
	LINE_LONG, /* longer than LINE_MAX_BYTES; the rest is skipped */
	LINE_CUT,  /* the file ends before its line feed */
};

/*
 * Called for each line. A whole line ends with a NUL in place of its line feed. A result other than 0 stops
 * the reading.
 */
typedef int (*line_fn)(void *ctx, char *line, size_t bytes, enum line_state state);

struct line_file {
	int fd;
	const char *path;		    /* for messages */
	const struct grain_load_opts *opts; /* for its progress function; NULL: none */
	double share;			    /* progress value at the end of the file, 0..1 */
	struct grain_error *err;
};

/*
 * Calls `take` for each line of the file from its beginning on. Returns 0, the result of `take` that ended
 * the reading, -ENOMEM, or the negative errno of a failed read; file->err is filled for the last two.
 */
int lines__each(const struct line_file *file, line_fn take, void *ctx);

#endif
