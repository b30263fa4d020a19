/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a TRACE_CHUNK_WORDS put together again from how the file has them. */
#ifndef GRAIND_WORD_PLANES_H
#define GRAIND_WORD_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `count` words, TRACE_WORDS_MAX at most, of `bytes` bytes, all that is left of the payload; `dictionary`:
 * TRACE_CODEC_DICTIONARY. -EBADMSG: they don't fit.
 */
int word_planes__read(const char *raw, size_t bytes, bool dictionary, size_t count, uint64_t *words);

#endif
