/* SPDX-License-Identifier: BSD-2-Clause */
/* Event logs: reading, checking, and their "@" lines. Internal to analysis. */
#ifndef GRAIND_LOG_FILE_H
#define GRAIND_LOG_FILE_H

#include "analysis/event/event_build.h"

int log_reader__read(int fd, const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		     struct grain_error *err);

/*
 * Checks an event log that was read and sorted: nesting, dense numbers, ends of what is open, counts. A
 * broken rule is an error whose message names the line. With keep_going the event is dropped instead, and the
 * stream is marked damaged. `extra` of create-begin, task-begin and region-begin gets trouble bits.
 */
int log_check__run(struct event_stream *stream, uint32_t *lines, const char *path, bool keep_going,
		   struct budget *budget, struct grain_error *err);

/* A line that starts with "@", in logs and in the text chunks of traces. */
enum meta_kind { META_KEPT, META_SOURCE, META_SITE, META_MODULE };
struct meta {
	enum meta_kind kind;
	struct event_source source; /* META_SOURCE; the caller owns its strings */
	uint64_t address;	    /* META_SITE */
	uint32_t number;	    /* META_SITE */
	char why[128];		    /* after -EBADMSG: what is wrong with the line */
};
/* The content of a @truth line, which replaces the reader's own counts. */
struct meta_truth {
	bool given, damaged;
	struct grain_truth truth;
};
int meta__line(struct event_stream *stream, const char *line, size_t bytes, struct meta_truth *truth,
	       struct budget *budget, struct meta *out);
void meta_truth__apply(const struct meta_truth *given, struct event_stream *stream);

#endif
