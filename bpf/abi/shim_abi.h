/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a process shares with graind: one memfd, sized and sealed by graind.
 *
 *   struct shim_header                 at 0
 *   SHIM_SITES words                   at SHIM_SITES_AT: code addresses by number, enum shim_site below
 *   struct shim_thread[threads]        at SHIM_THREADS_AT
 *   ring_words words for each thread   at shim__rings_at()
 *
 * A ring consists of SHIM_BLOCKS blocks, which the producer fills in any order.
 * It uses a block again as soon as graind has read it. So a thread touches only
 * as much memory as graind is behind.
 *
 * One ring has one producer, the thread that has claimed its struct
 * shim_thread, and one consumer, graind, which copies words and does not look
 * into them. An event is one word, and the further words of its kind:
 *
 *   bits  0-5   enum shim_kind
 *   bits  6-18  number of its site, 0: none
 *   bits 19-31  arg
 *   bits 32-63  ticks since the event before; SHIM_TIME says the time anew
 *
 * The process can write anything into all of this memory. graind trusts nothing
 * in it and keeps its own positions, so wrong words spoil only the trace of this
 * process.
 */
#ifndef GRAIND_SHIM_ABI_H
#define GRAIND_SHIM_ABI_H

#include <stdint.h>

#define SHIM_MAGIC 0x4d494853u /* "SHIM" */
#define SHIM_VERSION 4

#define SHIM_SITE_BITS 13
#define SHIM_SITES (1u << SHIM_SITE_BITS)
#define SHIM_ARG_BITS 13
#define SHIM_ARG_MAX ((1u << SHIM_ARG_BITS) - 1)
#define SHIM_SITES_AT 4096u
#define SHIM_THREADS_AT (SHIM_SITES_AT + SHIM_SITES * 8u)

/*
 * The kinds have the numbers of enum trace_kind; some of them are no events in trace files. New ones may be
 * added, numbers never change. The comments name what each kind has in arg and, after a semicolon, its
 * further words.
 */
enum shim_kind {
	SHIM_TASK_CREATE =
		1, /* arg enum ring_task; the thread's next task, or for DETACH, SHIM_TASK_KEYED: key */
	SHIM_TASK_CREATE_END = 2,
	SHIM_TASK_BEGIN = 3, /* site body; arg n: the thread's n-th last created task, 0: key follows */
	SHIM_TASK_END = 4,
	SHIM_REGION_BEGIN = 7, /* arg; key body */
	SHIM_REGION_END = 8,
	SHIM_TEAM_START = 9,	/* key, threads */
	SHIM_TEAM_STARTED = 10, /* number */
	SHIM_MEMBER_BEGIN = 11, /* site body; team, number */
	SHIM_WAIT_BEGIN = 12,	/* arg enum ring_wait */
	SHIM_WAIT_END = 13,
	SHIM_GROUP_BEGIN = 14,
	SHIM_SINGLE = 15,	  /* arg 1: won */
	SHIM_DEPEND = 18,	  /* arg enum ring_depend; address */
	SHIM_TASK_BOUNDS = 19,	  /* lower, upper */
	SHIM_TASKLOOP_BEGIN = 20, /* arg enum ring_task; body */
	SHIM_TASKLOOP_END = 21,
	SHIM_TASK_FULFILL = 22, /* key */
	SHIM_CANCEL = 23,	/* arg enum ring_cancel */
	SHIM_LOOP_BEGIN = 24,	/* enum ring_loop, lower, upper */
	SHIM_LOOP_PARAMS = 25,	/* step, chunk size */
	SHIM_CHUNK_NEXT = 26,
	SHIM_CHUNK_BEGIN = 27,	/* arg enum shim_chunk; lower, upper or both in one word */
	SHIM_CHUNK_STRIDE = 28, /* stride; of the chunk just begun */
	SHIM_LOOP_END = 29,
	SHIM_SECTIONS_BEGIN = 30, /* number of sections | RING_SECTIONS_OF_REGION */
	SHIM_SECTION_NEXT = 31,
	SHIM_SECTION_BEGIN = 32, /* number */
	SHIM_SECTIONS_END = 33,
	SHIM_SINGLE_END = 34,
	SHIM_LOCK_WAIT = 35, /* arg enum ring_lock; lock, ticks that the wait took */
	SHIM_STATIC_SHARE = 36,
	SHIM_COUNTERS = 39, /* arg SHIM_COUNTERS_ARG; values: what counters read at the thread's next event */
	SHIM_HERE = 56,	    /* the thread's state, for readers that start here: SHIM_HERE_MARK, see below */
	SHIM_NOTHING = 57,  /* fills the rest of a block in which an event does not fit */
	SHIM_CHUNK_TURN = 58, /* CHUNK_NEXT, and the CHUNK_BEGIN that it led to, in two words: see below */
	SHIM_JOIN = 59, /* a thread has claimed the ring; arg enum shim_start; the upper part of its keys */
	SHIM_CPU = 60,	/* the CPU on which the thread runs from here on */
	SHIM_LOST = 61, /* number of events that are missing here, number of tasks created so far */
	SHIM_TIME = 63, /* the time in ticks; no event */
};

