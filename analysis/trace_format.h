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
 *     @site 0xADDRESS source=N loop=static   ... an inline static loop of the compiler
 *     @ident 0xADDRESS text=";FILE;FUNCTION;LINE;COLUMN;;"   what an event's ident points to (ident_t of
 * libomp)
 *     @capture source=uprobes method=uprobe_multi ns_per_event=N resolution_ns=N attach_ns=N late=0|1
 *              scheduler=0|1 scheduler_why=TEXT
 *     @neighbour N pid=N command=NAME cgroup=PATH   a process that ran instead of a thread of this one
 *     @window begin_ns=N             the program was recorded from then on; with end_ns=N cost_ns=N, when
 * that is over: up to then, and probes took so much from the busiest CPU. Between windows nothing was
 * recorded; an empty one says up to when
 *              kept=first|slowest,last,every every=N  it was recorded all the time, but kept are only the
 * first part and, a window each, some parallel regions: the slowest, the last, each N'th
 *     @lost cause=NAME count=N       losses that belong to no thread, at the end
 *     @folded events=N lost=N tasks=N chunks=N work_ns=N first_ns=N last_ns=N ... why=TEXT
 *              of the whole run, where the file has only events of a part; why: not of the whole run, for
 *              that reason
 *     @folded regions_seen=N unkept_large=N unkept_overlapping=N unkept_lost=N unkept_room=N unkept_edge=N
 *             unkept_why=TEXT
 *              of how many regions after the first part some were chosen, and of how many none could be: of
 *              too many events, at the same time as others, with losses, too large for the room, there when
 *              the first part ended; why none
 *     @folded-row site=0x.. ident=0x.. kind=task|taskloop|loop|sections instances=N leaves=N undeferred=N
 *              incomplete=N exec=COUNT,SUM,MIN,MAX,SQUARES,SQUARES create=.. wait=.. buckets=B:COUNT,...
 *              of one call site; SQUARES: upper and lower 64 bits of the sum of squares; bucket B: of
 *              instances with 2^(B-1) <= exec < 2^B
 *     @end reason=exit|detach|duration|shutdown end_ns=N events=N
 * TRACE_CHUNK_EVENTS columns, see struct trace_events_head.
 * TRACE_CHUNK_WORDS  what a thread wrote from inside of its process, see struct trace_words_head.
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
/* trace_header.flags */
#define TRACE_INCOMPLETE 1u /* cleared when the file is closed */
#define TRACE_PART 2u /* it begins in the midst: of each stream, words are read from its first HERE on */

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
	TRACE_CHUNK_WORDS = 4,
};

