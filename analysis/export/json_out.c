/* SPDX-License-Identifier: BSD-2-Clause */
/* Written by hand: jansson keeps a whole document in memory, and ten million grains may not fit. */
#include "analysis/export/json_out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct json_out *json_out__new(FILE *stream)
{
	struct json_out *out = malloc(sizeof *out);

	if (!out)
		return NULL;
	out->stream = stream;
	out->used = 0;
	out->error = 0;
	out->comma = false;
	return out;
}

void json_out__flush(struct json_out *out)
{
	errno = 0;
	if (!out->error && fwrite(out->buffer, 1, out->used, out->stream) != out->used)
		out->error = errno ? -errno : -EIO;
	out->used = 0;
}

int json_out__finish(struct json_out *out)
{
	int error;

	if (!out)
		return 0;
	json_out__flush(out);
	errno = 0;
	if (!out->error && fflush(out->stream) != 0)
		out->error = errno ? -errno : -EIO;
	error = out->error;
	free(out);
	return error;
}

/* Returns room for `n` bytes. n is at most JSON_OUT_BUFFER. */
static char *room(struct json_out *out, size_t n)
{
	if (JSON_OUT_BUFFER - out->used < n)
		json_out__flush(out);
	return out->buffer + out->used;
}

static void long_bytes(struct json_out *out, const char *text, size_t n)
{
	while (n) {
		size_t part = n < JSON_OUT_BUFFER ? n : JSON_OUT_BUFFER;

		memcpy(room(out, part), text, part);
		out->used += part;
		text += part;
		n -= part;
	}
}

/* Inline, so that for a constant length the copy becomes a few moves. */
static inline __attribute__((always_inline)) void bytes(struct json_out *out, const char *text, size_t n)
{
	if (n > JSON_OUT_BUFFER - out->used) {
		long_bytes(out, text, n);
		return;
	}
	memcpy(out->buffer + out->used, text, n);
	out->used += n;
}

static void byte(struct json_out *out, char c)
{
	*room(out, 1) = c;
	out->used++;
}

static void separate(struct json_out *out)
{
	if (out->comma)
		byte(out, ',');
	out->comma = true;
}

void json_out__open(struct json_out *out, char bracket)
{
	separate(out);
	byte(out, bracket);
	out->comma = false;
}

void json_out__close(struct json_out *out, char bracket)
{
	byte(out, bracket);
	out->comma = true;
}

void json_out__line(struct json_out *out)
{
	byte(out, '\n');
	out->comma = false;
}

void json_out__key(struct json_out *out, const char *plain)
{
	separate(out);
	byte(out, '"');
	bytes(out, plain, strlen(plain));
	bytes(out, "\":", 2);
	out->comma = false;
}

void json_out__colon(struct json_out *out)
{
	byte(out, ':');
	out->comma = false;
}

void json_out__null(struct json_out *out)
{
	separate(out);
	bytes(out, "null", 4);
}

void json_out__bool(struct json_out *out, bool value)
{
	separate(out);
	if (value)
		bytes(out, "true", 4);
	else
		bytes(out, "false", 5);
}

