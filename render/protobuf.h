/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire format of Protocol Buffers, as far as a writer of small messages
 * needs it: numbers, bytes and nested messages into a buffer that grows.
 * Nothing is written after a failed allocation, which `failed` says.
 */
#ifndef GRAIND_RENDER_PROTOBUF_H
#define GRAIND_RENDER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start from {0}. */
struct protobuf {
	uint8_t *data;
	size_t length, capacity;
	bool failed;
};

void protobuf__free(struct protobuf *p);
/* uint32, uint64, bool, enum; of int32 and int64 the value converted to uint64_t. */
void protobuf__number(struct protobuf *p, uint32_t field, uint64_t value);
void protobuf__fixed64(struct protobuf *p, uint32_t field, uint64_t value);
void protobuf__double(struct protobuf *p, uint32_t field, double value);
void protobuf__text(struct protobuf *p, uint32_t field, const char *text);
/* What is written between the two is the message in `field`; nests. */
size_t protobuf__begin(struct protobuf *p, uint32_t field);
void protobuf__end(struct protobuf *p, size_t begin);

#endif
