/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace file (.grt), version 1. Little-endian.
 *
 *   file  = struct trace_header, chunk*
 *   chunk = struct trace_chunk, payload of stored_bytes
 *
 * A writer only appends: a file is readable up to its last whole chunk. If the header has TRACE_INCOMPLETE,
 * or if there is no TRACE_CHUNK_END, the writer has not closed the file (crash, full disk, kill -9, or it
 * still writes).
 *
 * TRACE_CHUNK_TEXT   UTF-8 lines, each ended by LF, in the syntax of the event
 *                    log's "@" lines (@machine, @process, @source, ...) plus
 *     @module start=0x.. end=0x.. offset=0x.. path=..
 *         An executable mapping of the process.
 *     @site 0xADDRESS source=N
 *     @site 0xADDRESS source=N loop=static ...
 *         Code address -> number of a @source line; loop=static: an inline static loop of the compiler.
 *     @ident 0xADDRESS text=";FILE;FUNCTION;LINE;COLUMN;;"
 *         What an event's ident points to (ident_t of libomp).
 *     @capture source=uprobes method=uprobe_multi ns_per_event=N resolution_ns=N attach_ns=N late=0|1
 *             scheduler=0|1 scheduler_why=TEXT
 *         How the events were recorded.
 *     @neighbour N pid=N command=NAME measuring=0|1 cgroup=PATH
 *         A process that ran in place of a thread of this one.
 *     @window begin_ns=N [end_ns=N cost_ns=N] [kept=first|slowest,last,every every=N]
 *         The program was recorded from begin_ns to end_ns; cost_ns: what probes took from the busiest CPU.
 *         Without end_ns the window is still open. Nothing was recorded between windows. An empty window
 *         means that nothing was recorded up to its time. With kept= the whole run was recorded, but only
 * some windows are kept: the first part, and some parallel regions, one in each window (the slowest, the
 *         last, each N'th).
 *     @lost cause=NAME count=N
 *         Losses that belong to no thread; at the end.
 *     @folded events=N lost=N tasks=N chunks=N work_ns=N first_ns=N last_ns=N ... why=TEXT
 *         Sums over the whole run, if the file has only events of a part. why: the reason if the sums are
 *         not of the whole run.
 *     @folded regions_seen=N unkept_large=N unkept_overlapping=N unkept_lost=N unkept_room=N unkept_edge=N
 *             unkept_why=TEXT
 *         Number of regions after the first part, from which some were chosen. Also how many of them could
 *         not be kept, and why: too many events, another region at the same time, losses, too large for the
 *         room, or already open when the first part ended. unkept_why: why no region was kept.
 *     @folded-row site=0x.. ident=0x.. kind=task|taskloop|loop|sections instances=N leaves=N undeferred=N
 *             incomplete=N exec=COUNT,SUM,MIN,MAX,SQUARES,SQUARES create=.. wait=.. buckets=B:COUNT,...
 *         Sums of one call site. SQUARES: upper and lower 64 bits of the sum of squares. Bucket B has the
 *         instances with 2^(B-1) <= exec < 2^B.
 *     @end reason=exit|detach|duration|shutdown end_ns=N events=N
 * TRACE_CHUNK_EVENTS columns; see struct trace_events_head.
 * TRACE_CHUNK_WORDS  what a thread wrote from inside its process; see struct trace_words_head.
 * TRACE_CHUNK_END    empty; the writer closed the file properly.
 *
 * A reader skips unknown chunk types and unknown "@" lines. It rejects everything else that is wrong, with
 * the offset in the file.
 */
#ifndef GRAIND_TRACE_FORMAT_H
#define GRAIND_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC "GRAINTRC"
#define TRACE_VERSION 1
/* trace_header.flags */
#define TRACE_INCOMPLETE 1u /* cleared when the file is closed */
#define TRACE_PART 2u /* begins in the middle of a recording; each stream is read from its first HERE on */

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
	TRACE_CODEC_ZSTD = 1, /* one zstd frame, or several one after another */
	/* A bit that is combined with these, for words: the payload has a struct trace_words_dictionary. */
	TRACE_CODEC_DICTIONARY = 2,
};

struct trace_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t codec;
	uint32_t raw_bytes;    /* size of the payload when decompressed */
	uint32_t stored_bytes; /* size of the payload in the file */
	uint64_t sequence;     /* 0, 1, 2, ... */
	uint32_t payload_crc;  /* CRC-32 (zlib's) of the stored payload */
	uint32_t header_crc;   /* CRC-32 of the bytes of this struct before this field */
};

