// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[SITE_KIND_MAX] = {
	[SITE_TASK] = "task",		[SITE_PARALLEL] = "parallel",  [SITE_TASKWAIT] = "taskwait",
	[SITE_TASKGROUP] = "taskgroup", [SITE_BARRIER] = "barrier",    [SITE_LOOP] = "loop",
	[SITE_SECTIONS] = "sections",	[SITE_SINGLE] = "single",      [SITE_TASKLOOP] = "taskloop",
	[SITE_CRITICAL] = "critical",	[SITE_ORDERED] = "ordered",    [SITE_LOCK] = "lock",
	[SITE_DOACROSS] = "doacross",	[SITE_ATOMIC] = "atomic",      [SITE_CANCEL] = "cancel",
	[SITE_TEAMS] = "teams",		[SITE_TASKYIELD] = "taskyield"};

int site_table__init(struct site_table *table, struct event_stream *stream, struct trace_content *content,
		     struct budget *budget)
{
	size_t count = ((size_t)content->site_count + 1) * SITE_KIND_MAX;
	int error;

	*table = (struct site_table){.stream = stream, .content = content, .budget = budget};
	error = budget__take(budget, count * sizeof(*table->source));
	if (error)
		return error;
	table->source = malloc(count * sizeof(*table->source));
	if (!table->source)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		table->source[i] = GRAIN_NONE;
	for (size_t i = 0; i < stream->source_count; i++) {
		if (stream->sources[i].number >= table->next_number)
			table->next_number = stream->sources[i].number + 1;
	}
	return 0;
}

void site_table__free(struct site_table *table)
{
	free(table->source);
	number_map__free(&table->variants);
	number_map__free(&table->by_ident);
	number_map__free(&table->bodies);
}

/* Takes ownership of what source points to. */
static int add(struct site_table *table, struct event_source *source, uint32_t *out)
{
	source->number = table->next_number;
	if (table->next_number == GRAIN_NONE) {
		event_source__clear(source);
		return -E2BIG;
	}
	table->next_number++;
	*out = (uint32_t)table->stream->source_count;
	return event_stream__add_source(table->stream, source, table->budget);
}

static int add_unknown(struct site_table *table, uint64_t address, enum site_kind kind, uint32_t *out)
{
	struct event_source source = {.kind = strdup(kind_names[kind])};

	if (!source.kind || asprintf(&source.module, "0x%llx", (unsigned long long)address) < 0) {
		source.module = NULL;
		event_source__clear(&source);
		return -ENOMEM;
	}
	return add(table, &source, out);
}

/*
 * Returns the declared source as a construct of this kind: the source itself if it has that kind or none yet,
 * else a copy.
 */
static int variant(struct site_table *table, uint32_t index, enum site_kind kind, uint32_t *out)
{
	struct event_source *s = &table->stream->sources[index], copy;
	uint64_t key = (uint64_t)index * SITE_KIND_MAX + kind;
	int error;

	if (!s->kind[0]) {
		char *name = strdup(kind_names[kind]);

		if (!name)
			return -ENOMEM;
		free(s->kind);
		s->kind = name;
	}
	*out = index;
	if (strcmp(s->kind, kind_names[kind]) == 0)
		return 0;
	*out = number_map__get(&table->variants, key);
	if (*out != GRAIN_NONE)
		return 0;
	copy = (struct event_source){.file = strdup(s->file),
				     .func = strdup(s->func),
				     .kind = strdup(kind_names[kind]),
				     .path = strdup(s->path),
				     .module = strdup(s->module),
				     .line = s->line};
	if (!copy.file || !copy.func || !copy.kind || !copy.path || !copy.module) {
		event_source__clear(&copy);
		return -ENOMEM;
	}
	error = add(table, &copy, out);
	return error ? error : number_map__put(&table->variants, key, *out);
}

bool site_table__has_line(const struct site_table *table, uint32_t site)
{
	uint32_t number = number_map__get(&table->content->site_source, table->content->sites[site]), index;

	if (site == 0 || number == GRAIN_NONE)
		return false;
	index = number_map__get(&table->content->source_index, number);
	return index != GRAIN_NONE && table->stream->sources[index].line != 0;
}

static int of_ident(struct site_table *table, uint32_t ident, enum site_kind kind, uint32_t *out)
{
	const struct trace_ident *known = &table->content->idents[ident];
	const char *slash = strrchr(known->path, '/');
	struct event_source source;
	uint64_t key = (uint64_t)ident * SITE_KIND_MAX + kind;
	int error;

	*out = number_map__get(&table->by_ident, key);
	if (*out != GRAIN_NONE)
		return 0;
	source = (struct event_source){.file = strdup(slash ? slash + 1 : known->path),
				       .path = strdup(slash ? known->path : ""),
				       .func = strdup(known->func),
				       .kind = strdup(kind_names[kind]),
				       .line = known->line};
	if (!source.file || !source.path || !source.func || !source.kind) {
		event_source__clear(&source);
		return -ENOMEM;
	}
	error = add(table, &source, out);
	return error ? error : number_map__put(&table->by_ident, key, *out);
}

int site_table__body(struct site_table *table, uint32_t site, uint64_t body)
{
	uint32_t number = body ? number_map__get(&table->content->site_source, body) : GRAIN_NONE;

	if (number == GRAIN_NONE || number_map__get(&table->bodies, site) != GRAIN_NONE)
		return 0;
	return number_map__put(&table->bodies, site, number);
}

static bool is_one_file(const struct event_source *a, const struct event_source *b)
{
	return a->path[0] && b->path[0] ? strcmp(a->path, b->path) == 0 : strcmp(a->file, b->file) == 0;
}

/* Returns the source of the construct whose call at the site has the source `index`. */
static uint32_t construct_of(const struct site_table *table, uint32_t site, uint32_t index)
{
	const struct event_source *sources = table->stream->sources;
	uint32_t number = number_map__get(&table->bodies, site), body = GRAIN_NONE;

	if (number != GRAIN_NONE)
		body = number_map__get(&table->content->source_index, number);
	return body != GRAIN_NONE && sources[body].line && sources[index].line &&
			       !is_one_file(&sources[body], &sources[index])
		       ? body
		       : index;
}

int site_table__source(struct site_table *table, uint32_t site, uint64_t ident, enum site_kind kind,
		       uint32_t *out)
{
	uint32_t *known = &table->source[(size_t)site * SITE_KIND_MAX + kind], index = GRAIN_NONE;
	uint64_t address = table->content->sites[site];
	int error = 0;

	if (ident && !site_table__has_line(table, site)) {
		index = number_map__get(&table->content->ident_index, ident);
		if (index != GRAIN_NONE)
			return of_ident(table, index, kind, out);
	}
	if (*known == GRAIN_NONE && address) {
		uint32_t number = number_map__get(&table->content->site_source, address);

		if (number != GRAIN_NONE)
			index = number_map__get(&table->content->source_index, number);
		if (index != GRAIN_NONE && (kind == SITE_PARALLEL || kind == SITE_TEAMS))
			index = construct_of(table, site, index);
		if (index == GRAIN_NONE)
			error = add_unknown(table, address, kind, known);
		else
			error = variant(table, index, kind, known);
		if (error)
			*known = GRAIN_NONE;
	}
	*out = *known;
	return error;
}
