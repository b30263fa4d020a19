/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compresses words of a thread's ring for a trace (struct trace_words_head in analysis/trace/trace_format.h).
 */
#ifndef GRAIND_WORDS_PACKER_H
#define GRAIND_WORDS_PACKER_H

#include "analysis/trace/trace_format.h"

#include <stdbool.h>

struct words_packer;

int words_packer__new(struct words_packer **out);
void words_packer__free(struct words_packer *packer); /* accepts NULL */

struct packed_words {
	size_t lower, upper; /* bytes of the lower and of the upper halves */
	bool dictionary;     /* TRACE_CODEC_DICTIONARY */
};

/* Writes up to TRACE_WORDS_MAX words to `to`, which needs `count` * 8 bytes at most. */
struct packed_words words_packer__write(struct words_packer *packer, char *to, const uint64_t *words,
					size_t count);

#endif
