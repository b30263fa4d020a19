/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a trace file (analysis/trace/trace_format.h).
 *
 * Events go into column buffers of one chunk. They reach the file when the chunk is full or at
 * trace_writer__flush. The same holds for lines. No call allocates or throttles per event. Only one thread
 * at a time may use a writer.
 *
 * If the file cannot grow (ENOSPC, EIO, EDQUOT, the byte ceiling), it is cut back to its last whole chunk
 * and stays readable. The failing call returns the error once. Later events and lines are counted as
 * dropped, and calls return 0, so the capture goes on. The owner shows the counters, also in a line of the
 * trace: trace_writer__finish tries once more to write lines.
 */
#ifndef GRAIND_TRACE_WRITER_H
#define GRAIND_TRACE_WRITER_H

#include "analysis/trace/trace_format.h"

#include <stdbool.h>

struct trace_writer;

struct trace_writer_opts {
	uint64_t max_bytes; /* of the file; 0 = no ceiling */
	uint32_t mode;	    /* of the file; 0 = 0600 */
};

struct trace_writer_stats {
	uint64_t bytes;		 /* in the file */
	uint64_t events;	 /* accepted so far, with buffered and without dropped events */
	uint64_t dropped_events; /* that did not reach the file */
	uint64_t dropped_lines;
	int error; /* negative errno that stopped the file from growing, 0 = none */
};

/*
 * Creates the file `name` in the directory dirfd (AT_FDCWD: `name` is a path). -EEXIST if it exists; symbolic
 * links are not followed. opts may be NULL. 0 or a negative errno.
 */
int trace_writer__create(int dirfd, const char *name, const struct trace_writer_opts *opts,
			 struct trace_writer **out);

/*
 * Writes one "@..." line, which is passed without its LF. -EINVAL: it has a control character or more than
 * 64 KiB.
 */
int trace_writer__text(struct trace_writer *writer, const char *line);
int trace_writer__textf(struct trace_writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Writes `text` as a value: in double quotes, with \" and \\, and "?" for control characters. Returns the
 * same as snprintf().
 */
size_t trace_writer__quote(const char *text, char *buffer, size_t size);

int trace_writer__event(struct trace_writer *writer, const struct trace_event *event);
int trace_writer__events(struct trace_writer *writer, const struct trace_event *events, size_t count);

/*
 * Writes words of one stream, at most TRACE_WORDS_MAX, with the sites that are new in it. They reach the
 * file at once, as one chunk. head->words and head->sites are their numbers. They count as that many
 * events, also when they are dropped.
 */
int trace_writer__words(struct trace_writer *writer, const struct trace_words_head *head,
			const struct trace_word_site *sites, const uint64_t *words);

/* Writes all buffered events and lines to the file, so that a reader finds them even after a crash. */
int trace_writer__flush(struct trace_writer *writer);

/* Flushes, then continues in another file with the same mode and its own header. */
int trace_writer__rotate(struct trace_writer *writer, int dirfd, const char *name);

/*
 * With `skip` true, events are counted as dropped from now on. With `skip` false, events are written again,
 * after a mark that says that events of all threads are missing before it.
 */
void trace_writer__skip(struct trace_writer *writer, bool skip);

/* Stops writing because of `error`. Later events are counted as dropped. */
void trace_writer__refuse(struct trace_writer *writer, int error);

void trace_writer__stats(const struct trace_writer *writer, struct trace_writer_stats *out);

/*
 * Flushes, marks the file complete, closes it and frees the writer; accepts NULL. *last: the last statistics.
 * 0 or a negative errno.
 */
int trace_writer__finish(struct trace_writer *writer, struct trace_writer_stats *last);
/* Closes the file without marking it complete, and frees the writer. */
void trace_writer__abandon(struct trace_writer *writer);

#endif