/*
 * Payload of TRACE_CHUNK_EVENTS: this head, then the columns one after another. Each has `count` values:
 *   uint64_t time   difference to the time of the previous event (modulo 2^64); for the first event, to
 * base_ns uint64_t key, site, frame uint32_t tid, arg uint16_t cpu uint8_t  kind, flags uint64_t extra  only
 * with TRACE_COLUMN_EXTRA; else all 0 With TRACE_COLUMNS_PACKED there are all ten columns, in the order time,
 * key, site, frame, tid, arg, cpu, kind, flags, extra. Each begins with a struct trace_column_head and is as
 * narrow as that says. A difference d of times is stored as (d << 1) ^ (d >> 63). So small differences are
 * small numbers, whatever their sign.
 *
 * Within one (chunk, cpu), events are only nearly in the order of time. A reader sorts them by time. An event
 * that causes another has the smaller time.
 */
struct trace_events_head {
	uint32_t count;
	uint32_t columns; /* enum trace_columns */
	uint64_t base_ns;
};

/* One event with the values of all columns. */
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
 * After this head come a table of `values` numbers of 8 bytes, and for each event one number of `width` bytes
 * (1, 2, 4, 8; 0: all numbers are 0). With a table (width 1 or 2), the number is the place of the event's
 * value in the table. Without a table, the number is the value.
 */
struct trace_column_head {
	uint32_t width, values;
};
#define TRACE_COLUMNS 10

/*
 * Payload of TRACE_CHUNK_WORDS: this head, `sites` struct trace_word_site, and `words` words in eight planes.
 * Each plane has one byte of every word; the plane of the lowest bytes comes first. With
 * TRACE_CODEC_DICTIONARY, a struct trace_words_dictionary replaces the lower four planes. The words of a
 * stream continue from chunk to chunk; a chunk may end inside an event.
 *
 * An event is one word, and further words that depend on its kind. The first word:
 *   bits 0-5 kind, 6-18 number of its site (0: none), 19-31 arg,
 *   bits 32-63 ticks since the stream's previous event
 * Kinds are those of enum trace_kind and of enum trace_word. The further words:
 *   TASK_CREATE    the key, if the task is detached or with TRACE_WORD_KEYED; else none: the next key of the
 * thread TASK_BEGIN     arg N > 0: none; it is the N-th last task that this thread created. arg 0: the key
 *   REGION_BEGIN   arg, key                LOOP_BEGIN      arg, key, extra
 *   TEAM_START, MEMBER_BEGIN   key, arg    LOOP_PARAMS, TASK_BOUNDS    key, extra
 *   DEPEND, CHUNK_STRIDE, TASKLOOP_BEGIN, TASK_FULFILL   key
 *   TEAM_STARTED, SECTIONS_BEGIN, SECTION_BEGIN    arg
 *   CHUNK_BEGIN    key, extra, or with TRACE_WORD_SHORT one word: key in its low half, extra - key above
 *   LOCK_WAIT      key, ticks that the wait took
 *   COUNTERS       one to three values, with arg as TRACE_WORD_COUNTERS_*
 *   TRACE_WORD_TURN  as TRACE_WORD_SHORT: CHUNK_NEXT, and TRACE_WORD_TURN_TICKS() later CHUNK_BEGIN
 * A key of TASK_CREATE is (number of the stream's thread) << 40 | number of the task from 1.
 * There is no frame, because begins and ends of a stream nest.
 */
struct trace_words_head {
	uint32_t stream; /* one for each thread */
	uint32_t tid;
	uint32_t sites, words;
	/*
	 * Two readings of both clocks; ns is CLOCK_MONOTONIC. The first is the last reading of the chunk
	 * before (in the first chunk: a reading before its words). The second is later than all words here.
	 */
	uint64_t ticks[2], ns[2];
};

struct trace_word_site {
	uint64_t address;
	uint32_t number; /* below TRACE_WORD_SITES; a number has the same address in the whole trace */
	uint32_t reserved;
};
#define TRACE_WORD_SITES (1u << 13)
#define TRACE_WORDS_MAX 65536u

#define TRACE_WORDS_VALUES 255u
#define TRACE_WORDS_OTHER 255u
/*
 * The lower halves of words. They have few different values. This head, then `values` numbers of 4 bytes (at
 * most TRACE_WORDS_VALUES), `others` numbers of 4 bytes, and one byte for each word. The byte is the place of
 * the word's lower half in the values. TRACE_WORDS_OTHER instead means that the lower half is the next of the
 * others. Each of the others is used.
 */
