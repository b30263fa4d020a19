/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a trace as they were observed, and their way to neutral
 * events: creations are matched with bodies by the runtime's object, begins
 * with ends by the stack pointer. Internal to analysis.
 */
#ifndef GRAIND_RESOLVE_H
#define GRAIND_RESOLVE_H

#include "analysis/event_build.h"
#include "analysis/number_map.h"

/* One event, with addresses and threads as indices into the tables of trace_content. */
struct trace_record {
	uint64_t time_ns;
	uint64_t key, frame, extra;
	uint32_t site; /* 0: address 0 */
	uint32_t thread;
	uint32_t arg;
	uint16_t cpu;
	uint8_t kind;  /* enum trace_kind */
	uint8_t flags; /* of the trace in the low four bits, the resolver's own above */
};
_Static_assert(offsetof(struct trace_record, time_ns) == 0 && sizeof(struct trace_record) <= SORTED_MAX_BYTES,
	       "sorted in place");

struct trace_content {
	struct trace_record *records; /* sorted by time */
	size_t count, capacity;
	uint64_t *sites; /* addresses by index */
	uint32_t site_count;
	uint32_t *threads; /* thread IDs by index */
	uint32_t thread_count;
	uint32_t *window_threads; /* by window: threads of it and those before; NULL: there is one window */
	struct number_map site_index, thread_index;
	struct number_map site_source;	/* address -> number of @source */
	struct number_map source_index; /* number of @source -> index into the stream's sources */
	struct number_map static_loops; /* addresses at which inline static loops begin */
	struct number_map ident_index;	/* address -> index into idents */
	struct trace_ident *idents;
	uint32_t ident_count;
	bool capture_known; /* the file says how it was recorded */
};

/* What an event's source string says: ";file;function;line;column;;". */
struct trace_ident {
	char *path, *func;
	uint32_t line;
};
/* False when the text is no such string; the strings are the caller's. */
bool trace_ident__parse(const char *text, struct trace_ident *out);

void trace_content__free(struct trace_content *content);

/*
 * Appends the neutral events of the content to the empty stream and fills its
 * counters. Gives back the memory of the records as it goes.
 */
int resolve__run(struct event_stream *stream, struct trace_content *content, struct budget *budget);

/* What the call sites of a trace are in the source. */
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
	uint32_t *source; /* site * SITE_KIND_MAX + kind -> index, GRAIN_NONE: not asked for yet */
	struct number_map variants;
	struct number_map by_ident; /* ident * SITE_KIND_MAX + kind -> index */
	struct number_map bodies;   /* site of a region -> number of its body's source */
	uint32_t next_number;
};
int site_table__init(struct site_table *table, struct event_stream *stream, struct trace_content *content,
		     struct budget *budget);
/*
 * *out is the index of the source of this site as a construct of this kind.
 * When no line is known of it, what the string at `ident` says (0: no string).
 * GRAIN_NONE when both are nothing.
 */
int site_table__source(struct site_table *table, uint32_t site, uint64_t ident, enum site_kind kind,
		       uint32_t *out);
/*
 * The region that begins at the site has its body at this address. The body is written where the construct
 * is: if the site's line is in another file (GCC gives such calls that of the function that was inlined
 * beside them), the body's stands for it. Before the first site_table__source().
 */
int site_table__body(struct site_table *table, uint32_t site, uint64_t body);
/* Whether a line of the program is known of the site. */
bool site_table__has_line(const struct site_table *table, uint32_t site);
void site_table__free(struct site_table *table);

#endif