/*
 * HERE has the CPU in place of its ticks. Its further words are this mark, which practically never occurs
 * elsewhere; the time in ticks of the thread's last event; and the key of the last task that the thread has
 * created, with the number 0 if there is none. Each thread writes it at its begin and about every
 * SHIM_HERE_WORDS words.
 */
#define SHIM_HERE_MARK UINT64_C(0x9d3c5f1be8a2476d)
#define SHIM_HERE_WORDS 2048u

/* A bit in arg of TASK_CREATE: the running task has created its own next part. */
#define SHIM_TASK_KEYED (1u << 12)

/* arg of JOIN: where the thread is at its next event */
enum shim_start {
	SHIM_START_UNKNOWN = 0,
	SHIM_START_OUTSIDE = 1, /* in no region and no league */
};

/* arg of CHUNK_BEGIN */
enum shim_chunk {
	SHIM_CHUNK_EXCLUSIVE = 1, /* the upper bound is exclusive */
	SHIM_CHUNK_SHORT = 2,	  /* one word has both: lower in the low half, upper - lower above; signed */
};

/*
 * The first word of CHUNK_TURN. In place of a site and arg it has `how`, which is 1 if the chunk that
 * begins is SHIM_CHUNK_EXCLUSIVE, and the ticks from CHUNK_NEXT to CHUNK_BEGIN. The second word is that of
 * a SHIM_CHUNK_SHORT.
 */
#define SHIM_TURN(how, ticks) ((uint64_t)SHIM_CHUNK_TURN | (uint64_t)(how) << 6 | (uint64_t)(ticks) << 7)
#define SHIM_TURN_TICK_BITS 25

/* Each site has a word: the kind in the low bits, the address in the rest. */
enum shim_site {
	SHIM_SITE_TASK = 1, /* from here on, the address is where a call returns to */
	SHIM_SITE_TASKLOOP = 2,
	SHIM_SITE_PARALLEL = 3,
	SHIM_SITE_TEAMS = 4,
	SHIM_SITE_TASKWAIT = 5,
	SHIM_SITE_TASKGROUP = 6,
	SHIM_SITE_BARRIER = 7,
	SHIM_SITE_TASKYIELD = 8,
	SHIM_SITE_SINGLE = 9,
	SHIM_SITE_CANCEL = 10,
	SHIM_SITE_LOOP = 11,
	SHIM_SITE_SECTIONS = 12,
	SHIM_SITE_CRITICAL = 13,
	SHIM_SITE_ORDERED = 14,
	SHIM_SITE_LOCK = 15,
	SHIM_SITE_ATOMIC = 16,
	SHIM_SITE_SHARE = 17,
	SHIM_SITE_TASK_BODY = 18, /* from here on, the address is where a function begins */
	SHIM_SITE_MEMBER_BODY = 19,
	SHIM_SITE_MAX
};
#define SHIM_SITE_KIND_BITS 6

#define SHIM_WORD(kind, site, arg) ((uint64_t)(kind) | (uint64_t)(site) << 6 | (uint64_t)(arg) << 19)
#define SHIM_TICKS_MAX UINT32_MAX
#define SHIM_WORDS_MAX 4 /* the most words of one event */
#define SHIM_RING_WORDS_MIN (SHIM_BLOCKS * 64u)

/*
 * A task's key: the ordinal number of the thread that created it, and the task's ordinal number in that
 * thread. The first word of a ring's thread is SHIM_JOIN.
 */
#define SHIM_TASK_KEY(joined, number) ((uint64_t)(joined) << 40 | (number))

enum shim_clock {
	SHIM_CLOCK_COUNTER = 0,	  /* the processor's time counter: rdtsc, cntvct_el0 */
	SHIM_CLOCK_MONOTONIC = 1, /* CLOCK_MONOTONIC, ns */
};

enum shim_enabled {
	SHIM_OVER = 0, /* recording has ended for good */
	SHIM_RECORDS = 1,
	SHIM_PAUSES = 2, /* not recording until the next window */
};

#define SHIM_COUNTERS_MAX 8
#define SHIM_COUNTERS_EACH 3 /* the most counters in one SHIM_COUNTERS */

/*
 * `first`: the first counter's number. `count`: how many follow. `blind`: a bit for each that is partly
 * unknown.
 */
#define SHIM_COUNTERS_ARG(first, count, blind) ((first) | (count) << 4 | (blind) << 6)

