/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Written by hand instead of with protobuf-c. That library builds a whole message as a tree of allocations
 * before it packs it, but a trace is written packet by packet. tests/tools/check_perfetto.py reads the result
 * with Google's library.
 */
#include "render/traces/protobuf.h"

#include <stdlib.h>
#include <string.h>

#define VARINT_MAX 10

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void protobuf__free(struct protobuf *p)
{
	free(p->data);
	memset(p, 0, sizeof(*p));
}

static bool has_room(struct protobuf *p, size_t more)
{
	size_t want = p->capacity ? p->capacity : 4096;
	uint8_t *bigger;

	if (p->failed || p->length + more <= p->capacity)
		return !p->failed;
	while (want < p->length + more)
		want *= 2;
	bigger = realloc(p->data, want);
	if (!bigger) {
		p->failed = true;
		return false;
	}
	p->data = bigger;
	p->capacity = want;
	return true;
}

static size_t put_varint(uint8_t *at, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		at[n++] = (uint8_t)(value | 0x80);
	at[n++] = (uint8_t)value;
	return n;
}

/* Writes a tag and makes room for a number after it. Returns false if out of memory. */
static bool put_tag(struct protobuf *p, uint32_t field, enum wire wire, size_t more)
{
	if (!has_room(p, 2 * VARINT_MAX + more))
		return false;
	p->length += put_varint(p->data + p->length, (uint64_t)field << 3 | wire);
	return true;
}

void protobuf__number(struct protobuf *p, uint32_t field, uint64_t value)
{
	if (put_tag(p, field, WIRE_VARINT, 0))
		p->length += put_varint(p->data + p->length, value);
}

void protobuf__fixed64(struct protobuf *p, uint32_t field, uint64_t value)
{
	if (!put_tag(p, field, WIRE_FIXED64, 8))
		return;
	for (unsigned i = 0; i < 8; i++)
		p->data[p->length++] = (uint8_t)(value >> 8 * i);
}

void protobuf__double(struct protobuf *p, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf__fixed64(p, field, bits);
}

void protobuf__text(struct protobuf *p, uint32_t field, const char *text)
{
	size_t length = strlen(text);

	if (!put_tag(p, field, WIRE_BYTES, length))
		return;
	p->length += put_varint(p->data + p->length, length);
	memcpy(p->data + p->length, text, length);
	p->length += length;
}

size_t protobuf__begin(struct protobuf *p, uint32_t field)
{
	if (put_tag(p, field, WIRE_BYTES, 0))
		p->length++;
	return p->length;
}

/* Writes the length into the byte that was left for it. If it needs more bytes, the message moves. */
void protobuf__end(struct protobuf *p, size_t begin)
{
	uint8_t length[VARINT_MAX];
	size_t bytes;

	if (!has_room(p, VARINT_MAX))
		return;
	bytes = put_varint(length, p->length - begin);
	if (bytes > 1)
		memmove(p->data + begin - 1 + bytes, p->data + begin, p->length - begin);
	memcpy(p->data + begin - 1, length, bytes);
	p->length += bytes - 1;
}
