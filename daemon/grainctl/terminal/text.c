/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/terminal/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns the length of the valid UTF-8 sequence at `s`; 0: it is not valid. *code is its code point. */
static size_t decode(const unsigned char *s, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		length = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		length = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		length = 4;
	else
		return 0;
	*code = s[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

static int harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029;
}

void text__clean(char *out, size_t size, const char *in)
{
	const unsigned char *s = (const unsigned char *)in;
	size_t used = 0;

	if (!size)
		return;
	while (*s) {
		uint32_t code = 0;
		size_t length = decode(s, &code);
		size_t need = length && !harmful(code) ? length : 1;

		if (used + need >= size)
			break;
		if (length && !harmful(code)) {
			for (size_t i = 0; i < length; i++)
				out[used + i] = (char)s[i];
		} else {
			out[used] = code == '\t' || code == '\n' ? ' ' : '?';
		}
		used += need;
		s += length ? length : 1;
	}
	out[used] = 0;
}

size_t text__width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

size_t text__prefix(const char *text, size_t columns)
{
	size_t i = 0;

	while (text[i]) {
		if (((unsigned char)text[i] & 0xc0) != 0x80) {
			if (columns == 0)
				break;
			columns--;
		}
		i++;
	}
	return i;
}

void text__count(char *out, size_t size, double value)
{
	static const char units[] = {0, 'k', 'M', 'G', 'T'};
	size_t unit = 0;

	while (value >= 999.5 && unit + 1 < sizeof(units)) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(out, size, "%.0f", value);
	else
		snprintf(out, size, value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

void text__duration(char *out, size_t size, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000u;

	if (ns < 59950000000u)
		snprintf(out, size, "%.1fs", (double)ns / 1e9);
	else if (seconds < 3600)
		snprintf(out, size, "%um%02us", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
	else if (seconds < 86400)
		snprintf(out, size, "%uh%02um", (unsigned)(seconds / 3600), (unsigned)(seconds / 60 % 60));
	else
		snprintf(out, size, "%llud%02uh", (unsigned long long)(seconds / 86400),
			 (unsigned)(seconds / 3600 % 24));
}

unsigned text__columns(void)
{
	const char *variable = getenv("COLUMNS");
	unsigned long columns = variable ? strtoul(variable, NULL, 10) : 0;
	struct winsize window;

	if (!columns && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &window))
		columns = window.ws_col;
	if (!columns)
		columns = 80;
	if (columns < 60)
		return 60;
	return columns > 400 ? 400 : (unsigned)columns;
}

bool text__utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

void text__print_wrapped(const char *text, size_t indent, size_t width, bool first_indented)
{
	bool indented = !first_indented;

	while (*text) {
		size_t room = width > indent + 20 ? width - indent : 20;
		size_t bytes = text__prefix(text, room);

		if (text[bytes]) {
			size_t cut = bytes;

			while (cut > 0 && text[cut] != ' ')
				cut--;
			if (cut > 0)
				bytes = cut;
		}
		printf("%*s%.*s\n", indented ? 0 : (int)indent, "", (int)bytes, text);
		indented = false;
		text += bytes;
		while (*text == ' ')
			text++;
	}
}
