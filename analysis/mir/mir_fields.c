/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of a line of comma-separated values. Written by hand: libcsv calls back for each field, with a copy.
 */
#include "analysis/mir/mir.h"

#include <string.h>

/*
 * Takes the field at *at and unquotes it in place. Moves *at behind the comma; after the last field *at is
 * NULL.
 */
static const char *take_field(char **at, struct mir_field *out)
{
	char *s = *at, *to = s;

	if (*s != '"') {
		*out = (struct mir_field){s, strcspn(s, ",")};
		if (memchr(s, '"', out->bytes))
			return "a quote in the middle of a field";
		s += out->bytes;
	} else {
		out->text = to;
		for (s++; *s && (*s != '"' || s[1] == '"'); s++) {
			s += *s == '"';
			*to++ = *s;
		}
		if (*s++ != '"')
			return "a quoted field does not end";
		out->bytes = (size_t)(to - out->text);
		if (*s && *s != ',')
			return "something follows a quoted field";
	}
	*at = *s ? s + 1 : NULL;
	return NULL;
}

const char *mir_fields__split(char *line, struct mir_field fields[MIR_MAX_FIELDS], size_t *count)
{
	const char *wrong = NULL;

	for (*count = 0; line && !wrong; (*count)++) {
		if (*count == MIR_MAX_FIELDS)
			return "more columns than a profile has";
		wrong = take_field(&line, &fields[*count]);
	}
	return wrong;
}

bool mir_field__is(const struct mir_field *f, const char *text)
{
	return f->bytes == strlen(text) && memcmp(f->text, text, f->bytes) == 0;
}

bool mir_field__starts(const struct mir_field *f, const char *text)
{
	return f->bytes >= strlen(text) && memcmp(f->text, text, strlen(text)) == 0;
}

bool mir_field__number(const struct mir_field *f, uint64_t limit, uint64_t *out)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < f->bytes && f->text[i] >= '0' && f->text[i] <= '9'; i++) {
		if (value > limit)
			return false;
		value = value * 10 + (uint64_t)(f->text[i] - '0');
	}
	if (i && i + 3 < f->bytes + 1 && f->bytes - i >= 3 && f->text[i] == 'e' && f->text[i + 1] == '+') {
		unsigned power = 0;

		for (i += 2; i < f->bytes && f->text[i] >= '0' && f->text[i] <= '9' && power < 100; i++)
			power = power * 10 + (unsigned)(f->text[i] - '0');
		for (; power && value <= limit; power--)
			value *= 10;
	}
	*out = value;
	return i && i == f->bytes && value <= limit;
}

bool mir_field__signed(struct mir_field f, int64_t *out)
{
	bool minus = f.bytes && f.text[0] == '-';
	uint64_t value;

	f.text += minus;
	f.bytes -= minus;
	if (!mir_field__number(&f, INT64_MAX / 16, &value))
		return false;
	*out = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

static bool header_has(const char *line, size_t bytes, const char *name)
{
	size_t n = strlen(name);

	for (size_t at = 0; at < bytes; at++) {
		size_t length = 0;

		while (at + length < bytes && line[at + length] != ',')
			length++;
		if ((length == n && !memcmp(line + at, name, n)) ||
		    (length == n + 2 && line[at] == '"' && !memcmp(line + at + 1, name, n)))
			return true;
		at += length;
	}
	return false;
}

bool mir_reader__recognizes(const char *start, size_t bytes)
{
	const char *lf = memchr(start, '\n', bytes);
	size_t length = lf ? (size_t)(lf - start) : bytes;

	length -= length && start[length - 1] == '\r';
	/* Two columns are enough to recognize a profile. If others are missing, an error names them. */
	return header_has(start, length, "task") + header_has(start, length, "joins_at") +
		       header_has(start, length, "exec_cycles") +
		       header_has(start, length, "create_instant") >=
	       2;
}