struct trace_words_dictionary {
	uint32_t values, others;
};

#define TRACE_WORD_KIND(word) ((uint32_t)((word)&63))
#define TRACE_WORD_SITE(word) ((uint32_t)((word) >> 6 & (TRACE_WORD_SITES - 1)))
#define TRACE_WORD_ARG(word) ((uint32_t)((word) >> 19 & 0x1fff))
#define TRACE_WORD_TICKS(word) ((uint32_t)((word) >> 32))
#define TRACE_WORD_KEY_BITS 40 /* bits of the number */
#define TRACE_WORD_KEY(thread, number) ((uint64_t)(thread) << TRACE_WORD_KEY_BITS | (number))

/* Words that are not events, except TRACE_WORD_TURN, which is two events. */
enum trace_word {
	TRACE_WORD_HERE = 56, /* TRACE_WORD_HERE_MARK, the time in ticks, the key of the thread's last task;
				 its ticks are the CPU */
	TRACE_WORD_NOTHING = 57, /* a word without meaning and without ticks */
	TRACE_WORD_TURN = 58,	 /* a thread has finished a chunk and gets its next one; no site, no arg */
	TRACE_WORD_JOIN = 59,	 /* number of the thread << 32; arg = TRACE_WORD_OUTSIDE or 0 */
	TRACE_WORD_CPU = 60,	 /* the CPU from here on */
	TRACE_WORD_LOST = 61, /* number of events that are missing here; number of tasks that the thread had
				 created by then */
	TRACE_WORD_TIME = 63, /* the time in ticks */
};

#define TRACE_WORD_HERE_MARK UINT64_C(0x9d3c5f1be8a2476d)

/* In arg of TASK_CREATE: the key is that of a running task that hands over its own next part. */
#define TRACE_WORD_KEYED (1u << 12)

/*
 * arg of TRACE_COUNTERS as a word: the number of the first counter; how many values follow (1 to
 * TRACE_COUNTERS_EACH); for each value a bit that says that a part of it is unknown.
 */
#define TRACE_WORD_COUNTERS_FIRST(arg) ((arg)&15)
#define TRACE_WORD_COUNTERS_COUNT(arg) ((arg) >> 4 & 3)
#define TRACE_WORD_COUNTERS_BLIND(arg) ((arg) >> 6 & 7)

/* arg of TRACE_WORD_JOIN: the next event has TRACE_F_OUTSIDE */
#define TRACE_WORD_OUTSIDE 1u

/* arg of CHUNK_BEGIN */
#define TRACE_WORD_SHORT 2u

/* Of TRACE_WORD_TURN: whether the upper bound is behind the last iteration of the chunk. */
#define TRACE_WORD_TURN_EXCLUSIVE(word) ((word) >> 6 & 1)
#define TRACE_WORD_TURN_TICKS(word) ((uint32_t)(word) >> 7)

#define TRACE_EVENT_COLUMN_BYTES (5 * 8 + 2 * 4 + 2 + 1 + 1)
#define TRACE_CHUNK_MAX_EVENTS 65536u

/*
 * Events as they were observed, before creations are matched with bodies. `key` names a runtime object while
 * it lives; the runtime reuses it. `frame` is the stack pointer, `site` a code address. Append only: numbers
 * are never reused.
 *
 * `extra` of creations, undeferred tasks, taskloops, regions, waits, groups, singles, sections and cancels is
 * the address of the source string that the compiler passed to the runtime (@ident). 0: there is none.
 *
 * All members name their team by the same key. Under libgomp, the encountering thread records TEAM_START and
 * TEAM_STARTED. Under libomp, it records MEMBER_BEGIN with number 0, which may come after those of its
 * workers. A worker belongs to the last region that began before it and whose member 0 has the same key.
 *
 * WAIT_END and libomp's REGION_END may have a lower stack pointer than their begin, if that begin is the
 * innermost open one of its kind. WAIT_END of a barrier may name either kind of barrier. A taskgroup's wait
 * directly inside a barrier's wait comes before the barrier's wait. Ends of loops and sections may come
 * twice.
 *
 * If the task that a key names creates the same key again (libomp's untied tasks), this is no creation. The
 * task leaves its thread at its next TASK_END, and continues at the next TASK_BEGIN with that key.
 */
