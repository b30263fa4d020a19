/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a trace file chunk by chunk: all of it into a stream, or as it is written. Internal to analysis. */
#ifndef GRAIND_TRACE_READER_H
#define GRAIND_TRACE_READER_H

#include "analysis/trace_events.h"
#include "analysis/trace_format.h"
#include "analysis/trace_words.h"

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
	uint64_t offset; /* of the chunk that is being read */
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
	bool no_text; /* lines are passed over */
};

/* Bytes read, fewer only at the end of the file, or a negative errno. */
ssize_t trace_reader__bytes(struct trace_reader *reader, void *to, size_t bytes, uint64_t offset);
/* The header of the file; its chunks follow. */
int trace_reader__header(struct trace_reader *reader, struct trace_header *out);
/* 1: a chunk was read, 0: the end of the file, negative: an error. */
int trace_reader__chunk(struct trace_reader *reader, bool *ended);

#endif
