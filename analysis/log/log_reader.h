/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by log_reader.c (lines) and log_event.c (the line of one event). */
#ifndef GRAIND_LOG_READER_H
#define GRAIND_LOG_READER_H

#include "analysis/log/log.h"
#include "analysis/base/number_map.h"

struct log_reader {
	const char *path;
	const struct grain_load_opts *opts;
	struct event_stream *stream;
	struct budget budget;
	struct grain_error *err;
	struct meta_truth truth;
	struct number_map tasks, regions, loops, taskloops, sources, threads;
	uint64_t *thread_times;
	uint32_t thread_count, last_tid, last_thread;
	uint32_t *lines;			    /* line numbers of the events */
	uint32_t counter_lines[EVENT_COUNTERS_MAX]; /* per counter: the line in which it was first read */
	uint32_t *source_lines; /* per source: the line that first mentions it; 0: it is declared */
	uint32_t line;
	bool keep_going;
};

/* Fills the error with the line's number and returns -EBADMSG. */
int log_reader__broken(struct log_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `line` is the line that mentions the source; 0: it is declared. Takes ownership of source's strings. */
int log_reader__add_source(struct log_reader *r, struct event_source *source, uint32_t line);
/* Makes entries for the first `count` loops. */
int log_reader__know_loops(struct log_reader *r, size_t count);
int log_reader__event(struct log_reader *r, const char *line, size_t bytes);

#endif
