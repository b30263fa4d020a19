/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/text/summary_writing.h"

#include <string.h>

void summary__table(const struct summary *s, struct columns *table, const struct columns_column *columns,
		    size_t count)
{
	columns__init(table, columns, count);
	table->colour = s->colour;
	table->unicode = s->unicode;
}

void summary__print(struct summary *s, struct columns *table)
{
	fputc('\n', s->out);
	columns__print(table, s->columns, s->out);
	s->failed |= table->failed;
	columns__free(table);
}

void summary__more(const struct summary *s, size_t count, size_t shown, const char *what)
{
	if (count > shown)
		fprintf(s->out, "... %s more %s\n", format__count(count - shown).text, what);
}

void summary__line(const struct summary *s, const char *colour, const char *text)
{
	if (s->colour && *colour)
		fprintf(s->out, "\033[%sm%s\033[0m\n", colour, text);
	else
		fprintf(s->out, "%s\n", text);
}

/* The line is built in memory and cut to the width before colour is added. */
void summary__cut_line(const struct summary *s, const char *escape, const char *text)
{
	char clean[SUMMARY_LINE_BYTES];
	size_t length = 0;

	format__clean(clean, sizeof(clean), text, SIZE_MAX);
	if (format__width(clean) > s->columns) {
		for (size_t n = 0; clean[length] && n < s->columns - 2; n++)
			while (((unsigned char)clean[++length] & 0xc0) == 0x80)
				;
		strcpy(clean + length, "..");
	}
	summary__line(s, escape, clean);
}

void summary__heading(const struct summary *s, const char *title)
{
	fputc('\n', s->out);
	summary__cut_line(s, "1", title);
}

void summary__paragraph(const struct summary *s, const char *first, const char *text)
{
	struct format_text line = {0};
	size_t indent = format__width(first), used = indent;
	char word[256], whole[256];

	format__add(&line, first);
	while (*text) {
		size_t length = strcspn(text, " "), width;

		snprintf(whole, sizeof(whole), "%.*s",
			 (int)(length < sizeof(whole) ? length : sizeof(whole) - 1), text);
		width = format__width(format__clean(word, sizeof(word), whole, s->columns - indent));
		text += length;
		text += strspn(text, " ");
		if (used > indent && used + 1 + width > s->columns) {
			fprintf(s->out, "%s\n", line.data ? line.data : "");
			line.length = 0;
			format__printf(&line, "%*s", (int)indent, "");
			used = indent;
		}
		format__printf(&line, "%s%s", used > indent ? " " : "", word);
		used += (used > indent) + width;
	}
	fprintf(s->out, "%s\n", line.data ? line.data : "");
	format__free(&line);
}

void summary__add_time(struct columns *table, double ns)
{
	columns__add(table, format__time(ns, "us").text);
}

void summary__add_count(struct columns *table, uint64_t count)
{
	columns__add(table, count < 10000000 ? format__count(count).text : format__count_short(count).text);
}

struct grain_definition summary__definition(const struct summary *s, uint32_t definition)
{
	struct grain_definition d = {.source = "unknown", .file = "", .function = "", .kind = ""};

	if (definition < grain_graph__definition_count(s->graph))
		grain_graph__definition(s->graph, definition, &d);
	return d;
}