/* Writes the digits of `value` so that they end just before `end`. Returns the first digit. */
static char *digits(char *end, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + value * 2, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

void json_out__uint(struct json_out *out, uint64_t value)
{
	enum { DIGITS = 20 };
	char text[2 * DIGITS] = {0}, *first = digits(text + DIGITS, value);
	char *to;

	separate(out);
	to = room(out, DIGITS);
	/* A copy of constant length is faster. Later text overwrites the surplus. */
	memcpy(to, first, DIGITS);
	out->used += (size_t)(text + DIGITS - first);
}

void json_out__int(struct json_out *out, int64_t value)
{
	if (value >= 0) {
		json_out__uint(out, (uint64_t)value);
		return;
	}
	separate(out);
	byte(out, '-');
	out->comma = false;
	json_out__uint(out, -(uint64_t)value);
}

/*
 * Writes a number in the shortest form. `mantissa` has nine digits, the first of which is not 0. Ten to the
 * power of `exponent` is the value of a 1 in the place of the first digit.
 */
static void decimal(struct json_out *out, uint64_t mantissa, int exponent)
{
	char text[16], *first = digits(text + sizeof text, mantissa);
	int n = 9;

	while (n > 1 && first[n - 1] == '0')
		n--;
	if (exponent >= n - 1) {
		bytes(out, first, (size_t)n);
		bytes(out, "000000000000000", (size_t)(exponent - n + 1));
	} else if (exponent >= 0) {
		bytes(out, first, (size_t)exponent + 1);
		byte(out, '.');
		bytes(out, first + exponent + 1, (size_t)(n - exponent - 1));
	} else {
		bytes(out, "0.", 2);
		bytes(out, "00000000", (size_t)(-exponent - 1));
		bytes(out, first, (size_t)n);
	}
}

static const double powers[] = {1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,
				1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

static void general(struct json_out *out, double value)
{
	char text[40], *p;
	int n = snprintf(text, sizeof text, "%.9g", value);

	/* Every character other than digit, sign and exponent is the locale's decimal point. */
	for (p = text; p < text + n; p++)
		if (!strchr("0123456789+-e", *p))
			*p = '.';
	bytes(out, text, (size_t)n);
}

void json_out__double(struct json_out *out, double value)
{
	int exponent = 0;
	uint64_t mantissa;

	if (!isfinite(value)) {
		json_out__null(out);
		return;
	}
	separate(out);
	if (value < 0) {
		byte(out, '-');
		value = -value;
	}
	if (value == 0) {
		byte(out, '0');
		return;
	}
	if (value < 1e-4 || value >= 1e15) {
		general(out, value);
		return;
	}
	while (exponent < 15 && value >= powers[exponent + 1])
		exponent++;
	while (exponent > -5 && exponent <= 0 && value * powers[-exponent] < 1)
		exponent--;
	if (exponent <= 8)
		mantissa = (uint64_t)((long double)value * powers[8 - exponent] + 0.5L);
	else
		mantissa = (uint64_t)((long double)value / powers[exponent - 8] + 0.5L);
	if (mantissa >= 1000000000) {
		mantissa /= 10;
		exponent++;
	}
	decimal(out, mantissa, exponent);
}

/* Returns the length of the UTF-8 character at `s` in bytes, or 0 if it is not well-formed. */
static size_t utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char from, to, second_from, second_to, length;
	} forms[] = {
		{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	size_t i, k;

	for (i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		if (s[0] < forms[i].from || s[0] > forms[i].to)
			continue;
		if (s[1] < forms[i].second_from || s[1] > forms[i].second_to)
			return 0;
		for (k = 2; k < forms[i].length; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return 0;
		return forms[i].length;
	}
	return 0;
}

static void escape(struct json_out *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

	switch (c) {
	case '"':
	case '\\':
		byte(out, '\\');
		byte(out, (char)c);
		break;
	case '\n':
		bytes(out, "\\n", 2);
		break;
	case '\t':
		bytes(out, "\\t", 2);
		break;
	default:
		bytes(out, text, sizeof text);
		break;
	}
}

void json_out__string(struct json_out *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (!text) {
		json_out__null(out);
		return;
	}
	separate(out);
	byte(out, '"');
	while (*s) {
		size_t n;

		if (*s < 0x20 || *s == 0x7f || *s == '"' || *s == '\\') {
			escape(out, *s++);
			continue;
		}
		if (*s < 0x80) {
			byte(out, (char)*s++);
			continue;
		}
		n = utf8_length(s);
		if (n) {
			bytes(out, (const char *)s, n);
			s += n;
		} else {
			bytes(out, "\xef\xbf\xbd", 3);
			s++;
		}
	}
	byte(out, '"');
}

void json_out__plain(struct json_out *out, const char *text, size_t length)
{
	separate(out);
	byte(out, '"');
	bytes(out, text, length);
	byte(out, '"');
}