enum trace_kind {
	TRACE_TASK_CREATE = 1,	   /* a deferred task: key, site = call site, arg = enum trace_task_flags */
	TRACE_TASK_CREATE_END = 2, /* ends the thread's open creation */
	TRACE_TASK_BEGIN = 3, /* key of the creation, site = body function. arg = TRACE_BEGIN_DATA: key is an
				 address inside the creation's object. That is the last object created below
				 the address with this body (TRACE_TASK_BODY_KNOWN) that has not begun */
	TRACE_TASK_END = 4,   /* same frame as its begin */
	TRACE_UNDEFERRED_BEGIN =
		5, /* creation and begin in one; key = body function, site = call site, arg = flags */
	TRACE_UNDEFERRED_END = 6,
	TRACE_REGION_BEGIN =
		7, /* key = body function, site = call site, arg = threads asked for, 0 = default */
	TRACE_REGION_END = 8,
	TRACE_TEAM_START = 9,	 /* key = team, arg = threads; on the encountering thread */
	TRACE_TEAM_STARTED = 10, /* member 0 enters the region's body. arg > 0: the next team of a league
				    whose teams take turns, or TRACE_TEAMS_OVER */
	TRACE_MEMBER_BEGIN = 11, /* key = team, arg = member number >= 1, site = body function */
	TRACE_WAIT_BEGIN = 12,	 /* arg = enum trace_wait, site = call site or 0 */
	TRACE_WAIT_END = 13,	 /* the end of a TRACE_WAIT_REGION_END wait is also the member's end */
	TRACE_GROUP_BEGIN = 14,	 /* a taskgroup opens; TRACE_WAIT_TASKGROUP closes it */
	TRACE_SINGLE = 15,	 /* arg = 1 on the thread that executes it; its end cannot be observed */
	TRACE_LOST = 16,	 /* arg = events of this thread that are missing here */
	/* 17 is not used. */
	TRACE_DEPEND = 18, /* key = address, arg = enum trace_depend. It belongs to the thread's open
			      creation, or to the TRACE_WAIT_TASKWAIT_DEPEND that the thread is in */
	TRACE_TASK_BOUNDS =
		19, /* key = lower, extra = upper (inclusive): iterations of a taskloop's task. It belongs to
		       the open creation; if none is open, to the task that has just begun */
	TRACE_TASKLOOP_BEGIN = 20, /* a taskloop call: key = body function, site = call site, arg = flags */
	TRACE_TASKLOOP_END = 21,
	TRACE_TASK_FULFILL = 22, /* key = task: omp_fulfill_event for a detached task */
	TRACE_CANCEL = 23,	 /* arg = enum trace_cancel, site = call site */
	TRACE_LOOP_BEGIN = 24,	 /* key = lower, extra = upper, arg = enum trace_loop, site = call site */
	TRACE_LOOP_PARAMS = 25,	 /* key = step, extra = chunk size (0: unknown), site = ident or 0. Follows
				    TRACE_LOOP_BEGIN on the same thread at once */
	TRACE_CHUNK_NEXT = 26,	/* the thread's open chunk is over and it asks for the next one. If no loop is
				   open, begins the loop of a combined construct */
	TRACE_CHUNK_BEGIN = 27, /* key = lower, extra = upper, arg = TRACE_LOOP_UPPER_EXCLUSIVE or 0 */
	TRACE_CHUNK_STRIDE =
		28, /* key = stride. Follows TRACE_CHUNK_BEGIN: the thread also executes the chunks lower +
		       stride, lower + 2 stride, ..., which are not recorded one by one */
	TRACE_LOOP_END = 29, /* this thread gets no more iterations, or it left the loop. Ends the loop that
				is open in its innermost task or member; ignored if none is open there */
	TRACE_SECTIONS_BEGIN = 30, /* arg = number of sections | TRACE_SECTIONS_OF_REGION, site = call site */
	TRACE_SECTION_NEXT = 31,   /* as TRACE_CHUNK_NEXT */
	TRACE_SECTION_BEGIN = 32,  /* arg = number from 0 */
	TRACE_SECTIONS_END = 33,   /* as TRACE_LOOP_END, for sections */
	TRACE_SINGLE_END = 34,	   /* only if the end can be observed; see TRACE_SINGLE */
	TRACE_LOCK_WAIT = 35,	 /* recorded when the thread gets the lock: key = lock, extra = time when the
				    wait began, arg = enum trace_lock, site = call site */
	TRACE_STATIC_SHARE = 36, /* site = call of omp_get_num_threads. If that site is marked as a loop
				    (@site ... loop=static), an inline static loop begins here */
	TRACE_OFF_CPU =
		37,	   /* the scheduler takes the thread off its CPU; arg = enum trace_off | number of a
			      @neighbour << TRACE_OFF_NEIGHBOUR_SHIFT; number 0: the neighbour is not known */
	TRACE_ON_CPU = 38, /* the scheduler puts the thread back; key = time since when it could have run; 0:
			      since TRACE_OFF_CPU */
	TRACE_COUNTERS = 39, /* the values of the thread's counters at its next event; this is no event
				itself. frame, key, extra: the values of three counters, beginning with the
				one that arg names. Records for all counters follow each other */
	TRACE_SAMPLE = 40, /* where the thread is. arg = number of addresses (@address), innermost first; key,
			      frame and extra are the first three */
	TRACE_SAMPLE_STACK = 41, /* more of the thread's latest TRACE_SAMPLE: key, frame and extra are its
				    addresses from number arg on; this is no event itself */
	TRACE_ACCESS = 42, /* the thread accessed memory: key = address of the page; arg = the NUMA node of
			      the page soon after, or TRACE_ACCESS_UNKNOWN + enum trace_access */
	TRACE_LOST_SWITCHES =
		43, /* arg = number of records of the thread's switches that are missing here, or of other
		       losses by the kernel. Losses of the thread's own events are recorded in another way */
	TRACE_KIND_MAX
};

