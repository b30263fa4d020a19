/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The resolver turns the observed events of a trace into neutral events. It matches creations with bodies by
 * the address of the runtime's object, and begins with ends by the stack pointer. Internal to analysis.
 */
#ifndef GRAIND_RESOLVE_H
#define GRAIND_RESOLVE_H

#include "analysis/trace/trace_content.h"

/*
 * Appends the neutral events of the content to the empty stream, and fills in the stream's counters. Frees
 * the memory of the records as it goes. Returns 0 or a negative errno.
 */
int resolve__run(struct event_stream *stream, struct trace_content *content, struct budget *budget);

/* The kind of construct at a call site. */
enum site_kind {
	SITE_TASK,
	SITE_PARALLEL,
	SITE_TASKWAIT,
	SITE_TASKGROUP,
	SITE_BARRIER,
	SITE_LOOP,
	SITE_SECTIONS,
	SITE_SINGLE,
	SITE_TASKLOOP,
	SITE_CRITICAL,
	SITE_ORDERED,
	SITE_LOCK,
	SITE_DOACROSS,
	SITE_ATOMIC,
	SITE_CANCEL,
	SITE_TEAMS,
	SITE_TASKYIELD,
	SITE_KIND_MAX
};
struct site_table {
	struct event_stream *stream;
	struct trace_content *content;
	struct budget *budget;
	uint32_t *source; /* index: site * SITE_KIND_MAX + kind; value: index of the source; GRAIN_NONE: not
			     asked for yet */
	struct number_map variants;
	struct number_map by_ident; /* ident * SITE_KIND_MAX + kind -> index */
	struct number_map bodies;   /* site of a region -> number of the source of its body */
	uint32_t next_number;
};
int site_table__init(struct site_table *table, struct event_stream *stream, struct trace_content *content,
		     struct budget *budget);
/*
 * *out is the index of the source of this site as a construct of this kind. The source comes from the site's
 * line, else from the string at `ident` (0: none). GRAIN_NONE: neither is known.
 */
int site_table__source(struct site_table *table, uint32_t site, uint64_t ident, enum site_kind kind,
		       uint32_t *out);
/*
 * Tells the table that the body of the region that begins at `site` is at address `body`. A body is in the
 * same file as its construct. If the site's line is in another file, the body's line is used for the site:
 * GCC gives such a call the line of a function that was inlined next to it. Call it before the first
 * site_table__source().
 */
int site_table__body(struct site_table *table, uint32_t site, uint64_t body);
/* Whether the line of the site is known. */
bool site_table__has_line(const struct site_table *table, uint32_t site);
void site_table__free(struct site_table *table);

#endif