enum trace_codec {
	TRACE_CODEC_NONE = 0,
	TRACE_CODEC_ZSTD = 1, /* one frame of zstd's or several, one after the other */
	/* On top of either, of words: the payload has a struct trace_words_dictionary. */
	TRACE_CODEC_DICTIONARY = 2,
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
 *   uint64_t extra  only with TRACE_COLUMN_EXTRA; else all 0
 * With TRACE_COLUMNS_PACKED all ten columns, in the order time, key, site,
 * frame, tid, arg, cpu, kind, flags, extra, have a struct trace_column_head and
 * are as narrow as that says; a time's difference d is (d << 1) ^ (d >> 63), so
 * that small ones are small numbers with either sign.
 * Events are ordered by time within one (chunk, cpu) only nearly; a reader
 * sorts by time. An event that causes another has the smaller time.
 */
struct trace_events_head {
	uint32_t count;
	uint32_t columns; /* enum trace_columns */
	uint64_t base_ns;
};

/* One event, by itself: what the columns have of it. */
struct trace_event {
	uint64_t time_ns;
	uint64_t key, site, frame, extra;
	uint32_t tid, arg;
	uint16_t cpu;
	uint8_t kind; /* enum trace_kind */
	uint8_t flags;
};

enum trace_columns { TRACE_COLUMN_EXTRA = 1, TRACE_COLUMNS_PACKED = 2 };

/*
 * Followed by `values` numbers of 8 bytes, the table, and by one number of
 * `width` bytes (0: all are 0; 1, 2, 4, 8) for each event: its value or, with a
 * table (width 1 or 2), the value's place in that.
 */
struct trace_column_head {
	uint32_t width, values;
};
#define TRACE_COLUMNS 10

/*
 * Payload of TRACE_CHUNK_WORDS: this head, `sites` struct trace_word_site, and
 * `words` words in eight planes, one for each byte of all words, the lowest
 * first. With TRACE_CODEC_DICTIONARY there is instead of the lower
 * four planes a struct trace_words_dictionary. The words of a stream follow each
 * other from chunk to chunk; a chunk may end inside of an event.
 *
 * An event is one word and those on top that its kind has:
 *   bits 0-5 kind, 6-18 number of its site (0: none), 19-31 arg,
 *   bits 32-63 ticks since the stream's event before
 * Kinds are those of enum trace_kind, and enum trace_word. What is on top:
 *   TASK_CREATE    the key, if the task is detached or with TRACE_WORD_KEYED; else it is the thread's next
 *   TASK_BEGIN     arg N > 0: the N-th last task that this thread has created; 0: one word, the key
 *   REGION_BEGIN   arg, key                LOOP_BEGIN      arg, key, extra
 *   TEAM_START, MEMBER_BEGIN   key, arg    LOOP_PARAMS, TASK_BOUNDS    key, extra
 *   DEPEND, CHUNK_STRIDE, TASKLOOP_BEGIN, TASK_FULFILL   key
 *   TEAM_STARTED, SECTIONS_BEGIN, SECTION_BEGIN    arg
 *   CHUNK_BEGIN    key, extra, or with TRACE_WORD_SHORT one word: key in its low half, extra - key above
 *   LOCK_WAIT      key, ticks that the wait took
 *   COUNTERS       one to three values, with arg as TRACE_WORD_COUNTERS_*
 *   TRACE_WORD_TURN  as TRACE_WORD_SHORT: CHUNK_NEXT, and TRACE_WORD_TURN_TICKS() later CHUNK_BEGIN
 * A key of TASK_CREATE is (number of the stream's thread) << 40 | number of the task from 1.
 * There is no frame: begins and ends of a stream nest.
 */
struct trace_words_head {
	uint32_t stream; /* one for each thread */
	uint32_t tid;
	uint32_t sites, words;
	/*
	 * Two readings of both clocks, ns that of CLOCK_MONOTONIC: the last of the chunks before (of the
	 * first chunk: one before its words) and one that is later than all words here.
	 */
	uint64_t ticks[2], ns[2];
};

struct trace_word_site {
	uint64_t address;
	uint32_t number; /* below TRACE_WORD_SITES; a number has one address in all of the trace */
	uint32_t reserved;
};
#define TRACE_WORD_SITES (1u << 13)
#define TRACE_WORDS_MAX 65536u

#define TRACE_WORDS_VALUES 255u
#define TRACE_WORDS_OTHER 255u
/*
 * Lower halves of words, which have few values: this head, `values` numbers of 4 bytes, TRACE_WORDS_VALUES at
 * most, `others` numbers of 4 bytes, and a byte for each word: the place of its lower half in the values, or
 * TRACE_WORDS_OTHER: it is the next of the others, of which each is used.
 */
struct trace_words_dictionary {
	uint32_t values, others;
};

#define TRACE_WORD_KIND(word) ((uint32_t)((word)&63))
#define TRACE_WORD_SITE(word) ((uint32_t)((word) >> 6 & (TRACE_WORD_SITES - 1)))
#define TRACE_WORD_ARG(word) ((uint32_t)((word) >> 19 & 0x1fff))
#define TRACE_WORD_TICKS(word) ((uint32_t)((word) >> 32))
#define TRACE_WORD_KEY_BITS 40 /* of the number */
#define TRACE_WORD_KEY(thread, number) ((uint64_t)(thread) << TRACE_WORD_KEY_BITS | (number))

/* No events, but for TRACE_WORD_TURN, which is two. */
enum trace_word {
	TRACE_WORD_HERE = 56, /* TRACE_WORD_HERE_MARK, the time in ticks, the key of the thread's last task;
				 its ticks are the CPU */
	TRACE_WORD_NOTHING = 57, /* by itself; not even ticks */
	TRACE_WORD_TURN = 58,	 /* a thread is done with a chunk and gets its next; no site, no arg */
	TRACE_WORD_JOIN = 59,	 /* number of the thread << 32; arg = TRACE_WORD_OUTSIDE or 0 */
	TRACE_WORD_CPU = 60,	 /* the CPU from here on */
	TRACE_WORD_LOST = 61,	 /* events that are missing here, tasks that the thread had created by then */
	TRACE_WORD_TIME = 63,	 /* the time in ticks */
};

#define TRACE_WORD_HERE_MARK UINT64_C(0x9d3c5f1be8a2476d)

/* In arg of TASK_CREATE: the key is that of a task that runs and hands over its own next part. */
#define TRACE_WORD_KEYED (1u << 12)

/*
 * arg of TRACE_COUNTERS as a word: number of the first counter, how many values follow (1 to
 * TRACE_COUNTERS_EACH), a bit for each of which a part is unknown.
 */
#define TRACE_WORD_COUNTERS_FIRST(arg) ((arg)&15)
#define TRACE_WORD_COUNTERS_COUNT(arg) ((arg) >> 4 & 3)
#define TRACE_WORD_COUNTERS_BLIND(arg) ((arg) >> 6 & 7)

/* arg of TRACE_WORD_JOIN: the event that follows has TRACE_F_OUTSIDE */
#define TRACE_WORD_OUTSIDE 1u

/* arg of CHUNK_BEGIN */
#define TRACE_WORD_SHORT 2u

/* Of TRACE_WORD_TURN: whether the upper bound is the first that is not in the chunk. */
#define TRACE_WORD_TURN_EXCLUSIVE(word) ((word) >> 6 & 1)
#define TRACE_WORD_TURN_TICKS(word) ((uint32_t)(word) >> 7)

#define TRACE_EVENT_COLUMN_BYTES (5 * 8 + 2 * 4 + 2 + 1 + 1)
#define TRACE_CHUNK_MAX_EVENTS 65536u

/*
 * Events as they were observed, before creations are matched with bodies.
 * `key` names a runtime object while it lives (the runtime reuses it), `frame`
 * is the stack pointer, `site` a code address. Append only.
 *
 * `extra` of creations, undeferred tasks, taskloops, regions, waits, groups,
 * singles, sections and cancels is the address of the source string that the
 * compiler handed to the runtime (@ident), 0 where there is none.
 *
 * A team is named by its key on all its members. libgomp's encountering thread
 * says TEAM_START and TEAM_STARTED; libomp's says MEMBER_BEGIN with number 0,
 * which may come after that of its workers: a worker's team is that of the
 * region-begin last before it whose member 0 has the same key.
 *
 * WAIT_END and libomp's REGION_END may be seen below the stack pointer of their
 * begin when that is the innermost open thing of its kind; WAIT_END of a barrier
 * may name either kind of barrier. A taskgroup's wait directly inside that of a
 * barrier comes before it. Ends of loops and sections may come twice.
 *
 * A key that is created again by the very task that it names (libomp's untied
 * tasks) is no creation: that task leaves its thread at its next TASK_END and
 * goes on at the next TASK_BEGIN with that key.
 */
enum trace_kind {
	TRACE_TASK_CREATE = 1,	   /* a deferred task: key, site = call site, arg = enum trace_task_flags */
	TRACE_TASK_CREATE_END = 2, /* ends the thread's open creation */
	TRACE_TASK_BEGIN = 3, /* key of the creation, site = body function; arg = TRACE_BEGIN_DATA: key is an
				 address inside of the creation's object, the last one created below it
				 with this body (TRACE_TASK_BODY_KNOWN) that has not begun */
	TRACE_TASK_END = 4,   /* same frame as its begin */
	TRACE_UNDEFERRED_BEGIN =
		5, /* creation and begin in one; key = body function, site = call site, arg = flags */
	TRACE_UNDEFERRED_END = 6,
	TRACE_REGION_BEGIN =
		7, /* key = body function, site = call site, arg = threads asked for, 0 = default */
	TRACE_REGION_END = 8,
	TRACE_TEAM_START = 9,	 /* key = team, arg = threads; on the encountering thread */
	TRACE_TEAM_STARTED = 10, /* member 0 enters the region's body; arg > 0: the next team of a league that
				    takes turns, or TRACE_TEAMS_OVER */
	TRACE_MEMBER_BEGIN = 11, /* key = team, arg = member number >= 1, site = body function */
	TRACE_WAIT_BEGIN = 12,	 /* arg = enum trace_wait, site = call site or 0 */
	TRACE_WAIT_END = 13,	 /* the end of a TRACE_WAIT_REGION_END wait is also the member's end */
	TRACE_GROUP_BEGIN = 14,	 /* a taskgroup opens; TRACE_WAIT_TASKGROUP closes it */
	TRACE_SINGLE = 15,	 /* arg = 1 on the thread that executes it; its end is not observable */
	TRACE_LOST = 16,	 /* arg = events of this thread that are missing here */
	/* 17 is not used. */
	TRACE_DEPEND = 18, /* key = address, arg = enum trace_depend; of the thread's open creation or, in a
			      TRACE_WAIT_TASKWAIT_DEPEND, of that wait */
	TRACE_TASK_BOUNDS = 19, /* key = lower, extra = upper (inclusive): iterations of a taskloop's task; of
				   the open creation or, when none is open, of the task that has just begun */
	TRACE_TASKLOOP_BEGIN = 20, /* a taskloop call: key = body function, site = call site, arg = flags */
	TRACE_TASKLOOP_END = 21,
	TRACE_TASK_FULFILL = 22, /* key = task: omp_fulfill_event for a detached task */
	TRACE_CANCEL = 23,	 /* arg = enum trace_cancel, site = call site */
	TRACE_LOOP_BEGIN = 24,	 /* key = lower, extra = upper, arg = enum trace_loop, site = call site */
	TRACE_LOOP_PARAMS = 25,	 /* key = step, extra = chunk size (0 unknown), site = ident or 0; follows
				    TRACE_LOOP_BEGIN on the same thread at once */
	TRACE_CHUNK_NEXT = 26,	/* the thread's open chunk is over, it asks for the next; begins the loop of a
				   combined construct if none is open */
	TRACE_CHUNK_BEGIN = 27, /* key = lower, extra = upper, arg = TRACE_LOOP_UPPER_EXCLUSIVE or 0 */
	TRACE_CHUNK_STRIDE = 28, /* key = stride; follows TRACE_CHUNK_BEGIN: the thread also executes the
				    chunks lower + stride, lower + 2 stride, ..., not seen one by one */
	TRACE_LOOP_END = 29, /* no iterations left for this thread, or it left the loop: of the loop open in
				its innermost task or member, ignored when none is open there */
	TRACE_SECTIONS_BEGIN = 30, /* arg = number of sections | TRACE_SECTIONS_OF_REGION, site = call site */
	TRACE_SECTION_NEXT = 31,   /* as TRACE_CHUNK_NEXT */
	TRACE_SECTION_BEGIN = 32,  /* arg = number from 0 */
	TRACE_SECTIONS_END = 33,   /* likewise of sections */
	TRACE_SINGLE_END = 34,	   /* only where it is observable; see TRACE_SINGLE */
	TRACE_LOCK_WAIT = 35, /* at the time the lock was got: key = lock, extra = time the wait began, arg =
				 enum  trace_lock, site = call site */
	TRACE_STATIC_SHARE = 36, /* site = call of omp_get_num_threads; where that site is said to be one
				    (@site ... loop=static), an inline static loop begins here */
	TRACE_OFF_CPU = 37, /* the scheduler takes the thread off; arg = enum trace_off | @neighbour's number
			       << TRACE_OFF_NEIGHBOUR_SHIFT, 0: of none it is told */
	TRACE_ON_CPU = 38,  /* and puts it back; key = since when it could have run, 0: since TRACE_OFF_CPU */
	TRACE_COUNTERS = 39, /* what counters of the thread read at its next event; no event itself. frame,
				key, extra: the values of three, from the first that arg names on; of all
				counters one after the other */
	TRACE_SAMPLE = 40,   /* where the thread is: arg addresses (@address), innermost first; key, frame and
				extra are the first three */
	TRACE_SAMPLE_STACK = 41, /* of the thread's latest TRACE_SAMPLE: key, frame and extra are its
				    addresses from number arg on; no event itself */
	TRACE_ACCESS = 42, /* the thread used memory: key = address of the page, arg = the NUMA node that
			      it was on soon after, or TRACE_ACCESS_UNKNOWN + enum trace_access */
	TRACE_LOST_SWITCHES = 43, /* arg = records of the thread's switches that are missing here, or of
				     others by the kernel; those of its own events come another way */
	TRACE_KIND_MAX
};

/* Why the node of a page is not known. */
enum trace_access {
	TRACE_ACCESS_ABSENT = 1,   /* it was not in memory any more */
	TRACE_ACCESS_UNMAPPED = 2, /* there was none any more, or the one of zeros that all processes share */
	TRACE_ACCESS_ENDED = 3,	   /* the process had ended */
	TRACE_ACCESS_REFUSED = 4,  /* the kernel did not tell */
};
#define TRACE_ACCESS_UNKNOWN 0x10000u

/* cpu of a record for which nobody read it. */
#define TRACE_CPU_UNKNOWN 0xffff

/*
 * arg of TRACE_COUNTERS: number of the first counter | a bit for each of the
 * three of which a part since the thread's last reading is unknown << 8 | kind of the event << 16.
 */
#define TRACE_STACK_EACH 3
#define TRACE_STACK_MAX 63
#define TRACE_COUNTERS_EACH 3
#define TRACE_READING_MAX 8 /* counters of a trace */
#define TRACE_COUNTERS_FIRST(arg) ((arg)&0xff)
#define TRACE_COUNTERS_BLIND(arg) ((arg) >> 8 & 0xff)
#define TRACE_COUNTERS_KIND(arg) ((arg) >> 16)

enum trace_off {
	TRACE_OFF_PREEMPTED = 1,
	TRACE_OFF_BLOCKED = 2,
	TRACE_OFF_YIELDED = 3,
	TRACE_OFF_REASON = 0xff,
};
#define TRACE_OFF_NEIGHBOUR_SHIFT 8

enum trace_wait {
	TRACE_WAIT_TASKWAIT = 1,
	TRACE_WAIT_TASKGROUP = 2,
	TRACE_WAIT_BARRIER = 3,
	TRACE_WAIT_REGION_END = 4, /* the implicit barrier that ends a region */
	TRACE_WAIT_TASKWAIT_DEPEND = 5,
	TRACE_WAIT_BARRIER_IMPLICIT = 6, /* the end of a worksharing construct */
	TRACE_WAIT_TASKYIELD = 7,
};

enum trace_depend {
	TRACE_DEPEND_IN = 1,
	TRACE_DEPEND_OUT = 2,
	TRACE_DEPEND_INOUT = 3,
	TRACE_DEPEND_MUTEXINOUTSET = 4,
	TRACE_DEPEND_INOUTSET = 5,
	TRACE_DEPEND_ALL = 6,	   /* omp_all_memory */
	TRACE_DEPEND_UNREAD = 255, /* key = number of dependences of this task that are not recorded */
};

enum trace_cancel {
	TRACE_CANCEL_PARALLEL = 1,
	TRACE_CANCEL_LOOP = 2,
	TRACE_CANCEL_SECTIONS = 4,
	TRACE_CANCEL_TASKGROUP = 8,
	TRACE_CANCEL_POINT = 16, /* set at a cancellation point that found the construct cancelled */
};

/* arg of TRACE_LOOP_BEGIN: the schedule in the low byte, bits above. */
enum trace_loop {
	TRACE_LOOP_STATIC = 1,
	TRACE_LOOP_DYNAMIC = 2,
	TRACE_LOOP_GUIDED = 3,
	TRACE_LOOP_AUTO = 4,
	TRACE_LOOP_RUNTIME = 5,
	TRACE_LOOP_SCHEDULE = 0xff,
	TRACE_LOOP_ORDERED = 1 << 8,
	TRACE_LOOP_NONMONOTONIC = 1 << 9,
	TRACE_LOOP_DOACROSS = 1 << 10,
	TRACE_LOOP_UNSIGNED = 1 << 11,
	TRACE_LOOP_OF_REGION =
		1 << 12, /* follows TRACE_REGION_BEGIN: describes the loop that its members begin */
	TRACE_LOOP_UPPER_EXCLUSIVE = 1 << 13,
	TRACE_LOOP_IS_SECTIONS = 1 << 14, /* a static loop over the numbers of sections */
	TRACE_LOOP_BOUNDS_HIDDEN = 1 << 15,
	TRACE_LOOP_DISTRIBUTE = 1 << 16,
};

#define TRACE_SECTIONS_OF_REGION (1u << 31)
/* In arg of TRACE_REGION_BEGIN: */
#define TRACE_REGION_TEAMS (1u << 31)
#define TRACE_REGION_OUTERMOST                                                                               \
	(1u << 30) /* its thread is in no other: the one that was recorded last is over */
/* In arg of TRACE_TEAM_STARTED: there is no next team, the league that takes turns ends. */
#define TRACE_TEAMS_OVER (1u << 31)

enum trace_lock {
	TRACE_LOCK_CRITICAL = 1,
	TRACE_LOCK_ORDERED = 2,
	TRACE_LOCK_OMP = 3,
	TRACE_LOCK_DOACROSS = 4,
	TRACE_LOCK_ATOMIC = 5,
};

/* Bits of arg on creations. */
enum trace_task_flags {
	TRACE_TASK_UNTIED = 1 << 0,
	TRACE_TASK_FINAL = 1 << 1,
	TRACE_TASK_MERGEABLE = 1 << 2,
	TRACE_TASK_DEPEND = 1 << 3,
	TRACE_TASK_PRIORITY = 1 << 4,
	TRACE_TASK_DETACH = 1 << 5,
	TRACE_TASK_OF_TASKLOOP = 1 << 6,
	TRACE_TASK_SPLIT = 1 << 7,   /* made by the runtime itself to split a taskloop */
	TRACE_TASK_NOGROUP = 1 << 8, /* taskloop nogroup */
	TRACE_TASK_TARGET = 1 << 9,
	TRACE_TASK_BODY_KNOWN = 1 << 10, /* extra is the body function, not the address of a source string */
};

/* arg of TRACE_TASK_BEGIN */
#define TRACE_BEGIN_DATA 1u

/* trace event flags */
#define TRACE_F_FAULT 1u /* a user page was not readable: site, key or arg may be 0 for that */
#define TRACE_F_OUTSIDE                                                                                      \
	2u /* its thread is in no region and no league, whatever was not seen; of words only */

_Static_assert(sizeof(struct trace_header) == 64, "trace header");
_Static_assert(offsetof(struct trace_header, flags) == 24, "trace header flags");
_Static_assert(sizeof(struct trace_chunk) == 32, "trace chunk");
_Static_assert(offsetof(struct trace_chunk, header_crc) == 28, "trace chunk crc");
_Static_assert(sizeof(struct trace_events_head) == 16, "events head");
_Static_assert(sizeof(struct trace_column_head) == 8, "column head");
_Static_assert(sizeof(struct trace_words_head) == 48 && sizeof(struct trace_word_site) == 16 &&
		       sizeof(struct trace_words_dictionary) == 8,
	       "words");
_Static_assert(sizeof(struct trace_words_head) + TRACE_WORD_SITES * sizeof(struct trace_word_site) +
			       TRACE_WORDS_MAX * 8 <=
		       TRACE_CHUNK_MAX_RAW,
	       "largest words chunk");
_Static_assert(TRACE_CHUNK_MAX_EVENTS *TRACE_EVENT_COLUMN_BYTES + 16 + TRACE_COLUMNS * 8 <=
		       TRACE_CHUNK_MAX_RAW,
	       "largest events chunk");

#endif
