/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts a trace file together from chunks, for fuzz targets that change what is in them. */
#ifndef GRAIND_FUZZ_TRACE_CHUNKS_H
#define GRAIND_FUZZ_TRACE_CHUNKS_H

#include "analysis/trace/trace_format.h"

#include <stddef.h>
#include <string.h>
#include <zlib.h>

/* The number of bytes used then; a chunk for which there is no room is left out. */
static inline size_t trace_chunks__begin(uint8_t *out, size_t room, uint32_t flags)
{
	const struct trace_header header = {.magic = TRACE_MAGIC,
					    .version = TRACE_VERSION,
					    .header_bytes = sizeof(struct trace_header),
					    .flags = flags};

	if (room < sizeof(header))
		return 0;
	memcpy(out, &header, sizeof(header));
	return sizeof(header);
}

static inline size_t trace_chunks__put(uint8_t *out, size_t used, size_t room, uint16_t type, uint16_t codec,
				       const uint8_t *raw, size_t bytes, uint64_t sequence)
{
	struct trace_chunk chunk = {.magic = TRACE_CHUNK_MAGIC,
				    .type = type,
				    .codec = codec,
				    .raw_bytes = (uint32_t)bytes,
				    .stored_bytes = (uint32_t)bytes,
				    .sequence = sequence};

	if (used + sizeof(chunk) + bytes > room)
		return used;
	chunk.payload_crc = (uint32_t)crc32(0, raw, (unsigned)bytes);
	chunk.header_crc =
		(uint32_t)crc32(0, (const uint8_t *)&chunk, offsetof(struct trace_chunk, header_crc));
	memcpy(out + used, &chunk, sizeof(chunk));
	if (bytes)
		memcpy(out + used + sizeof(chunk), raw, bytes);
	return used + sizeof(chunk) + bytes;
}

/* Words of one stream, with what they name, as a payload; its size, 0 if there is no room. */
static inline size_t trace_chunks__lay_out(uint8_t *raw, size_t room, const struct trace_words_head *head,
					   const struct trace_word_site *sites, const uint64_t *words)
{
	size_t at = sizeof(*head) + head->sites * sizeof(*sites);

	if (at + (size_t)head->words * 8 > room)
		return 0;
	memcpy(raw, head, sizeof(*head));
	if (head->sites)
		memcpy(raw + sizeof(*head), sites, head->sites * sizeof(*sites));
	for (unsigned b = 0; b < 8; b++)
		for (size_t i = 0; i < head->words; i++)
			raw[at + b * head->words + i] = (uint8_t)(words[i] >> 8 * b);
	return at + (size_t)head->words * 8;
}

#endif
