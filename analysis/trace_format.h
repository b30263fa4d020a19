/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace file (.grt), version 1. Little-endian.
 *
 *   file  = struct trace_header, chunk*
 *   chunk = struct trace_chunk, payload of stored_bytes
 *
 * Append-only: a file is readable up to its last whole chunk. A file whose
 * header carries TRACE_INCOMPLETE, or that has no TRACE_CHUNK_END, was not
 * closed by its writer (crash, full disk, kill -9, or still being written).
 *
 * TRACE_CHUNK_TEXT   UTF-8 lines, each ended by LF, in the syntax of the event
 *                    log's "@" lines (@machine, @process, @source, ...) plus
 *     @module start=0x.. end=0x.. offset=0x.. path=..   one executable mapping
 *     @site 0xADDRESS source=N       code address -> @source number
 *     @capture source=uprobes method=uprobe_multi ns_per_event=N resolution_ns=N attach_ns=N late=0|1
 *     @lost cause=NAME count=N       losses that belong to no thread, at the end
 *     @end reason=exit|detach|duration|shutdown end_ns=N events=N
 * TRACE_CHUNK_EVENTS columns, see struct trace_events_head.
 * TRACE_CHUNK_END    empty; the writer closed the file properly.
 *
 * A reader accepts unknown chunk types and unknown "@" lines by skipping them,
 * and rejects everything else that does not fit with the file offset.
 */
#ifndef GRAIND_TRACE_FORMAT_H
#define GRAIND_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC "GRAINTRC"
#define TRACE_VERSION 1
#define TRACE_INCOMPLETE 1u /* trace_header.flags; cleared when the file is closed */

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct trace_header) or more */
	uint64_t created_ns;   /* CLOCK_REALTIME */
	uint32_t flags;
	uint32_t reserved[9];
};

#define TRACE_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define TRACE_CHUNK_MAX_RAW (8u << 20)

/* Append only: numbers are never reused. */
enum trace_chunk_type {
	TRACE_CHUNK_TEXT = 1,
	TRACE_CHUNK_EVENTS = 2,
	TRACE_CHUNK_END = 3,
};

enum trace_codec {
	TRACE_CODEC_NONE = 0,
	TRACE_CODEC_ZSTD = 1,
};

struct trace_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t codec;
	uint32_t raw_bytes;    /* of the payload when decompressed */
	uint32_t stored_bytes; /* of the payload in the file */
	uint64_t sequence;     /* 0, 1, 2, ... */
	uint32_t payload_crc;  /* CRC-32 (zlib's) of the stored payload */
	uint32_t header_crc;   /* CRC-32 of the bytes of this struct before this field */
};

/*
 * Payload of TRACE_CHUNK_EVENTS: this head, then the columns one after
 * another, each `count` values:
 *   uint64_t time   difference to the previous event's time (modulo 2^64);
 *                   the first to base_ns
 *   uint64_t key, site, frame
 *   uint32_t tid, arg
 *   uint16_t cpu
 *   uint8_t  kind, flags
 * Events are ordered by time within one (chunk, cpu) only nearly; a reader
 * sorts by time. An event that causes another has the smaller time.
 */
struct trace_events_head {
	uint32_t count;
	uint32_t reserved;
	uint64_t base_ns;
};

#define TRACE_EVENT_COLUMN_BYTES (4 * 8 + 2 * 4 + 2 + 1 + 1)
#define TRACE_CHUNK_MAX_EVENTS 65536u

/*
 * Events as they were observed, before creations are matched with bodies.
 * `key` names a runtime object while it lives (the runtime reuses it), `frame`
 * is the stack pointer, `site` a code address. Append only.
 */
enum trace_kind {
	TRACE_TASK_CREATE = 1,	   /* a deferred task: key, site = call site, arg = enum trace_task_flags */
	TRACE_TASK_CREATE_END = 2, /* ends the thread's open creation */
	TRACE_TASK_BEGIN = 3,	   /* key of the creation, site = body function */
	TRACE_TASK_END = 4,	   /* same frame as its begin */
	TRACE_UNDEFERRED_BEGIN =
		5, /* creation and begin in one; key = body function, site = call site, arg = flags */
	TRACE_UNDEFERRED_END = 6,
	TRACE_REGION_BEGIN =
		7, /* key = body function, site = call site, arg = threads asked for, 0 = default */
	TRACE_REGION_END = 8,
	TRACE_TEAM_START = 9,	 /* key = team, arg = threads; on the encountering thread */
	TRACE_TEAM_STARTED = 10, /* member 0 enters the region's body */
	TRACE_MEMBER_BEGIN = 11, /* key = team, arg = member number >= 1, site = body function */
	TRACE_WAIT_BEGIN = 12,	 /* arg = enum trace_wait, site = call site or 0 */
	TRACE_WAIT_END = 13,	 /* the end of a TRACE_WAIT_REGION_END wait is also the member's end */
	TRACE_GROUP_BEGIN = 14,	 /* a taskgroup opens; TRACE_WAIT_TASKGROUP closes it */
	TRACE_SINGLE = 15,	 /* arg = 1 on the thread that executes it; its end is not observable */
	TRACE_LOST = 16,	 /* arg = events of this thread that are missing here */
	TRACE_KIND_MAX
};

enum trace_wait {
	TRACE_WAIT_TASKWAIT = 1,
	TRACE_WAIT_TASKGROUP = 2,
	TRACE_WAIT_BARRIER = 3,
	TRACE_WAIT_REGION_END = 4, /* the implicit barrier that ends a region */
};

/* Bits of arg on creations. */
enum trace_task_flags {
	TRACE_TASK_UNTIED = 1 << 0,
	TRACE_TASK_FINAL = 1 << 1,
	TRACE_TASK_MERGEABLE = 1 << 2,
	TRACE_TASK_DEPEND = 1 << 3,
	TRACE_TASK_PRIORITY = 1 << 4,
	TRACE_TASK_DETACH = 1 << 5,
};

/* trace event flags */
#define TRACE_F_FAULT 1u /* a user page was not readable: site, key or arg may be 0 for that */

_Static_assert(sizeof(struct trace_header) == 64, "trace header");
_Static_assert(offsetof(struct trace_header, flags) == 24, "trace header flags");
_Static_assert(sizeof(struct trace_chunk) == 32, "trace chunk");
_Static_assert(offsetof(struct trace_chunk, header_crc) == 28, "trace chunk crc");
_Static_assert(sizeof(struct trace_events_head) == 16, "events head");
_Static_assert(TRACE_CHUNK_MAX_EVENTS *TRACE_EVENT_COLUMN_BYTES + 16 <= TRACE_CHUNK_MAX_RAW,
	       "largest events chunk");

#endif
