// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/pages/placement.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 64
#define LOOKS 2 /* the first and the last */

/* An area with a name: a variable, or the rest of a mapping without its variables. */
struct place {
	const char *name, *module, *kind;
	uint64_t start, bytes;
	uint64_t step[LOOKS]; /* 0: the area did not exist then */
	uint64_t absent[LOOKS], hidden[LOOKS];
	uint64_t *pages[LOOKS]; /* examined pages, by node */
};

struct table {
	struct place *places;
	size_t count;
	size_t nodes;
	uint64_t *counts; /* memory for the `pages` of all places */
};

static const char *const look_names[LOOKS] = {"first", "last"};

static size_t count_nodes(const struct pages_look *look, size_t nodes)
{
	for (size_t i = 0; i < look->area_count; i++) {
		const struct pages_area *area = &look->areas[i];

		for (size_t k = area->first; k < area->first + area->count; k++)
			if (look->nodes[k] < PAGES_HIDDEN && look->nodes[k] >= nodes)
				nodes = look->nodes[k] + 1u;
	}
	return nodes;
}

/*
 * Finds the place with this name and kind and, if it has no name, this address. Makes the place if it is
 * new.
 */
static struct place *find(struct table *table, const struct place *wanted)
{
	for (size_t i = 0; i < table->count; i++) {
		struct place *place = &table->places[i];

		if (place->kind == wanted->kind && place->start == wanted->start &&
		    !strcmp(place->name, wanted->name) && !strcmp(place->module, wanted->module) &&
		    (strcmp(wanted->kind, "allocation") || place->bytes == wanted->bytes))
			return place;
	}
	table->places[table->count] = *wanted;
	for (size_t look = 0; look < LOOKS; look++)
		table->places[table->count].pages[look] =
			&table->counts[(table->count * LOOKS + look) * table->nodes];
	return &table->places[table->count++];
}

