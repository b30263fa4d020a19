/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the source files that a recording names, in a process with only the rights of the recording's
 * owner. A file may be anything, and opening it may hang. So the caller waits only some seconds for a file,
 * and kills the process at the end.
 */
#ifndef GRAINCTL_SOURCE_READER_H
#define GRAINCTL_SOURCE_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source_reader;

/*
 * Starts the process; `owner`: see recording_owner.h. NULL: nothing may be read, or no process can be
 * started. source_reader__read() accepts NULL.
 */
struct source_reader *source_reader__start(uid_t owner);
/* Accepts NULL. */
void source_reader__end(struct source_reader *sources);

/*
 * Reads for render_opts.read_source; `sources` is a struct source_reader. May be called in a child process
 * and needs no rights there.
 */
ssize_t source_reader__read(void *sources, const char *path, uint32_t first, uint32_t last, char *text,
			    size_t size);

#endif
