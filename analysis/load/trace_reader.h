/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a trace file chunk by chunk: the whole file into a stream, or a file that is still being written.
 * Internal to analysis.
 */
#ifndef GRAIND_TRACE_READER_H
#define GRAIND_TRACE_READER_H

#include "analysis/log/log.h"
#include "analysis/trace/trace_events.h"
#include "analysis/trace/trace_format.h"
#include "analysis/trace/trace_words.h"

#include <sys/types.h>
#include <zstd.h>

struct trace_reader {
	int fd;
	const char *path;
	const struct grain_load_opts *opts;
	struct grain_error *err;
	struct budget budget;
	struct event_stream *stream;
	struct trace_content content;
	struct meta_truth truth;
	uint64_t offset; /* offset in the file of the chunk that is being read */
	uint64_t size;
	uint64_t sequence;
	struct {
		char *bytes;
		size_t capacity; /* grows to TRACE_CHUNK_MAX_RAW */
	} stored, raw;
	ZSTD_DCtx *zstd;
	struct trace_events events;
	struct trace_words words;
	bool keep_going;
	bool no_text; /* text chunks are skipped */
};

/* Reads the whole file into a new stream. Returns 0, or a negative errno with *err set. */
int trace_reader__read(int fd, const char *path, const struct grain_load_opts *opts,
		       struct event_stream **out, struct grain_error *err);

/*
 * Reads bytes at an offset. Returns their number, or a negative errno. Reads fewer bytes only at the end of
 * the file.
 */
ssize_t trace_reader__bytes(struct trace_reader *reader, void *to, size_t bytes, uint64_t offset);
/* Reads the header of the file; the chunks follow it. */
int trace_reader__header(struct trace_reader *reader, struct trace_header *out);
/* Returns 1 if a chunk was read, 0 at the end of the file, or a negative errno. */
int trace_reader__chunk(struct trace_reader *reader, bool *ended);

#endif
