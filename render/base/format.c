/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Written by hand: libraries that escape for HTML (libxml2, GLib) are large, and leave other control
 * characters in the text.
 */
#include "render/base/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void format__free(struct format_text *text)
{
	free(text->data);
	memset(text, 0, sizeof(*text));
}

void format__add_bytes(struct format_text *text, const char *bytes, size_t length)
{
	if (text->failed)
		return;
	if (text->length + length + 1 > text->capacity) {
		size_t want = text->capacity ? text->capacity * 2 : 256;
		char *bigger;

		while (want < text->length + length + 1)
			want *= 2;
		bigger = realloc(text->data, want);
		if (!bigger) {
			text->failed = true;
			return;
		}
		text->data = bigger;
		text->capacity = want;
	}
	memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void format__add(struct format_text *text, const char *string)
{
	format__add_bytes(text, string, strlen(string));
}

void format__printf(struct format_text *text, const char *format, ...)
{
	char fixed[512], *big;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(fixed, sizeof(fixed), format, args);
	va_end(args);
	if (length < 0)
		return;
	if ((size_t)length < sizeof(fixed)) {
		format__add_bytes(text, fixed, (size_t)length);
		return;
	}
	va_start(args, format);
	length = vasprintf(&big, format, args);
	va_end(args);
	if (length < 0) {
		text->failed = true;
		return;
	}
	format__add_bytes(text, big, (size_t)length);
	free(big);
}

void format__add_fixed(struct format_text *text, double value)
{
	char digits[32], *end = digits + sizeof(digits), *at = end;
	bool negative = value < 0;
	unsigned long long rest = (unsigned long long)(fmin(fabs(value), 1e15) * 100 + .5);
	unsigned long long hundredths = rest % 100;

	if (hundredths % 10)
		*--at = (char)('0' + hundredths % 10);
	if (hundredths) {
		*--at = (char)('0' + hundredths / 10);
		*--at = '.';
	}
	negative = negative && rest;
	rest /= 100;
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (negative)
		*--at = '-';
	format__add_bytes(text, at, (size_t)(end - at));
}

/* Decodes the code point at `s` into *value. Returns the number of its bytes. 0: it is not well-formed. */
static size_t decode(const char *s, uint32_t *value)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t length = u[0] < 0x80   ? 1
			: u[0] < 0xc2 ? 0
			: u[0] < 0xe0 ? 2
			: u[0] < 0xf0 ? 3
			: u[0] < 0xf5 ? 4
				      : 0;
	uint32_t code;

	if (length == 0)
		return 0;
	code = length == 1 ? u[0] : u[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (u[i] & 0x3f);
	}
	if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	*value = code;
	return length;
}

/*
 * Returns false for control characters, and for characters that change the direction of writing: a name with
 * these could change the order of the text around it.
 */
