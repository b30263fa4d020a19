/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the words that libgrainshim wrote in a process to records. Internal to analysis. */
#ifndef GRAIND_TRACE_WORDS_H
#define GRAIND_TRACE_WORDS_H

#include "analysis/trace/trace_events.h"
#include "analysis/trace/trace_format.h"

struct word_stream;
struct word_clocks;

struct trace_words {
	struct trace_events *events;
	struct word_stream *streams; /* by number */
	uint32_t stream_count;
	struct word_clocks *clocks; /* readings of both clocks, in the order of time */
	size_t clock_count, clock_capacity;
	bool part;	   /* TRACE_PART: the begins of streams are missing */
	uint64_t round_ns; /* no word in the latest chunk is later than this */
	uint64_t *sites;   /* TRACE_WORD_SITES addresses */
	uint64_t *words;   /* words of the chunk that is being read */
};

void trace_words__begin(struct trace_words *words, struct trace_events *events);
void trace_words__free(struct trace_words *words);
/* Drops readings of the clocks that are older than all words. */
void trace_words__forget(struct trace_words *words);
/*
 * Reads the payload of one TRACE_CHUNK_WORDS. `dictionary`: the payload has TRACE_CODEC_DICTIONARY. Returns
 * 0, -EBADMSG with the reason in `why`, -ENOMEM or -E2BIG.
 */
int trace_words__chunk(struct trace_words *words, const char *raw, size_t bytes, bool dictionary,
		       char why[128]);

#endif
