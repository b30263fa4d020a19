/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the exports share: text put into a json_out's buffer as other formats
 * spell it, and elements' identifiers. A value is always followed by text.
 */
#ifndef GRAIND_EXPORT_TEXT_H
#define GRAIND_EXPORT_TEXT_H

#include "analysis/graph.h"
#include "analysis/graph_ids.h"
#include "analysis/json_out.h"

struct grain_positions;

struct export
{
	const struct grain_graph *graph;
	struct json_out *out;
	char *id; /* grows to the longest */
	size_t id_size;
	uint32_t *nodes;			 /* by CPU: its NUMA node, GRAIN_NONE */
	const struct grain_positions *positions; /* of the GraphML's nodes; NULL: none */
};

/* 0 or -ENOMEM; the second writes what is buffered and returns the first error. */
int export__begin(struct export *e, const struct grain_graph *graph, FILE *out);
int export__end(struct export *e, int error);

static inline void export__bytes(struct export *e, const char *text, size_t length)
{
	json_out__raw_key(e->out, text, length);
}
#define PUT(e, literal) export__bytes(e, literal, sizeof(literal) - 1)

void export__text(struct export *e, const char *text);
/* In XML, as content and in quotes: what XML 1.0 has no character for, and what is not UTF-8, is U+FFFD. */
void export__xml(struct export *e, const char *text);
/* A field of RFC 4180, in quotes where it needs them; what is not UTF-8 is U+FFFD. */
void export__csv(struct export *e, const char *text);
/* An identifier, which needs no escaping in XML. */
void export__id(struct export *e, enum id_kind kind, uint32_t index);
/* The same as a field: bounds have a comma in them. */
void export__csv_id(struct export *e, enum id_kind kind, uint32_t index);

extern const char *const export_context_kinds[];

#endif
