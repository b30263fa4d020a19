// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/graph/sample_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct sample_name name;
	uint32_t address;
	uint32_t seen; /* number of occurrences in samples */
	bool kernel;
};

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static struct entry entry_of(const struct event_address *a, uint32_t index, bool lines)
{
	const char *func = text_of(a->func), *module = text_of(a->module);

	return (struct entry){
		.name = {.function = func[0]	 ? func
				     : module[0] ? module
						 : "unknown",
			 .file = a->line	    ? text_of(a->file)
				 : func[0] || lines ? module
						    : "",
			 .line = lines ? a->line : 0},
		.address = index,
		.kernel = !strcmp(module, "[kernel]"),
	};
}

/*
 * Inlined code may come from other files. So the name identifies a function, and its file is the most
 * frequent one.
 */
static int by_function(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name.function, y->name.function);

	return order ? order : (int)x->kernel - (int)y->kernel;
}

static int by_line(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = by_function(a, b);

	if (!order)
		order = strcmp(x->name.file, y->name.file);
	return order ? order : (x->name.line > y->name.line) - (x->name.line < y->name.line);
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = by_function(a, b);

	if (!order)
		order = strcmp(x->name.file, y->name.file);
	return order ? order : (x->address > y->address) - (x->address < y->address);
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = by_line(a, b);

	return order ? order : (x->address > y->address) - (x->address < y->address);
}

static int find(const struct event_stream *s, bool lines, struct sample_names **names)
{
	size_t n = s->address_count;
	uint64_t of_file = 0, most = 0;
	struct entry *entries = calloc(n + 1, sizeof(*entries));
	struct sample_names *out = *names = calloc(1, sizeof(*out));

	if (out) {
		out->row = calloc(n + 1, sizeof(*out->row));
		out->names = calloc(n + 1, sizeof(*out->names));
	}
	if (!entries || !out || !out->row || !out->names) {
		free(entries);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		entries[i] = entry_of(&s->addresses[i], (uint32_t)i, lines);
	for (size_t i = 0; i < s->frame_count; i++)
		if (s->frames[i] != GRAIN_NONE)
			entries[s->frames[i]].seen++;
	qsort(entries, n, sizeof(*entries), lines ? by_place : by_name);
	for (size_t i = 0; i < n; i++) {
		bool same_file = i && !strcmp(entries[i - 1].name.file, entries[i].name.file);

		if (i == 0 || (lines ? by_line : by_function)(&entries[i - 1], &entries[i])) {
			out->names[out->count++] = entries[i].name;
			same_file = false;
			most = 0;
		}
		of_file = entries[i].seen + (same_file ? of_file : 0);
		if (of_file > most) {
			most = of_file;
			out->names[out->count - 1].file = entries[i].name.file;
		}
		out->row[entries[i].address] = (uint32_t)out->count - 1;
	}
	free(entries);
	return 0;
}

uint32_t sample_stack__depth(const struct event_stream *stream, const struct event_stack *stack)
{
	for (uint32_t i = 1; i < stack->count; i++) {
		const struct event_address *a = &stream->addresses[stream->frames[stack->first + i]];

		if (a->named && a->module && !strcmp(a->module, "unknown") && !text_of(a->func)[0])
			return i;
	}
	return stack->count;
}

int graph__name_samples(struct grain_graph *graph)
{
	int error = find(graph->stream, false, &graph->functions);

	return error ? error : find(graph->stream, true, &graph->lines);
}

void sample_names__free(struct sample_names *names)
{
	if (!names)
		return;
	free(names->row);
	free(names->names);
	free(names);
}
