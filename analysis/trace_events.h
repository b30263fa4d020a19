/* SPDX-License-Identifier: BSD-2-Clause */
/* From the event columns of a trace's chunks to records in the order of time.
 * Internal to analysis. */
#ifndef GRAIND_TRACE_EVENTS_H
#define GRAIND_TRACE_EVENTS_H

#include "analysis/resolve.h"

/*
 * What a capture writes is out of order only within some ten thousand events:
 * they wait in a window until nothing earlier is to be expected. When something
 * earlier comes all the same, everything is sorted at the end.
 */
struct trace_events {
	struct trace_content *content;
	struct event_stream *stream; /* counts in its truth */
	struct budget *budget;
	struct trace_record *window, *spare; /* sorted ones, then what came after they were */
	uint64_t *keys, *scratch;
	size_t count, kept, capacity; /* kept: of the window, the sorted ones */
	uint64_t last_ns;	      /* of what has left the window */
	bool disordered;
	uint32_t last_tid, last_thread;
	struct known_site {
		uint64_t address;
		uint32_t index;
	} known[64]; /* sites that were met last */
};

/* Address 0 becomes site 0. */
int trace_events__begin(struct trace_events *events, struct trace_content *content,
			struct event_stream *stream, struct budget *budget);
/* Makes room for about so many in all, where there is memory for them; fewer or
 * more may come. */
void trace_events__expect(struct trace_events *events, uint64_t count);
/* The payload of one TRACE_CHUNK_EVENTS. -EBADMSG and in `why` what does not
 * fit; -ENOMEM, -E2BIG. */
int trace_events__chunk(struct trace_events *events, const char *raw, size_t bytes, char why[128]);
/* For readers of other chunks: room for so many more records in the window, which
 * are added at window[count]; then those that need not wait any longer leave it. */
int trace_events__reserve(struct trace_events *events, size_t more);
int trace_events__settle(struct trace_events *events);
/* Numbers of an address and of a thread in records. */
int trace_events__site(struct trace_events *events, uint64_t address, uint32_t *out);
int trace_events__thread(struct trace_events *events, uint32_t tid, uint32_t *out);
/* Adds a wait for a lock: two records, when it began and when it was got. */
void trace_events__add_lock(struct trace_events *events, struct trace_record *got);
/* The latest time of those that wait; 0: none do. */
uint64_t trace_events__latest(const struct trace_events *events);
/* Adds the flag to all that are still in the window. */
void trace_events__mark(struct trace_events *events, uint8_t flag);
/* All that came, sorted by time, stable, is in content->records. */
int trace_events__finish(struct trace_events *events);
void trace_events__free(struct trace_events *events);

/* Puts into a map that belongs to the content. */
int trace_content__put(struct number_map *map, uint64_t key, uint32_t value, struct budget *budget);

#endif
