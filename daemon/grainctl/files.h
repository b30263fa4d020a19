/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that must not outlive a failure: outputs under a temporary name until
 * they are whole (SIGINT, SIGTERM and SIGHUP remove it), and scratch files.
 */
#ifndef GRAINCTL_FILES_H
#define GRAINCTL_FILES_H

#include <stdio.h>

struct output_file;

/*
 * Opens `path` for writing: "-" is stdout, an existing device or pipe is
 * written as it is, everything else becomes a temporary file beside it.
 * Returns 0 or a negative errno.
 */
int output_file__open(const char *path, struct output_file **out);
FILE *output_file__stream(struct output_file *file);
/* Makes it visible under its name, or removes it: negative errno. Frees `file`. */
int output_file__commit(struct output_file *file);
/* Removes it. Accepts NULL. */
void output_file__discard(struct output_file *file);

/* In a child: signals remove nothing any more, they are as they were. */
void output_files__disown(void);

/* A new file in $TMPDIR that has no name any more, for writing. */
int scratch_file__create(FILE **out);

#endif
