/* SPDX-License-Identifier: BSD-2-Clause */
/* From the words that threads wrote from inside of their process to records. Internal to analysis. */
#ifndef GRAIND_TRACE_WORDS_H
#define GRAIND_TRACE_WORDS_H

#include "analysis/trace_events.h"
#include "analysis/trace_format.h"

struct word_stream;
struct word_clocks;

struct trace_words {
	struct trace_events *events;
	struct word_stream *streams; /* by number */
	uint32_t stream_count;
	struct word_clocks *clocks; /* in the order of time */
	size_t clock_count, clock_capacity;
	bool part;	   /* streams begin in the midst (TRACE_PART) */
	uint64_t round_ns; /* no word in the latest chunk is later */
	uint64_t *sites;   /* TRACE_WORD_SITES addresses */
	uint64_t *words;   /* of the chunk that is being read */
};

void trace_words__begin(struct trace_words *words, struct trace_events *events);
void trace_words__free(struct trace_words *words);
/* Lets go of old readings of the clocks, of which there are no words any more. */
void trace_words__forget(struct trace_words *words);
/*
 * The payload of one TRACE_CHUNK_WORDS; `dictionary`: TRACE_CODEC_DICTIONARY. -EBADMSG and in `why` what does
 * not fit; -ENOMEM, -E2BIG.
 */
int trace_words__chunk(struct trace_words *words, const char *raw, size_t bytes, bool dictionary,
		       char why[128]);

#endif
