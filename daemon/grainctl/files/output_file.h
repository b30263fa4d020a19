/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that do not survive a failure: outputs and scratch files. An output has a temporary name until it
 * is complete, and SIGINT, SIGTERM and SIGHUP remove it.
 */
#ifndef GRAINCTL_OUTPUT_FILE_H
#define GRAINCTL_OUTPUT_FILE_H

#include <stdio.h>

struct output_file;

/*
 * Opens `path` for writing. "-" is stdout. An existing device or pipe is written directly. In all other
 * cases a temporary file is made beside `path`. A link is followed if the caller or root has made it, and
 * replaced otherwise. Another user's pipe is refused (-EPERM). 0 or a negative errno.
 */
int output_file__open(const char *path, struct output_file **out);
FILE *output_file__stream(struct output_file *file);
/* Gives the file its final name, or removes it and returns a negative errno. Frees `file`. */
int output_file__commit(struct output_file *file);
/* Removes the file and frees `file`. Accepts NULL. */
void output_file__discard(struct output_file *file);

/* For child processes: restores the former signal handlers, so that signals remove nothing. */
void output_files__disown(void);

/* Makes a file in $TMPDIR for writing, which already has no name. 0 or a negative errno. */
int scratch_file__create(FILE **out);

#endif
