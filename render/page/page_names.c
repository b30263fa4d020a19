/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of identifiers. Each identifier is stored as the difference to that of its parent; for a chunk,
 * to that of its loop.
 *
 * 2 N + 1: append ".N". For contexts, N is the signed difference to the number after that of the last
 * sibling. 0: append the bounds of a chunk. Any other value is 2 * the number of bytes of a text in the
 * column of texts; it comes with the number of characters that are cut off the parent's identifier.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/include/grain_steps.h"
#include "render/page/page_fill.h"

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

struct columns {
	struct page_column *codes, *texts;
};

struct page_names {
	struct columns to;
	uint32_t *next;	    /* per context: the ordinal that its next child usually has */
	uint32_t last_loop; /* the loop whose identifier is in f->base */
};

static struct columns add_columns(struct page_columns *out, const char *name)
{
	char text[32];
	struct columns to = {.codes = page_columns__add(out, name)};

	snprintf(text, sizeof(text), "%s_text", name);
	to.texts = page_columns__add(out, text);
	return to;
}

int page_names__new(struct page_fill *f, struct page_names **out)
{
	*out = malloc(sizeof(**out));
	if (!*out)
		return -ENOMEM;
	**out = (struct page_names){.to = add_columns(f->out, "name"),
				    .next = calloc(f->out->contexts + 1, sizeof(uint32_t)),
				    .last_loop = GRAIN_NONE};
	return (*out)->next ? 0 : -ENOMEM;
}

void page_names__free(struct page_names *names)
{
	if (names)
		free(names->next);
	free(names);
}

/* Writes ".N" after the base. `next` is the expected N; NULL: none is expected. */
static void put_ordinal(const struct columns *to, uint64_t ordinal, uint32_t *next)
{
	if (!next) {
		page_column__number(to->codes, 2 * ordinal + 1);
		return;
	}
	page_column__number(to->codes, 2 * page_column__zigzag((int64_t)ordinal - *next) + 1);
	*next = (uint32_t)ordinal + 1;
}

static void put_text(const struct columns *to, const char *text, size_t length, size_t drop)
{
	page_column__number(to->codes, 2 * length);
	page_column__number(to->codes, drop);
	page_column__text(to->texts, text, length);
}

/*
 * Writes the difference of f->id to f->base. `bounds` is the end of a chunk's identifier; NULL: it is no
 * chunk.
 */
static void fill_name(const struct page_fill *f, const struct columns *to, size_t length, size_t base,
		      const char *bounds, uint32_t *next)
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
		put_ordinal(to, ordinal, next);
		return;
	}
	put_text(to, f->id + same, length - same, base - same);
}

/* Returns the end of a chunk's identifier if the reader knows the chunk's bounds, else NULL. */
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

/*
 * Adds an identifier: writes it and the identifier that it continues, and compares them. Returns 0 or
 * -ENOMEM.
 */
static int add_written(struct page_fill *f, uint32_t i, const struct grain_context *c,
		       const struct grain_iterations *it)
{
	struct page_names *names = f->names;
	size_t length, base = 0;
	const char *bounds = NULL;
	char text[64];
	int error = page_fill__id(f, grain_graph__context_id, i, &f->id, &f->id_room, &length);

	if (error)
		return error;
	if (length && f->id[length - 1] == ']' && it->loop != GRAIN_NONE) {
		if (it->loop == names->last_loop)
			base = strlen(f->base);
		else
			error = page_fill__id(f, grain_graph__loop_id, it->loop, &f->base, &f->base_room,
					      &base);
		names->last_loop = error ? GRAIN_NONE : it->loop;
		bounds = error ? NULL : end_of_chunk(f, it, text, sizeof(text));
	} else if (c->parent != GRAIN_NONE) {
		error = page_fill__id(f, grain_graph__context_id, c->parent, &f->base, &f->base_room, &base);
		names->last_loop = GRAIN_NONE;
	}
	if (!error)
		fill_name(f, &names->to, length, base, bounds,
			  c->parent < f->out->contexts ? &names->next[c->parent] : NULL);
	return error;
}

int page_names__add(struct page_fill *f, uint32_t i, const struct grain_context *c)
{
	struct page_names *names = f->names;
	struct grain_iterations it = {.loop = GRAIN_NONE};
	struct grain_step step;

	if (c->kind == GRAIN_CHUNK) {
		if (!grain_graph__iterations(f->graph, i, &it))
			it.loop = GRAIN_NONE;
		if (it.loop != GRAIN_NONE && page_fill__bounded(&it) &&
		    grain_graph__step_is_bounds(f->graph, i)) {
			page_column__number(names->to.codes, 0);
			return 0;
		}
	} else if (grain_graph__step(f->graph, i, &step)) {
		if (step.plain && step.ordinal < LARGEST_ORDINAL) {
			put_ordinal(&names->to, step.ordinal, &names->next[c->parent]);
			return 0;
		}
		if (!step.plain) {
			put_text(&names->to, step.text, strlen(step.text), step.drop);
			return 0;
		}
	}
	return add_written(f, i, c, &it);
}

/*
 * The identifier of a region continues that of its parent. The identifier of a loop continues that of its
 * region; without region, that of its context.
 */
int page_fill__others(struct page_fill *f)
{
	struct columns to = add_columns(f->out, "region_name");
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
			fill_name(f, &to, length, base, NULL, NULL);
	}
	to = add_columns(f->out, "loop_name");
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
			fill_name(f, &to, length, base, NULL, NULL);
	}
	return error;
}