/* Why the node of a page is not known. */
enum trace_access {
	TRACE_ACCESS_ABSENT = 1, /* it was not in memory any more */
	TRACE_ACCESS_UNMAPPED =
		2, /* no page was mapped there any more, or only the zero page that all processes share */
	TRACE_ACCESS_ENDED = 3,	  /* the process had ended */
	TRACE_ACCESS_REFUSED = 4, /* the kernel did not report it */
};
#define TRACE_ACCESS_UNKNOWN 0x10000u

/* cpu of a record whose CPU was not read. */
#define TRACE_CPU_UNKNOWN 0xffff

/*
 * arg of TRACE_COUNTERS: number of the first counter | 3 bits << 8 | kind of the event << 16. Bit i: a part
 * of value i since the thread's last reading is unknown.
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
		1 << 12, /* follows TRACE_REGION_BEGIN; describes the loop that the region's members begin */
	TRACE_LOOP_UPPER_EXCLUSIVE = 1 << 13,
	TRACE_LOOP_IS_SECTIONS = 1 << 14, /* a static loop over the numbers of sections */
	TRACE_LOOP_BOUNDS_HIDDEN = 1 << 15,
	TRACE_LOOP_DISTRIBUTE = 1 << 16,
	TRACE_LOOP_IN_PROGRAM =
		1 << 17, /* the compiler wrote it into the program, so its end may not be seen */
	TRACE_LOOP_UPPER_UNKNOWN = 1 << 18,
};

#define TRACE_SECTIONS_OF_REGION (1u << 31)
/* In arg of TRACE_REGION_BEGIN: */
#define TRACE_REGION_TEAMS (1u << 31)
#define TRACE_REGION_OUTERMOST                                                                               \
	(1u << 30) /* its thread is in no other region: the last one that was recorded is over */
/* In arg of TRACE_TEAM_STARTED: there is no next team, and the league whose teams take turns ends. */
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
	TRACE_TASK_SPLIT = 1 << 7,   /* the runtime made it to split a taskloop */
	TRACE_TASK_NOGROUP = 1 << 8, /* taskloop nogroup */
	TRACE_TASK_TARGET = 1 << 9,
	TRACE_TASK_BODY_KNOWN = 1 << 10, /* extra is the body function, not the address of a source string */
	TRACE_TASK_ANY_THREAD = 1 << 11, /* any thread may run it, also one that is no member of the team */
};

/* arg of TRACE_TASK_BEGIN */
#define TRACE_BEGIN_DATA 1u

/* trace event flags */
#define TRACE_F_FAULT 1u /* a user page could not be read, so site, key or arg may be 0 */
#define TRACE_F_OUTSIDE                                                                                      \
	2u /* the thread is in no region and no league, even if some events were not seen; only of words */
#define TRACE_F_AMONG_WORDS                                                                                  \
	4u /* other events of the thread are words: its frame is real, but cannot be compared with theirs */

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
