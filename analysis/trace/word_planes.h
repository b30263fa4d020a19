/* SPDX-License-Identifier: BSD-2-Clause */
/* Restores the words of a TRACE_CHUNK_WORDS from their planes. */
#ifndef GRAIND_WORD_PLANES_H
#define GRAIND_WORD_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads `count` words, at most TRACE_WORDS_MAX, from all `bytes` that are left of the payload. `dictionary`:
 * the payload has TRACE_CODEC_DICTIONARY. Returns 0, or -EBADMSG if they do not fit.
 */
int word_planes__read(const char *raw, size_t bytes, bool dictionary, size_t count, uint64_t *words);

#endif
