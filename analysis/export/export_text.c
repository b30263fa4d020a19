/* SPDX-License-Identifier: BSD-2-Clause */
/* Written by hand: linking libxml2 for five characters is too much. */
#include "analysis/export/export_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

const char *const export_context_kinds[] = {"initial", "implicit", "task", "chunk"};

int export__begin(struct export *e, const struct grain_graph *graph, FILE *out)
{
	const struct event_stream *s = graph->stream;

	*e = (struct export){.graph = graph, .id_size = 256};
	e->id = malloc(e->id_size);
	e->nodes = malloc((UINT16_MAX + 1) * sizeof(*e->nodes));
	e->out = json_out__new(out);
	if (!e->id || !e->nodes || !e->out) {
		free(e->id);
		free(e->nodes);
		free(e->out);
		return -ENOMEM;
	}
	for (size_t i = 0; i <= UINT16_MAX; i++)
		e->nodes[i] = GRAIN_NONE;
	for (size_t i = s->cpu_count; i-- > 0;)
		if (s->cpus[i].cpu <= UINT16_MAX)
			e->nodes[s->cpus[i].cpu] = s->cpus[i].node;
	return 0;
}

int export__end(struct export *e, int error)
{
	int written = json_out__finish(e->out);

	free(e->id);
	free(e->nodes);
	return error ? error : written;
}

void export__text(struct export *e, const char *text)
{
	export__bytes(e, text, strlen(text));
}

/* Decodes the character at `s`. *length is its number of bytes. Returns 0 if it is not well-formed UTF-8. */
static uint32_t decode(const unsigned char *s, size_t *length)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	*length = 1;
	if (s[0] >= 0xf8 || (s[0] >= 0x80 && s[0] < 0xc0))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*length = n;
	return c;
}

static const char *xml_escape(unsigned char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\t':
		return "&#9;";
	case '\n':
		return "&#10;";
	case '\r':
		return "&#13;";
	default:
		return c < 0x20 || c == 0x7f ? REPLACEMENT : NULL;
	}
}

void export__xml(struct export *e, const char *text)
{
	const unsigned char *s = (const unsigned char *)text, *plain = s;

	while (*s) {
		const char *instead = NULL;
		size_t length = 1;

		if (*s >= 0x80) {
			uint32_t c = decode(s, &length);

			if (!c || c == 0xfffe || c == 0xffff)
				instead = REPLACEMENT;
		} else {
			instead = xml_escape(*s);
		}
		if (instead) {
			export__bytes(e, (const char *)plain, (size_t)(s - plain));
			export__text(e, instead);
			plain = s + length;
		}
		s += length;
	}
	export__bytes(e, (const char *)plain, (size_t)(s - plain));
}

void export__csv(struct export *e, const char *text)
{
	const unsigned char *s = (const unsigned char *)text, *plain = s;
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		PUT(e, "\"");
	while (*s) {
		size_t length = 1;

		if (*s == '"' || (*s >= 0x80 && !decode(s, &length))) {
			export__bytes(e, (const char *)plain, (size_t)(s - plain));
			export__text(e, *s == '"' ? "\"\"" : REPLACEMENT);
			plain = s + length;
		}
		s += length;
	}
	export__bytes(e, (const char *)plain, (size_t)(s - plain));
	if (quoted)
		PUT(e, "\"");
}

/* Returns the identifier. NULL: there was no memory, and the writer's error is set. */
static const char *find_id(struct export *e, enum id_kind kind, uint32_t index, size_t *length)
{
	*length = graph__id_before(e->graph, kind, index, e->id + e->id_size, e->id_size);
	if (*length > e->id_size) {
		char *larger = realloc(e->id, *length * 2);

		if (!larger) {
			e->out->error = e->out->error ? e->out->error : -ENOMEM;
			return NULL;
		}
		e->id = larger;
		e->id_size = *length * 2;
		graph__id_before(e->graph, kind, index, e->id + e->id_size, e->id_size);
	}
	return e->id + e->id_size - *length;
}

void export__id(struct export *e, enum id_kind kind, uint32_t index)
{
	size_t length;
	const char *id = find_id(e, kind, index, &length);

	if (id)
		export__bytes(e, id, length);
}

void export__csv_id(struct export *e, enum id_kind kind, uint32_t index)
{
	size_t length;
	const char *id = find_id(e, kind, index, &length);
	bool quoted = id && memchr(id, ',', length);

	if (quoted)
		PUT(e, "\"");
	if (id)
		export__bytes(e, id, length);
	if (quoted)
		PUT(e, "\"");
}
