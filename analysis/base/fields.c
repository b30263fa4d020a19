// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/base/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int field__next(const char **cursor, const char *end, struct field *out)
{
	const char *p = *cursor, *start;

	while (p < end && *p == ' ')
		p++;
	if (p == end) {
		*cursor = p;
		return 0;
	}
	start = p;
	while (p < end && *p != ' ' && *p != '=' && *p != '"')
		p++;
	*out = (struct field){.key = start, .value = start};
	if (p < end && *p == '=' && p > start) {
		out->key_bytes = (size_t)(p - start);
		out->value = ++p;
	} else {
		p = start;
	}
	if (p < end && *p == '"') {
		out->value = ++p;
		out->quoted = true;
		while (p < end && *p != '"')
			p += *p == '\\' ? 2 : 1;
		if (p >= end)
			return -EBADMSG;
		out->value_bytes = (size_t)(p - out->value);
		p++;
		if (p < end && *p != ' ')
			return -EBADMSG;
	} else {
		while (p < end && *p != ' ')
			p++;
		out->value_bytes = (size_t)(p - out->value);
	}
	*cursor = p;
	return 1;
}

bool field__is(const struct field *field, const char *key)
{
	return strlen(key) == field->key_bytes && memcmp(field->key, key, field->key_bytes) == 0;
}

bool field__value_is(const struct field *field, const char *value)
{
	return strlen(value) == field->value_bytes && memcmp(field->value, value, field->value_bytes) == 0;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static bool number(const char *p, size_t bytes, uint64_t *out)
{
	unsigned base = 10;
	uint64_t v = 0;

	if (bytes > 2 && p[0] == '0' && p[1] == 'x') {
		base = 16;
		p += 2;
		bytes -= 2;
	}
	if (bytes == 0)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		unsigned d = (unsigned)digit_of(p[i]);

		if (d >= base)
			return false;
		if (bytes > 15 && (__builtin_mul_overflow(v, (uint64_t)base, &v) || v > UINT64_MAX - d))
			return false;
		v = bytes > 15 ? v + d : v * base + d;
	}
	*out = v;
	return true;
}

bool field__is_counter(const struct field *field, uint32_t *counter)
{
	uint64_t v;

	if (field->key_bytes < 2 || field->key_bytes > 11 || field->key[0] != 'c' || field->key[1] < '0' ||
	    field->key[1] > '9' || !number(field->key + 1, field->key_bytes - 1, &v) || v > UINT32_MAX)
		return false;
	*counter = (uint32_t)v;
	return true;
}

bool field__u64(const struct field *field, uint64_t *out)
{
	return number(field->value, field->value_bytes, out);
}

bool field__i64(const struct field *field, int64_t *out)
{
	bool negative = field->value_bytes > 0 && field->value[0] == '-';
	uint64_t v;

	if (!number(field->value + negative, field->value_bytes - negative, &v))
		return false;
	if (v > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool field__u32(const struct field *field, uint32_t *out)
{
	uint64_t v;

	if (!field__u64(field, &v) || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

bool field__double(const struct field *field, double *out)
{
	char text[64], *rest;
	double v;

	if (field->value_bytes == 0 || field->value_bytes >= sizeof(text))
		return false;
	memcpy(text, field->value, field->value_bytes);
	text[field->value_bytes] = '\0';
	if (strspn(text, "0123456789.eE+-") != field->value_bytes)
		return false;
	v = strtod(text, &rest);
	if (*rest)
		return false;
	*out = v;
	return true;
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

void field__make_printable(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (is_control(text[i]))
			text[i] = '?';
}

char *field__string(const struct field *field)
{
	char *text = malloc(field->value_bytes + 1);
	size_t n = 0;

	if (!text)
		return NULL;
	for (size_t i = 0; i < field->value_bytes; i++) {
		if (field->quoted && field->value[i] == '\\' && i + 1 < field->value_bytes)
			i++;
		text[n++] = field->value[i];
	}
	field__make_printable(text, n);
	text[n] = '\0';
	return text;
}

size_t field__spell(const char *text, char *buffer, size_t size)
{
	bool quote = text[0] == '\0' || strpbrk(text, " \"\\=") != NULL;
	size_t n = 0;

#define PUT(c)                                                                                               \
	do {                                                                                                 \
		if (n + 1 < size)                                                                            \
			buffer[n] = (c);                                                                     \
		n++;                                                                                         \
	} while (0)
	if (quote)
		PUT('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			PUT('\\');
		PUT(is_control(*text) ? '?' : *text);
	}
	if (quote)
		PUT('"');
#undef PUT
	if (size)
		buffer[n < size ? n : size - 1] = '\0';
	return n;
}
