/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tables of the text summary are made of. */
#include "render/summary.h"

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
