/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the wire format of Protocol Buffers, as far as small messages need it: numbers, bytes and nested
 * messages. It writes into a buffer that grows. After a failed allocation `failed` is set, and nothing more
 * is written.
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
/* Writes a uint32, uint64, bool or enum; an int32 or int64 converted to uint64_t. */
void protobuf__number(struct protobuf *p, uint32_t field, uint64_t value);
void protobuf__fixed64(struct protobuf *p, uint32_t field, uint64_t value);
void protobuf__double(struct protobuf *p, uint32_t field, double value);
void protobuf__text(struct protobuf *p, uint32_t field, const char *text);
/* What is written between these two calls is the message in `field`. They can be nested. */
size_t protobuf__begin(struct protobuf *p, uint32_t field);
void protobuf__end(struct protobuf *p, size_t begin);

#endif
