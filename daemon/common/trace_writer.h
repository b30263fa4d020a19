/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a trace file (analysis/trace_format.h).
 *
 * Events go into column buffers of one chunk and reach the file when the
 * chunk is full or at trace_writer__flush; lines likewise. No call allocates
 * or throttles per event. One writer belongs to one thread at a time.
 *
 * When the file cannot grow (ENOSPC, EIO, EDQUOT, the byte ceiling), it is
 * cut back to its last whole chunk, the failing call returns the error once,
 * and later events and lines are counted as dropped while calls return 0: the
 * capture goes on and its owner shows the counters, also in a line of the
 * trace: lines are tried once more by trace_writer__finish. The file stays
 * readable.
 */
#ifndef GRAIND_TRACE_WRITER_H
#define GRAIND_TRACE_WRITER_H

#include "analysis/trace_format.h"

#include <stdbool.h>

struct trace_writer;

struct trace_writer_opts {
	uint64_t max_bytes; /* of the file; 0 = no ceiling */
	uint32_t mode;	    /* of the file; 0 = 0600 */
};

struct trace_writer_stats {
	uint64_t bytes;		 /* in the file */
	uint64_t events;	 /* accepted so far, buffered ones included, dropped ones not */
	uint64_t dropped_events; /* did not reach the file */
	uint64_t dropped_lines;
	int error; /* negative errno that stopped the file from growing, 0 = none */
};

/*
 * Creates `name` in the directory dirfd (AT_FDCWD: a plain path); -EEXIST when
 * it is there, never through a symbolic link. opts may be NULL.
 */
int trace_writer__create(int dirfd, const char *name, const struct trace_writer_opts *opts,
			 struct trace_writer **out);

/* One "@..." line without its LF; -EINVAL for a control character or a line above 64 KiB. */
int trace_writer__text(struct trace_writer *writer, const char *line);
int trace_writer__textf(struct trace_writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Spells `text` as a value: in double quotes, with \" and \\, control characters as "?". As snprintf. */
size_t trace_writer__quote(const char *text, char *buffer, size_t size);

int trace_writer__event(struct trace_writer *writer, const struct trace_event *event);
int trace_writer__events(struct trace_writer *writer, const struct trace_event *events, size_t count);

/*
 * Words of one stream, at most TRACE_WORDS_MAX, with what is new of the sites: a chunk of its own, at once.
 * head->words and head->sites are their numbers. Counted as so many events; lost likewise.
 */
int trace_writer__words(struct trace_writer *writer, const struct trace_words_head *head,
			const struct trace_word_site *sites, const uint64_t *words);

/* Puts what is buffered into the file, so that a reader or a crash finds it. */
int trace_writer__flush(struct trace_writer *writer);

/* Flushes, and goes on in another file with a header of its own, of the same mode. */
int trace_writer__rotate(struct trace_writer *writer, int dirfd, const char *name);

/* Nothing more is written for that reason; events are counted as dropped. */
void trace_writer__refuse(struct trace_writer *writer, int error);

void trace_writer__stats(const struct trace_writer *writer, struct trace_writer_stats *out);

/* Flushes, closes the file properly and frees the writer; NULL is accepted. Gives the last statistics. */
int trace_writer__finish(struct trace_writer *writer, struct trace_writer_stats *last);
/* Closes without marking the file complete. */
void trace_writer__abandon(struct trace_writer *writer);

#endif
