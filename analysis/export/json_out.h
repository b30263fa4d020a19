/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming JSON writer. The output is compact. Digits are ASCII in every locale. The output is valid for
 * all strings: invalid UTF-8 becomes U+FFFD, and numbers that JSON does not have become null. The caller
 * keeps keys and braces balanced.
 */
#ifndef GRAIND_JSON_OUT_H
#define GRAIND_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define JSON_OUT_BUFFER (1u << 18)

struct json_out {
	FILE *stream;
	size_t used;
	int error; /* the first error, a negative errno; after it nothing is written */
	bool comma;
	char buffer[JSON_OUT_BUFFER];
};

struct json_out *json_out__new(FILE *stream); /* NULL when out of memory */
/*
 * Writes what is buffered, and frees the writer. Returns the first error of the stream, or 0. Accepts NULL.
 */
int json_out__finish(struct json_out *out);

void json_out__open(struct json_out *out, char bracket);  /* '{' or '[' */
void json_out__close(struct json_out *out, char bracket); /* '}' or ']' */
void json_out__line(struct json_out *out);		  /* ends a value of newline-delimited JSON */

void json_out__key(struct json_out *out, const char *plain); /* needs no escaping */
void json_out__flush(struct json_out *out);
/*
 * Writes a raw `,"key":` of `length` bytes. It must be shorter than the buffer, and not the first key of its
 * object.
 */
static inline void json_out__raw_key(struct json_out *out, const char *text, size_t length)
{
	if (length > JSON_OUT_BUFFER - out->used)
		json_out__flush(out);
	memcpy(out->buffer + out->used, text, length);
	out->used += length;
	out->comma = false;
}
/* Writes ":" after a string that is a key. */
void json_out__colon(struct json_out *out);
void json_out__null(struct json_out *out);
void json_out__bool(struct json_out *out, bool value);
void json_out__uint(struct json_out *out, uint64_t value);
void json_out__int(struct json_out *out, int64_t value);
/* Writes at most nine significant digits. NAN and infinities become null. */
void json_out__double(struct json_out *out, double value);
void json_out__string(struct json_out *out, const char *text); /* NULL is null */
/* Writes `length` bytes that need no escaping. */
void json_out__plain(struct json_out *out, const char *text, size_t length);

#endif