/* The numbers of enum ring_counter_source. */
enum shim_counter_source {
	SHIM_COUNTER_PERF = 0,
	SHIM_COUNTER_CLOCK = 1,
	SHIM_COUNTER_FAULTS = 2,
	SHIM_COUNTER_MINOR_FAULTS = 3,
	SHIM_COUNTER_MAJOR_FAULTS = 4,
	SHIM_COUNTER_SWITCHES = 5,
};

/* A counter is the sum of some events of perf_event_open(2). This is one of them. */
struct shim_counter_event {
	uint32_t counter, minus; /* minus: 1 if the event is subtracted */
	uint32_t source;	 /* enum shim_counter_source */
	uint32_t type;
	uint64_t config, config1, config2;
	uint32_t exclude; /* what is not counted; bits: user, kernel, hypervisor */
	uint32_t reserved;
};

struct shim_header {
	/* Written by graind before the process sees it. */
	uint32_t magic, version;
	uint32_t threads;    /* number of rings */
	uint32_t ring_words; /* a power of two, SHIM_RING_WORDS_MIN or more */
	uint32_t clock;	     /* enum shim_clock */
	uint32_t lossless;   /* 1: a thread whose ring is full waits */
	uint64_t ticks_per_second;
	uint32_t counters; /* number of counters that are read at every event */
	uint32_t counter_event_count;
	struct shim_counter_event counter_events[SHIM_COUNTERS_MAX];
	/* Written by graind while the process runs. */
	uint32_t enabled; /* enum shim_enabled; the process may also end recording */
	uint32_t beat;	  /* changes while graind drains */
	/* Written by the process. */
	uint32_t claimed;     /* number of thread entries that are or were in use */
	uint32_t site_count;  /* changes with every new site */
	uint64_t unseated;    /* number of threads that got no ring */
	uint64_t unnumbered;  /* number of sites that got no number */
	uint64_t generations; /* number of threads that have joined, in all */
	uint32_t event_ticks; /* the time of 1024 events on the first thread; 0: not measured */
	uint32_t reserved;
	int32_t counter_errors[SHIM_COUNTERS_MAX]; /* errno of a counter that is not available; set before the
						      first event */
};

enum shim_thread_state {
	SHIM_FREE = 0,
	SHIM_LIVE = 1,
	SHIM_ENDED = 2, /* graind frees it once it has read all words */
};

#define SHIM_BLOCKS 64u

struct shim_thread {
	uint64_t head; /* number of words that were written */
	uint64_t lost; /* number of events that did not fit since the last one that did */
	uint32_t tid;  /* as the thread sees it */
	uint32_t state;
	/* These two count for all threads that have used the ring. */
	uint64_t grains; /* number of tasks, chunks and sections */
	uint64_t missed; /* number of events that did not fit */
	uint64_t pad_producer[3];
	uint64_t tail; /* number of words that graind has read */
	uint64_t pad_consumer[7];
	/* Word number n is in block order[n / block size % SHIM_BLOCKS]. Written by the thread. */
	uint8_t order[SHIM_BLOCKS];
};

_Static_assert(sizeof(struct shim_header) <= SHIM_SITES_AT, "header");
_Static_assert(sizeof(struct shim_thread) == 192 && __builtin_offsetof(struct shim_thread, tail) == 64 &&
		       __builtin_offsetof(struct shim_thread, order) == 128,
	       "producer and consumer lines apart");

/*
 * Returns where word number `at` is in the thread's ring. The result is below `ring_words`, whatever the
 * process has written into `order`.
 */
static inline uint64_t shim__place(const struct shim_thread *thread, uint32_t ring_words, uint64_t at)
{
	uint64_t block_words = ring_words / SHIM_BLOCKS;
	uint8_t block = __atomic_load_n(&thread->order[at / block_words % SHIM_BLOCKS], __ATOMIC_RELAXED);

	return block % SHIM_BLOCKS * block_words + at % block_words;
}

static inline uint64_t shim__rings_at(uint32_t threads)
{
	return (SHIM_THREADS_AT + (uint64_t)threads * sizeof(struct shim_thread) + 4095) & ~UINT64_C(4095);
}

static inline uint64_t shim__bytes(uint32_t threads, uint32_t ring_words)
{
	return shim__rings_at(threads) + (uint64_t)threads * ring_words * 8;
}

/*
 * Two messages on the socket (SOCK_SEQPACKET): the process sends a struct shim_hello; graind answers with a
 * struct shim_welcome and the memfd, or closes the connection. It stays open as long as the process lives.
 */
#define SHIM_SOCKET_VARIABLE "GRAIND_SHIM_SOCKET"

struct shim_hello {
	uint32_t magic, version;
	uint32_t runtime;      /* enum shim_runtime */
	uint32_t wants_probes; /* it cannot be recorded from inside: graind sends a byte once it has probes */
};

enum shim_runtime { SHIM_RUNTIME_LIBGOMP = 1, SHIM_RUNTIME_LIBOMP = 2 };

struct shim_welcome {
	uint32_t magic, version;
};

#endif