/* Returns the first variable that ends after the address. */
static const struct data_object *object_behind(const struct data_objects *objects, uint64_t address)
{
	size_t low = 0, high = objects->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (objects->list[middle].start + objects->list[middle].bytes > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < objects->count ? &objects->list[low] : NULL;
}

static struct place *place_of(struct table *table, const struct area *area, const struct data_object *object)
{
	struct place wanted = {
		.name = "",
		.module = "",
		.kind = area_kind__name(area->kind),
		.start = area->start,
		.bytes = area->end - area->start,
	};

	if (object) {
		wanted.name = object->name;
		wanted.module = object->module;
		wanted.start = object->start;
		wanted.bytes = object->bytes;
	} else if (area->kind == AREA_DATA) {
		wanted.module = area->name;
	} else {
		wanted.name = area->name;
	}
	return find(table, &wanted);
}

/* A page belongs to the variable that contains the middle of the page. */
static void count_area(struct table *table, const struct pages_look *look, size_t which,
		       const struct pages_area *area, const struct data_objects *objects)
{
	const struct data_object *object = NULL;
	struct place *place = NULL;
	uint64_t until = 0;

	for (size_t i = 0; i < area->count; i++) {
		uint64_t middle = area->area.start + i * area->step * PAGES_BYTES + PAGES_BYTES / 2;
		uint16_t node = look->nodes[area->first + i];

		if (!place || middle >= until) {
			object = area->area.kind == AREA_DATA ? object_behind(objects, middle) : NULL;
			until = !object			  ? UINT64_MAX
				: object->start <= middle ? object->start + object->bytes
							  : object->start;
			place = place_of(table, &area->area,
					 object && object->start <= middle ? object : NULL);
			if (place->step[which] < area->step)
				place->step[which] = area->step;
		}
		if (node == PAGES_ABSENT)
			place->absent[which]++;
		else if (node == PAGES_HIDDEN)
			place->hidden[which]++;
		else
			place->pages[which][node]++;
	}
}

static size_t most_places(const struct pages_look *look, const struct data_objects *objects)
{
	/* Counts each variable once, and the rest of an area before and after each variable. */
	return look->area_count * 2 + objects->count * 2 + 1;
}

static uint64_t pages_in_memory(const struct place *place, size_t nodes)
{
	uint64_t most = 0;

	for (size_t look = 0; look < LOOKS; look++) {
		uint64_t pages = place->hidden[look] * place->step[look];

		for (size_t node = 0; node < nodes; node++)
			pages += place->pages[look][node] * place->step[look];
		most = pages > most ? pages : most;
	}
	return most;
}

struct ranked {
	uint64_t pages;
	const struct place *place;
};

static int by_pages(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages < y->pages ? 1 : -1;
	return x->place->start < y->place->start ? -1 : x->place->start > y->place->start;
}

static int write_pages(struct trace_writer *writer, const struct table *table, size_t number,
		       const struct place *place, size_t look)
{
	char *text = NULL, hidden[40] = "";
	size_t size;
	FILE *out;
	int error;

	if (!place->step[look])
		return 0;
	if (place->hidden[look])
		snprintf(hidden, sizeof(hidden), " hidden=%" PRIu64, place->hidden[look]);
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	for (size_t node = 0; node < table->nodes; node++)
		if (place->pages[look][node])
			fprintf(out, "%s%zu:%" PRIu64, ftell(out) ? "," : "", node, place->pages[look][node]);
	if (fclose(out) != 0) {
		free(text);
		return -ENOMEM;
	}
	error = trace_writer__textf(writer,
				    "@pages %zu look=%s step=%" PRIu64 " absent=%" PRIu64 "%s nodes=%s",
				    number, look_names[look], place->step[look], place->absent[look], hidden,
				    text[0] ? text : "none");
	free(text);
	return error;
}

static int write_place(struct trace_writer *writer, const struct table *table, size_t number,
		       const struct place *place)
{
	char name[600], module[200], start[32] = "";
	int error;

	trace_writer__quote(place->name, name, sizeof(name));
	trace_writer__quote(place->module, module, sizeof(module));
	if (place->start)
		snprintf(start, sizeof(start), " start=0x%" PRIx64, place->start);
	error = trace_writer__textf(writer, "@area %zu kind=%s name=%s module=%s bytes=%" PRIu64 "%s", number,
				    place->kind, name, module, place->bytes, start);
	for (size_t look = 0; look < LOOKS && !error; look++)
		error = write_pages(writer, table, number, place, look);
	return error;
}

/* If areas were examined with different steps, numbers are counted in pages. */
static void add_to_others(struct place *others, const struct place *place, size_t nodes)
{
	others->bytes += place->bytes;
	for (size_t look = 0; look < LOOKS; look++) {
		others->step[look] = place->step[look] ? 1 : others->step[look];
		others->absent[look] += place->absent[look] * place->step[look];
		others->hidden[look] += place->hidden[look] * place->step[look];
		for (size_t node = 0; node < nodes; node++)
			others->pages[look][node] += place->pages[look][node] * place->step[look];
	}
}

static int write_table(struct trace_writer *writer, struct table *table)
{
	struct ranked *ranked = calloc(table->count + 1, sizeof(*ranked));
	struct place others = {.name = "", .module = "", .kind = "other"};
	size_t shown = table->count < PLACES_MAX ? table->count : PLACES_MAX;
	int error = ranked ? 0 : -ENOMEM;

	for (size_t i = 0; i < table->count && !error; i++)
		ranked[i] =
			(struct ranked){pages_in_memory(&table->places[i], table->nodes), &table->places[i]};
	if (!error)
		qsort(ranked, table->count, sizeof(*ranked), by_pages);
	for (size_t i = 0; i < shown && !error; i++) {
		if (!ranked[i].pages)
			shown = i;
		else
			error = write_place(writer, table, i, ranked[i].place);
	}
	for (size_t look = 0; look < LOOKS; look++)
		others.pages[look] = &table->counts[(table->count * LOOKS + look) * table->nodes];
	for (size_t i = shown; i < table->count && !error; i++)
		add_to_others(&others, ranked[i].place, table->nodes);
	if (!error && pages_in_memory(&others, table->nodes))
		error = write_place(writer, table, shown, &others);
	free(ranked);
	return error;
}

static int write_absent(struct trace_writer *writer, const struct pages *pages)
{
	char why[400];

	trace_writer__quote(pages__absent(pages), why, sizeof(why));
	return trace_writer__textf(writer, "@placement why=%s", why);
}

int placement__write(struct trace_writer *writer, const struct pages *pages,
		     const struct data_objects *objects)
{
	const struct pages_look *looks[LOOKS] = {pages__first(pages), pages__last(pages)};
	struct table table = {.nodes = 1};
	size_t most = 1;
	int error;

	if (!looks[0])
		return write_absent(writer, pages);
	for (size_t look = 0; look < LOOKS; look++) {
		table.nodes = count_nodes(looks[look], table.nodes);
		most += most_places(looks[look], objects);
	}
	table.places = calloc(most, sizeof(*table.places));
	table.counts = calloc(most * LOOKS * table.nodes, sizeof(*table.counts));
	error = table.places && table.counts ? 0 : -ENOMEM;
	for (size_t look = 0; look < LOOKS && !error; look++)
		for (size_t i = 0; i < looks[look]->area_count; i++)
			count_area(&table, looks[look], look, &looks[look]->areas[i], objects);
	if (!error)
		error = trace_writer__textf(writer,
					    "@placement first_ns=%" PRIu64 " last_ns=%" PRIu64
					    " page_bytes=%d",
					    looks[0]->time_ns, looks[1]->time_ns, PAGES_BYTES);
	if (!error)
		error = write_table(writer, &table);
	free(table.counts);
	free(table.places);
	return error;
}
