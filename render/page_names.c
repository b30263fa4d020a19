/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifiers, each as it differs from that of its parent (of a chunk: from its
 * loop's): 2 N + 1 for ".N" behind it; 0 for the bounds of a chunk behind it;
 * else 2 * the bytes of a text that is in the column of texts, and how many
 * characters of the parent's go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/page_fill.h"

#define LARGEST_ORDINAL (1u << 30)

int page_fill__id(const struct page_fill *f, page_id_writer *write, uint32_t index, char **buffer,
		  size_t *room, size_t *length)
{
	char *larger;

	*length = write(f->graph, index, *buffer, *room);
	if (*length < *room)
		return 0;
	larger = realloc(*buffer, 2 * *length + 64);
	if (!larger)
		return -ENOMEM;
	*buffer = larger;
	*room = 2 * *length + 64;
	write(f->graph, index, *buffer, *room);
	return 0;
}

struct names {
	struct page_column *codes, *texts;
};

static struct names add_names(struct page_columns *out, const char *name)
{
	char text[32];
	struct names names = {.codes = page_columns__add(out, name)};

	snprintf(text, sizeof(text), "%s_text", name);
	names.texts = page_columns__add(out, text);
	return names;
}

/* Of f->id after f->base; `bounds` is how a chunk's end, NULL: it is none. */
static void fill_name(const struct page_fill *f, const struct names *to, size_t length, size_t base,
		      const char *bounds)
{
	size_t same = 0, digits;
	uint64_t ordinal = 0;

	while (same < length && same < base && f->id[same] == f->base[same])
		same++;
	if (bounds && same == base && strcmp(f->id + same, bounds) == 0) {
		page_column__number(to->codes, 0);
		return;
	}
	digits = same + 1;
	while (digits < length && f->id[digits] >= '0' && f->id[digits] <= '9' && ordinal < LARGEST_ORDINAL)
		ordinal = 10 * ordinal + (uint64_t)(f->id[digits++] - '0');
	if (same == base && same && f->id[same] == '.' && digits == length && length > same + 1) {
		page_column__number(to->codes, 2 * ordinal + 1);
		return;
	}
	page_column__number(to->codes, 2 * (length - same));
	page_column__number(to->codes, base - same);
	page_column__text(to->texts, f->id + same, length - same);
}

/* Of an identifier; hash 0: not known. */
struct mark {
	uint64_t hash;
	size_t length;
};

static struct mark mark_of(const char *id, size_t length)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)id[i]) * 1099511628211u;
	return (struct mark){.hash = hash | 1, .length = length};
}

/*
 * Most contexts are ".N" behind their parent: told by the hash of what is
 * before, so that the parent's identifier need not be made.
 */
static bool fill_ordinal(const struct page_fill *f, const struct names *to, size_t length,
			 const struct mark *parent)
{
	size_t dot = length;
	uint64_t ordinal = 0, unit = 1;
	struct mark before;

	while (dot && f->id[dot - 1] >= '0' && f->id[dot - 1] <= '9' && unit < LARGEST_ORDINAL) {
		ordinal += unit * (uint64_t)(f->id[--dot] - '0');
		unit *= 10;
	}
	if (!dot-- || unit == 1 || f->id[dot] != '.' || dot != parent->length)
		return false;
	before = mark_of(f->id, dot);
	if (before.hash != parent->hash)
		return false;
	page_column__number(to->codes, 2 * ordinal + 1);
	return true;
}

/* How the identifier of a chunk ends, as far as the reader knows its bounds; else NULL. */
static const char *end_of_chunk(const struct page_fill *f, const struct grain_iterations *it, char *text,
				size_t size)
{
	struct grain_loop loop;

	grain_graph__loop(f->graph, it->loop, &loop);
	if (!page_fill__bounded(it))
		return NULL;
	if (loop.sections && it->lower == it->upper)
		snprintf(text, size, "[%lld]", (long long)it->lower);
	else
		snprintf(text, size, "[%lld,%lld]", (long long)it->lower, (long long)it->upper);
	return text;
}

static int name_context(struct page_fill *f, const struct names *to, uint32_t i, struct mark *marks,
			uint32_t *last_loop)
{
	size_t length, base = 0;
	uint32_t parent = f->bodies[i].parent;
	const char *bounds = NULL;
	struct grain_iterations it;
	char text[64];
	int error = page_fill__id(f, grain_graph__context_id, i, &f->id, &f->id_room, &length);

	if (error)
		return error;
	marks[i] = mark_of(f->id, length);
	if (length && f->id[length - 1] == ']' && grain_graph__iterations(f->graph, i, &it) &&
	    it.loop != GRAIN_NONE) {
		if (it.loop == *last_loop)
			base = strlen(f->base);
		else
			error = page_fill__id(f, grain_graph__loop_id, it.loop, &f->base, &f->base_room,
					      &base);
		*last_loop = error ? GRAIN_NONE : it.loop;
		bounds = error ? NULL : end_of_chunk(f, &it, text, sizeof(text));
	} else if (parent != GRAIN_NONE) {
		if (marks[parent].hash && fill_ordinal(f, to, length, &marks[parent]))
			return 0;
		error = page_fill__id(f, grain_graph__context_id, parent, &f->base, &f->base_room, &base);
		*last_loop = GRAIN_NONE;
	}
	if (!error)
		fill_name(f, to, length, base, bounds);
	return error;
}

/* Regions after their parents, loops after their regions or, without, their contexts. */
static int name_others(struct page_fill *f)
{
	struct names to = add_names(f->out, "region_name");
	size_t length, base;
	int error = 0;

	for (uint32_t i = 0; i < f->out->regions && !error; i++) {
		struct grain_region r;

		base = 0;
		grain_graph__region(f->graph, i, &r);
		error = page_fill__id(f, grain_graph__region_id, i, &f->id, &f->id_room, &length);
		if (!error && r.parent != GRAIN_NONE)
			error = page_fill__id(f, grain_graph__context_id, r.parent, &f->base, &f->base_room,
					      &base);
		if (!error)
			fill_name(f, &to, length, base, NULL);
	}
	to = add_names(f->out, "loop_name");
	for (uint32_t i = 0; i < f->out->loops && !error; i++) {
		struct grain_loop l;

		base = 0;
		grain_graph__loop(f->graph, i, &l);
		error = page_fill__id(f, grain_graph__loop_id, i, &f->id, &f->id_room, &length);
		if (!error && l.region != GRAIN_NONE)
			error = page_fill__id(f, grain_graph__region_id, l.region, &f->base, &f->base_room,
					      &base);
		else if (!error && l.context != GRAIN_NONE)
			error = page_fill__id(f, grain_graph__context_id, l.context, &f->base, &f->base_room,
					      &base);
		if (!error)
			fill_name(f, &to, length, base, NULL);
	}
	return error;
}

int page_fill__names(struct page_fill *f)
{
	struct names to = add_names(f->out, "name");
	struct mark *marks = calloc(f->out->contexts + 1, sizeof(*marks));
	uint32_t last_loop = GRAIN_NONE;
	int error = marks ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < f->out->contexts && !error; i++)
		error = name_context(f, &to, i, marks, &last_loop);
	free(marks);
	return error ? error : name_others(f);
}