static bool harmless(uint32_t code)
{
	return !(code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff ||
		 (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
		 (code >= 0x2066 && code <= 0x2069) || code == 0xfeff);
}

void format__add_xml(struct format_text *text, const char *string)
{
	for (const char *s = string; *s;) {
		uint32_t code = 0;
		size_t length = decode(s, &code);

		if (*s == '\n')
			format__add(text, "&#10;");
		else if (!length || !harmless(code))
			format__add(text, "\xef\xbf\xbd");
		else if (*s == '<')
			format__add(text, "&lt;");
		else if (*s == '>')
			format__add(text, "&gt;");
		else if (*s == '&')
			format__add(text, "&amp;");
		else if (*s == '"')
			format__add(text, "&quot;");
		else if (*s == '\'')
			format__add(text, "&#39;");
		else
			format__add_bytes(text, s, length);
		s += length ? length : 1;
	}
}

char *format__clean(char *out, size_t size, const char *in, size_t columns)
{
	size_t total = 0, head, tail, at = 0, n = 0;
	uint32_t code;

	for (const char *s = in; *s; total++) {
		size_t length = decode(s, &code);

		s += length ? length : 1;
	}
	head = columns >= 2 ? (columns - 2) / 3 : 0;
	tail = columns >= 2 ? columns - 2 - head : 0;
	for (const char *s = in; *s; n++) {
		size_t length = decode(s, &code);
		bool fine = length && harmless(code);

		if (total <= columns || n < head || n >= total - tail) {
			if (at + (fine ? length : 1) + 1 > size)
				break;
			if (fine)
				memcpy(out + at, s, length);
			else
				out[at] = '?';
			at += fine ? length : 1;
		} else if (n == head && columns >= 2 && at + 3 <= size) {
			memcpy(out + at, "..", 2);
			at += 2;
		}
		s += length ? length : 1;
	}
	if (size)
		out[at] = '\0';
	return out;
}

size_t format__width(const char *clean)
{
	size_t width = 0;

	for (; *clean; clean++)
		width += ((unsigned char)*clean & 0xc0) != 0x80;
	return width;
}

static void three_digits(char *out, size_t size, double value, const char *unit)
{
	snprintf(out, size, value < 9.995 ? "%.2f%s" : value < 99.95 ? "%.1f%s" : "%.0f%s", value, unit);
}

struct format_number format__time(double ns, const char *micro)
{
	struct format_number n;
	char unit[16];

	if (isnan(ns)) {
		snprintf(n.text, sizeof(n.text), "-");
	} else if (ns < 999.5) {
		snprintf(n.text, sizeof(n.text), "%.0f ns", ns);
	} else if (ns < 999.5e3) {
		snprintf(unit, sizeof(unit), " %s", micro);
		three_digits(n.text, sizeof(n.text), ns / 1e3, unit);
	} else if (ns < 999.5e6) {
		three_digits(n.text, sizeof(n.text), ns / 1e6, " ms");
	} else if (ns < 600e9) {
		three_digits(n.text, sizeof(n.text), ns / 1e9, " s");
	} else {
		uint64_t minutes = (uint64_t)(ns / 60e9);

		snprintf(n.text, sizeof(n.text), "%" PRIu64 " h %02u min", minutes / 60,
			 (unsigned)(minutes % 60));
	}
	return n;
}

struct format_number format__bytes(uint64_t bytes)
{
	static const char *const units[] = {" KiB", " MiB", " GiB", " TiB", " PiB"};
	struct format_number n;
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(n.text, sizeof(n.text), "%" PRIu64 " B", bytes);
		return n;
	}
	for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		value /= 1024;
	three_digits(n.text, sizeof(n.text), value, units[unit]);
	return n;
}

struct format_number format__count(uint64_t value)
{
	struct format_number n;
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, value), at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			n.text[at++] = ',';
		n.text[at++] = digits[i];
	}
	n.text[at] = '\0';
	return n;
}

struct format_number format__count_short(uint64_t value)
{
	static const char *const units[] = {"k", "M", "G", "T", "P", "E"};
	struct format_number n;
	double v = (double)value;
	size_t u = 0;

	if (value < 1000) {
		snprintf(n.text, sizeof(n.text), "%" PRIu64, value);
		return n;
	}
	for (v /= 1000; v >= 999.5 && u + 1 < sizeof(units) / sizeof(*units); u++)
		v /= 1000;
	snprintf(n.text, sizeof(n.text), v < 9.95 ? "%.1f%s" : "%.0f%s", v, units[u]);
	return n;
}

struct format_number format__percent(double percent)
{
	struct format_number n;

	if (isnan(percent))
		snprintf(n.text, sizeof(n.text), "-");
	else if (percent > 0 && percent < 0.1)
		snprintf(n.text, sizeof(n.text), "<0.1");
	else
		snprintf(n.text, sizeof(n.text), percent < 9.95 ? "%.1f" : "%.0f", percent);
	return n;
}

struct format_number format__ratio(double value)
{
	struct format_number n;

	if (isnan(value))
		snprintf(n.text, sizeof(n.text), "-");
	else if (isinf(value))
		snprintf(n.text, sizeof(n.text), "inf");
	else if (value >= 1e6)
		snprintf(n.text, sizeof(n.text), "%.2g", value);
	else
		three_digits(n.text, sizeof(n.text), value, "");
	return n;
}
