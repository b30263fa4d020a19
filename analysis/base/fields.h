/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of one line of the event log: words and key=value pairs between single spaces. */
#ifndef GRAIND_FIELDS_H
#define GRAIND_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
	const char *key; /* key_bytes is 0 for a plain word */
	size_t key_bytes;
	const char *value; /* as in the line, without quotes around it */
	size_t value_bytes;
	bool quoted;
};

/*
 * Returns 1 if *out is the next field of [*cursor, end), 0 if none is left, or -EBADMSG if it is malformed.
 */
int field__next(const char **cursor, const char *end, struct field *out);

bool field__is(const struct field *field, const char *key);
bool field__value_is(const struct field *field, const char *value);
/* Whether the key is the letter c and a number. Such a field is the value of a counter. */
bool field__is_counter(const struct field *field, uint32_t *number);
/*
 * Reads a decimal number, or a hexadecimal one with 0x. Returns false for anything else, or if it does not
 * fit.
 */
bool field__u64(const struct field *field, uint64_t *out);
bool field__i64(const struct field *field, int64_t *out);
bool field__u32(const struct field *field, uint32_t *out);
bool field__double(const struct field *field, double *out);
/*
 * Returns the value as a new string, with escapes undone and control characters as "?". NULL: out of memory.
 */
char *field__string(const struct field *field);
/* Replaces control characters by "?", so that the text is safe to write. */
void field__make_printable(char *text, size_t bytes);

/*
 * Writes `text` as the value of a key: in quotes if needed, control characters as "?". Size and result are as
 * for snprintf.
 */
size_t field__spell(const char *text, char *buffer, size_t size);

#endif
