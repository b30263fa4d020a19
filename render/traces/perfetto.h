/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes packets of a Perfetto trace: one sequence, whose first packet interns the names. Field numbers are
 * those in perfetto's protos/perfetto/trace.
 */
#ifndef GRAIND_RENDER_PERFETTO_H
#define GRAIND_RENDER_PERFETTO_H

#include "analysis/include/grain.h"
#include "render/traces/protobuf.h"

enum perfetto_field {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK = 60,

	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_PLAIN_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_SOURCE_LOCATION = 34,
	EVENT_FLOW = 47,
	EVENT_TERMINATING_FLOW = 48,

	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_LOCATION = 4,
	INTERNED_ID = 1,
	INTERNED_TEXT = 2,
	LOCATION_FILE = 2,
	LOCATION_FUNCTION = 3,
	LOCATION_LINE = 4,

	ANNOTATION_NAME = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_PLAIN_NAME = 10,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_COMMAND = 2,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,
};

enum perfetto_event { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };

/* Numbers of tracks: the process, then counters, then threads. */
enum { PERFETTO_PROCESS_TRACK = 1, PERFETTO_COUNTER_TRACKS = 2, PERFETTO_THREAD_TRACKS = 1024 };

struct perfetto {
	const struct grain_graph *graph;
	FILE *out;
	struct protobuf packets; /* complete packets and the present one; complete ones are written when there
				    are many */
	size_t packet;		 /* begin of the present packet */
	bool begun;		 /* a packet was written */
};

/*
 * Begin and end a packet. In between, its fields go into perfetto.packets. perfetto__end() returns 0 or a
 * negative errno.
 */
void perfetto__begin(struct perfetto *p);
int perfetto__end(struct perfetto *p);
/* Writes the remaining packets. Returns 0 or a negative errno. */
int perfetto__flush(struct perfetto *p);

/* Begins an event in a packet, with its time. The event stays open for more fields. */
size_t perfetto__begin_event(struct perfetto *p, uint64_t time_ns, enum perfetto_event type, uint64_t track);

/*
 * perfetto_counters.c: writes how many grains run, wait to run and are under way, in exact steps, and the
 * counters of the capture. Returns 0 or a negative errno.
 */
int perfetto__write_counters(struct perfetto *p);

#endif
