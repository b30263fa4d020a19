/* SPDX-License-Identifier: BSD-2-Clause */
/* The observed events of a trace, and the tables that they refer to. Internal to analysis. */
#ifndef GRAIND_TRACE_CONTENT_H
#define GRAIND_TRACE_CONTENT_H

#include "analysis/event/event_build.h"
#include "analysis/base/number_map.h"

/* One event. Addresses and threads are indices into the tables of trace_content. */
struct trace_record {
	uint64_t time_ns;
	uint64_t key, frame, extra;
	uint32_t site; /* 0: address 0 */
	uint32_t thread;
	uint32_t arg;
	uint16_t cpu;
	uint8_t kind;  /* enum trace_kind */
	uint8_t flags; /* low four bits: the trace's flags; above: the resolver's own */
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
	uint32_t *window_threads; /* per window: number of threads in it and in all earlier windows; NULL:
				     there is only one window */
	struct number_map site_index, thread_index;
	struct number_map site_source;	/* address -> number of @source */
	struct number_map source_index; /* number of @source -> index into the stream's sources */
	struct number_map static_loops; /* addresses at which inline static loops begin */
	struct number_map ident_index;	/* address -> index into idents */
	struct trace_ident *idents;
	uint32_t ident_count;
	bool capture_known; /* the file has a @capture line */
};

/* A source string (ident) of an event: ";file;function;line;column;;". */
struct trace_ident {
	char *path, *func;
	uint32_t line;
};
/* Parses a source string. Returns false if it is none. The caller frees the strings of *out. */
bool trace_ident__parse(const char *text, struct trace_ident *out);

void trace_content__free(struct trace_content *content);

/* Adds an entry to one of the content's maps. */
int trace_content__put(struct number_map *map, uint64_t key, uint32_t value, struct budget *budget);

/* Flags of a record; the resolver's survey sets the first two. */
enum record_flags {
	RECORD_ATTACHED = 0x10,	  /* a begin that records are attached to */
	RECORD_INCLUDED = 0x20,	  /* a creation; the body begins inside it */
	RECORD_LOCK_BEGIN = 0x40, /* set by the reader: begin of the wait for the lock */
	RECORD_FIRST_PART =
		0x80, /* set by the folder: the record is in the part of a long job that becomes the graph */
};
#define RECORD_NONE 0 /* kind of a record that was attached to an earlier one, and is skipped */

#endif
