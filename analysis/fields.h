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
	const char *value; /* as spelled; inside the quotes when quoted */
	size_t value_bytes;
	bool quoted;
};

/* 1: *out is the next field of [*cursor, end); 0: none left; -EBADMSG: malformed. */
int field__next(const char **cursor, const char *end, struct field *out);

bool field__is(const struct field *field, const char *key);
bool field__value_is(const struct field *field, const char *value);
/* Whether the key is the letter c and a number: the value of a counter. */
bool field__is_counter(const struct field *field, uint32_t *number);
/* Decimal, or hexadecimal with 0x; false when it is anything else or does not fit. */
bool field__u64(const struct field *field, uint64_t *out);
bool field__i64(const struct field *field, int64_t *out);
bool field__u32(const struct field *field, uint32_t *out);
bool field__double(const struct field *field, double *out);
/* The value with its escapes undone, as a string of its own with control characters as "?"; NULL without
 * memory. */
char *field__string(const struct field *field);
/* Control characters become "?": what is read is what will be written. */
void field__make_printable(char *text, size_t bytes);

/*
 * Spells `text` as the value of a key: in quotes where needed, control
 * characters as "?". As snprintf.
 */
size_t field__spell(const char *text, char *buffer, size_t size);

#endif
