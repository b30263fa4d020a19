/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the event columns of a trace's chunks into records that are sorted by time. Internal to analysis. */
#ifndef GRAIND_TRACE_EVENTS_H
#define GRAIND_TRACE_EVENTS_H

#include "analysis/trace/trace_content.h"

/*
 * The events of a capture are out of order only within some ten thousand events. So records wait in a window
 * until no earlier record is expected. If an earlier one comes later than that, everything is sorted at the
 * end.
 */
struct trace_events {
	struct trace_content *content;
	struct event_stream *stream; /* its truth counts events and losses */
	struct budget *budget;
	struct trace_record *window,
		*spare; /* first the sorted records, then those added after the last sort */
	uint64_t *keys, *scratch;
	size_t count, kept, capacity; /* kept: number of sorted records in the window */
	uint64_t last_ns;	      /* time of the last record that has left the window */
	bool disordered;
	uint32_t last_tid, last_thread;
	struct known_site {
		uint64_t address;
		uint32_t index;
	} known[64]; /* cache of sites */
};

/* Begins the reading. Address 0 becomes site 0. */
int trace_events__begin(struct trace_events *events, struct trace_content *content,
			struct event_stream *stream, struct budget *budget);
/*
 * Makes room for about `count` records in total, if there is memory. This is a hint: fewer or more may come.
 */
void trace_events__expect(struct trace_events *events, uint64_t count);
/*
 * Reads the payload of one TRACE_CHUNK_EVENTS. Returns 0, -EBADMSG with the reason in `why`, -ENOMEM or
 * -E2BIG.
 */
int trace_events__chunk(struct trace_events *events, const char *raw, size_t bytes, char why[128]);
/*
 * For readers of other chunks. Makes room for `more` records in the window; the caller adds them at
 * window[count]. Then trace_events__settle() moves out the records that need not wait longer.
 */
int trace_events__reserve(struct trace_events *events, size_t more);
int trace_events__settle(struct trace_events *events);
/* Return the index of an address and of a thread, for records. */
int trace_events__site(struct trace_events *events, uint64_t address, uint32_t *out);
int trace_events__thread(struct trace_events *events, uint32_t tid, uint32_t *out);
/* Adds a wait for a lock as two records: its begin, and the acquisition. */
void trace_events__add_lock(struct trace_events *events, struct trace_record *got);
/* Returns the latest time of the records in the window. 0: the window is empty. */
uint64_t trace_events__latest(const struct trace_events *events);
/* Sets the flag in all records that are still in the window. */
void trace_events__mark(struct trace_events *events, uint8_t flag);
/* Puts all records into content->records, sorted by time (stable). */
int trace_events__finish(struct trace_events *events);
void trace_events__free(struct trace_events *events);

#endif
