/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of a text file of any size, one at a time. */
#ifndef GRAIND_LINE_READER_H
#define GRAIND_LINE_READER_H

#include "analysis/grain.h"

#include <stddef.h>

#define LINE_MAX_BYTES (1u << 20)

enum line_state {
	LINE_WHOLE,
	LINE_LONG, /* more than LINE_MAX_BYTES; the rest of it is passed over */
	LINE_CUT,  /* the file ends before its line feed */
};

/* `line` ends with a NUL in place of the line feed when it is whole. What is not 0 ends the reading. */
typedef int (*line_fn)(void *ctx, char *line, size_t bytes, enum line_state state);

/*
 * Calls `take` for each line of `fd` from its beginning on; the progress of `opts` (NULL: none) goes
 * up to `share`. 0, what `take` gave, -ENOMEM, or the negative errno of a read
 * that failed, with `err` filled.
 */
int lines__each(int fd, const char *path, const struct grain_load_opts *opts, double share, line_fn take,
		void *ctx, struct grain_error *err);

#endif
