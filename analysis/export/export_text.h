/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the exports: writes text and identifiers of elements into a json_out's buffer, in the syntax of
 * other formats. export__end() returns the error.
 */
#ifndef GRAIND_EXPORT_TEXT_H
#define GRAIND_EXPORT_TEXT_H

#include "analysis/graph/graph.h"
#include "analysis/graph/graph_ids.h"
#include "analysis/export/json_out.h"

struct grain_positions;

struct export
{
	const struct grain_graph *graph;
	struct json_out *out;
	char *id; /* buffer; it grows to the longest identifier */
	size_t id_size;
	uint32_t *nodes;			 /* per CPU: its NUMA node, or GRAIN_NONE */
	const struct grain_positions *positions; /* positions of the GraphML's nodes; NULL: none */
};

/*
 * export__begin() returns 0 or -ENOMEM. export__end() writes what is buffered, and returns the first error.
 */
int export__begin(struct export *e, const struct grain_graph *graph, FILE *out);
int export__end(struct export *e, int error);

static inline void export__bytes(struct export *e, const char *text, size_t length)
{
	json_out__raw_key(e->out, text, length);
}
#define PUT(e, literal) export__bytes(e, literal, sizeof(literal) - 1)

void export__text(struct export *e, const char *text);
/*
 * Escapes text for XML content and quoted attributes. Invalid UTF-8, and characters that XML 1.0 does not
 * have, become U+FFFD.
 */
void export__xml(struct export *e, const char *text);
/* Writes a field of RFC 4180, quoted where needed; invalid UTF-8 becomes U+FFFD. */
void export__csv(struct export *e, const char *text);
/* Writes an identifier, which needs no escaping in XML. */
void export__id(struct export *e, enum id_kind kind, uint32_t index);
/* As export__id(), as a CSV field: bounds contain a comma. */
void export__csv_id(struct export *e, enum id_kind kind, uint32_t index);

extern const char *const export_context_kinds[];

#endif
