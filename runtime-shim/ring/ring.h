/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writing side of a thread's ring. Nothing here allocates, locks or makes a system call, with two
 * exceptions: joining, which a thread does once, and a full ring.
 */
#ifndef GRAIND_SHIM_RING_H
#define GRAIND_SHIM_RING_H

#include "bpf/abi/shim_abi.h"

#include <stdbool.h>
#include <stddef.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct call;

enum shim_fresh {
	SHIM_WRITTEN = 0,
	SHIM_FRESH = 1,		 /* nothing was written yet */
	SHIM_FRESH_STRANGER = 2, /* nothing was written yet, and the runtime may not know the thread, so it is
				    not asked about the thread */
	SHIM_TRIAL = 3,		 /* measures the cost of writing: nobody reads what it writes */
};

/* The private state of a thread. The positions that it publishes are in `control`. */
struct shim_local {
	/* The first cache line has what each event needs. */
	struct shim_header *header;
	struct shim_thread *control;
	uintptr_t words_at; /* where word number 0 would be if the whole ring were laid out like the current
			       block */
	uint64_t head;	    /* next word to write */
	uint64_t limit;	    /* while the head is below this, the block has room for SHIM_ROOM words */
	uint64_t ticks;	    /* time of the last event */
	const volatile int32_t *on_cpu; /* where the kernel writes the CPU on which the thread runs */
	int32_t cpu;			/* the CPU that was recorded last */
	uint8_t fresh;			/* enum shim_fresh */
	bool children;			/* the running task may have children that have not ended */
	uint8_t mapped;	   /* number of the ring's first blocks that have memory; see begin_block() */
	uint8_t here;	   /* number of SHIM_HERE_WORDS after which SHIM_HERE was written last, modulo 256 */
	uint64_t created;  /* tasks that the thread has created */
	uint32_t joined;   /* ordinal number of the thread */
	uint32_t mask;	   /* mask for a word's position in a block */
	struct call *call; /* libgomp: the call that creates a task about which nothing is written yet */
	uint64_t held_at;  /* 0: none */
	uint32_t held[2];  /* events given to shim__hold() */
	uint64_t lost;	   /* events lost since the last event that fit */
	uint64_t beat_ticks;
	uint32_t beat;
	uint32_t session; /* shim_process.session when it joined; threads of an earlier session record nothing
			     any more */
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct shim_local) == 128, "threads do not share lines");
_Static_assert(offsetof(struct shim_local, created) == 64, "one line for each event");

/* The most words that are written at once. */
#define SHIM_ROOM (1 + SHIM_WORDS_MAX)

enum shim_state {
	SHIM_OFF = 0,	 /* nothing is recorded */
	SHIM_ASK = 1,	 /* the first event asks graind */
	SHIM_ASKING = 2, /* another thread is asking */
	SHIM_ON = 3,	 /* threads may join */
};

/* What all threads share. */
struct shim_process {
	struct shim_header *header;
	uint64_t *sites;
	struct shim_local *locals; /* one for each ring */
	/* Asks graind for rings. Leaves `state` at ON or OFF. */
	void (*ask)(void);
	/* Arranges that shim__leave() is called when the thread ends. */
	void (*keep)(struct shim_local *local);
	/*
	 * For a library that was injected into a running process (attach.c), else NULL. Called when a
	 * region begins, and when an event finds that the recording is over.
	 */
	void (*look)(void);
	void (*over)(void);
	/*
	 * NULL, too, if the library was not injected. Tells whether the thread is in no region and no
	 * league.
	 */
	bool (*outside)(void);
	ptrdiff_t cpu_at; /* offset from the thread pointer of the CPU number that the kernel writes (rseq) */
	int state;	  /* enum shim_state */
	uint32_t session; /* ordinal number of the recording of the process */
	uint64_t joined;  /* number of threads of earlier sessions, so that keys of tasks stay unique */
	/*
	 * Base address of the libomp that is recorded from inside; NULL: none. May be set while threads read
	 * it.
	 */
	const void *libomp_recorded;
	/*
	 * That libomp was already running when the library was injected. So it reports nothing itself
	 * (kmpc_attached.h).
	 */
	bool libomp_attached;
	bool counter; /* ticks are those of enum shim_clock's COUNTER */
	/* Changes when objects may have been unloaded, or when another runtime was loaded (runtimes.h). */
	uint32_t runtime_generation;
	/* Callbacks of attach.c: graind has no rings for the process; the child of a fork begins. */
	void (*refused)(void);
	void (*in_child)(void);
};

extern struct shim_process shim_process;
extern __thread struct shim_local *shim_local __attribute__((tls_model("initial-exec")));

/* The process records nothing more, whatever graind does. */
static inline void shim__end(struct shim_header *header)
{
	__atomic_store_n(&header->enabled, SHIM_OVER, __ATOMIC_RELEASE);
}

/* False in the pause between two windows. */
static inline bool shim__is_over(const struct shim_header *header)
{
	return __atomic_load_n(&header->enabled, __ATOMIC_ACQUIRE) == SHIM_OVER;
}

/* Claims a ring for the thread; NULL when there is none left. */
struct shim_local *shim__join(void);
/* For a thread whose rings record nothing any more: its state in a later session. NULL: it has none. */
struct shim_local *shim__renew(const struct shim_local *local);
/*
 * Makes room for a whole event and writes first what was lost before it. Returns the event's time. 0: the
 * event is lost and was counted.
 */
uint64_t shim__make_room(struct shim_local *local);
uint32_t shim__new_site(uint64_t entry);
uint64_t shim__clock_ns(void);
/* Called when the thread ends or the child of a fork begins: it records nothing any more. */
void shim__leave(void);

/* The address of word number `at` in the current block. */
static inline uint64_t *shim__word(const struct shim_local *local, uint64_t at)
{
	return (uint64_t *)(local->words_at + at * sizeof(uint64_t));
}

/* The state of the calling thread, which joins if needed. NULL: nothing is recorded. */
static inline struct shim_local *shim__here(void)
{
	struct shim_local *local = shim_local;

	if (UNLIKELY(!local)) {
		if (LIKELY(__atomic_load_n(&shim_process.state, __ATOMIC_ACQUIRE) == SHIM_OFF))
			return NULL;
		local = shim__join();
		if (!local)
			return NULL;
	}
	return LIKELY(__atomic_load_n(&local->header->enabled, __ATOMIC_RELAXED) == SHIM_RECORDS)
		       ? local
		       : shim__renew(local);
}

/* Like shim__here(), but NULL if the thread does not record yet, and without a call. */
static inline struct shim_local *shim__recording(void)
{
	struct shim_local *local = shim_local;

	return LIKELY(local && __atomic_load_n(&local->header->enabled, __ATOMIC_RELAXED) == SHIM_RECORDS)
		       ? local
		       : NULL;
}

/*
 * For ends of constructs: whether the recording goes on. A recording that is over has not seen all of the
 * construct.
 */
static inline bool shim__goes_on(const struct shim_local *local)
{
	return local && LIKELY(!shim__is_over(local->header));
}

/* 0: ticks do not come from the processor's counter. */
static inline uint64_t shim__counter(void)
{
#if defined(__x86_64__)
	if (LIKELY(__atomic_load_n(&shim_process.counter, __ATOMIC_RELAXED)))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	if (LIKELY(__atomic_load_n(&shim_process.counter, __ATOMIC_RELAXED))) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return 0;
}

static inline uint64_t shim__ticks(void)
{
	uint64_t ticks = shim__counter();

	return LIKELY(ticks) ? ticks : shim__clock_ns();
}

/* A thread of an earlier session may get the sites of a later one. That does no harm. */
static inline uint64_t *shim__sites(void)
{
	return __atomic_load_n(&shim_process.sites, __ATOMIC_RELAXED);
}

static inline uint64_t shim__site_entry(const void *address, uint32_t kind)
{
	return (uint64_t)(uintptr_t)address << SHIM_SITE_KIND_BITS | kind;
}

/* Like shim__site(), but tries only the first slot for the address. Returns 0 if the address is not there. */
static inline uint32_t shim__known_site(const void *address, uint32_t kind)
{
	uint64_t entry = shim__site_entry(address, kind);
	uint32_t at = (uint32_t)(entry * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHIM_SITE_BITS));

	return LIKELY(__atomic_load_n(&shim__sites()[at], __ATOMIC_RELAXED) == entry) ? at : 0;
}

/*
 * The number of a code address. `kind` is below 64 and is for readers. 0: there is no address, or no number
 * is left.
 */
static inline uint32_t shim__site(const void *address, uint32_t kind)
{
	uint32_t at = shim__known_site(address, kind);

	if (LIKELY(at))
		return at;
	return address ? shim__new_site(shim__site_entry(address, kind)) : 0;
}

/*
 * Prefetches a cache line that will be written soon. graind has read it, so another CPU's cache has it, and
 * the runtime's next locked instruction would wait for it.
 */
static inline void shim__soon(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}
#define SHIM_AHEAD 64 /* words */

/* For the compiler, this is a constant if the kind is a literal. */
static inline bool shim__is_grain(uint64_t word)
{
	uint32_t kind = word & 63;

	return kind == SHIM_TASK_CREATE || kind == SHIM_CHUNK_BEGIN || kind == SHIM_SECTION_BEGIN;
}

/*
 * Whether an event that comes `since` ticks after the last one can be written without other words before
 * it.
 */
static inline bool shim__fits(const struct shim_local *local, uint64_t since)
{
	return LIKELY(local->head < local->limit && since <= SHIM_TICKS_MAX && *local->on_cpu == local->cpu);
}

/*
 * Writes an event of 1 + count words, for which there is room. This function and its callers pass words one
 * by one, not in an array or struct. So words stay in registers, and unused ones cost nothing.
 */
static inline __attribute__((always_inline)) void shim__write(struct shim_local *local, uint64_t ticks,
							      uint64_t word, unsigned count, uint64_t a,
							      uint64_t b, uint64_t c)
{
	uint64_t at = local->head, *to = shim__word(local, at);

	shim__soon(to + SHIM_AHEAD);
	to[0] = word | (ticks - local->ticks) << 32;
	if (count > 0)
		to[1] = a;
	if (count > 1)
		to[2] = b;
	if (count > 2)
		to[3] = c;
	local->ticks = ticks;
	local->head = at + 1 + count;
	if (shim__is_grain(word))
		__atomic_store_n(&local->control->grains, local->control->grains + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&local->control->head, at + 1 + count, __ATOMIC_RELEASE);
}

/*
 * The slow path of shim__put(): there is no room, more must be written, or ticks do not come from the
 * processor's counter.
 */
void shim__put_slowly(struct shim_local *local, uint64_t word, unsigned count, uint64_t a, uint64_t b,
		      uint64_t c);

/*
 * Writes one event of 1 + count words; `count` is a literal. This is cheapest as the last act of a
 * function.
 */
static inline __attribute__((always_inline)) void
shim__put(struct shim_local *local, uint64_t word, unsigned count, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t ticks = shim__counter();

	if (LIKELY(ticks && shim__fits(local, ticks - local->ticks)))
		shim__write(local, ticks, word, count, a, b, c);
	else
		shim__put_slowly(local, word, count, a, b, c);
}

void shim__put_creation_slowly(struct shim_local *local, uint64_t word);

/* Records the creation of the task whose key shim__next_key() has returned. */
static inline __attribute__((always_inline)) void shim__put_creation(struct shim_local *local, uint64_t word)
{
	uint64_t ticks = shim__counter();

	if (LIKELY(ticks && shim__fits(local, ticks - local->ticks))) {
		shim__write(local, ticks, word, 0, 0, 0, 0);
		local->created++;
	} else {
		shim__put_creation_slowly(local, word);
	}
}

/* The key of the task that the thread creates next. */
static inline uint64_t shim__next_key(const struct shim_local *local)
{
	return SHIM_TASK_KEY(local->joined, local->created + 1);
}

/* The slow path of shim__put_pair(): there is no room, or more must be written. */
void shim__put_pair_slowly(struct shim_local *local, uint64_t ticks, uint64_t first, uint64_t word,
			   unsigned count, uint64_t a, uint64_t b);

/*
 * Writes an event without further words at `first_ticks` and one of 1 + count words at `ticks`; the thread
 * has recorded nothing between them. Costs as much as one event.
 */
static inline __attribute__((always_inline)) void shim__put_pair(struct shim_local *local,
								 uint64_t first_ticks, uint64_t first,
								 uint64_t ticks, uint64_t word,
								 unsigned count, uint64_t a, uint64_t b)
{
	uint64_t since = first_ticks - local->ticks, between = ticks - first_ticks, at = local->head,
		 *to = shim__word(local, at);

	if (!shim__fits(local, since | between)) {
		shim__put_pair_slowly(local, first_ticks, first, word, count, a, b);
		return;
	}
	local->ticks = ticks;
	local->head = at + 2 + count;
	shim__soon(to + SHIM_AHEAD);
	to[0] = first | since << 32;
	to[1] = word | between << 32;
	if (count > 0)
		to[2] = a;
	if (count > 1)
		to[3] = b;
	if ((first & 63) == SHIM_TASK_CREATE)
		local->created++;
	if (shim__is_grain(first) || shim__is_grain(word))
		__atomic_store_n(&local->control->grains, local->control->grains + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&local->control->head, at + 2 + count, __ATOMIC_RELEASE);
}

/* Whether a chunk's bounds fit into one word, and that word. */
static inline bool shim__is_short(uint64_t lower, uint64_t upper)
{
	int64_t length = (int64_t)(upper - lower);

	return LIKELY((int64_t)lower == (int32_t)lower && length == (int32_t)length);
}

static inline uint64_t shim__short_chunk(uint64_t lower, uint64_t upper)
{
	return (lower & UINT32_MAX) | (upper - lower) << 32;
}

/* The slow path of shim__put_answer() at `now`, for answers that need more than two words. */
void shim__put_answer_at_length(struct shim_local *local, uint64_t asked, uint64_t now, bool any,
				uint32_t how, uint64_t lower, uint64_t upper);

/*
 * The thread asked for a chunk at `asked`. It got one, or none: then the loop is over for it. Such calls
 * never wait, so both events are written at their end. `how`: SHIM_CHUNK_EXCLUSIVE or 0.
 */
static inline __attribute__((always_inline)) void shim__put_answer(struct shim_local *local, uint64_t asked,
								   bool any, uint32_t how, uint64_t lower,
								   uint64_t upper)
{
	uint64_t now = shim__ticks(), since = asked - local->ticks, took = now - asked, at = local->head,
		 *to = shim__word(local, at);

	if (UNLIKELY(!any || !shim__fits(local, since) || took >> SHIM_TURN_TICK_BITS ||
		     !shim__is_short(lower, upper))) {
		shim__put_answer_at_length(local, asked, now, any, how, lower, upper);
		return;
	}
	local->ticks = now;
	local->head = at + 2;
	shim__soon(to + SHIM_AHEAD);
	to[0] = SHIM_TURN(how, took) | since << 32;
	to[1] = shim__short_chunk(lower, upper);
	__atomic_store_n(&local->control->grains, local->control->grains + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&local->control->head, at + 2, __ATOMIC_RELEASE);
}

/* Writes an event without further words at this time, which must not be before the thread's last event. */
void shim__put_at(struct shim_local *local, uint64_t ticks, uint64_t word);

/*
 * Holds back two events without further words. Call it before a runtime call whose result shows whether
 * they happened at its begin (`ticks`, not 0). If the thread records anything before shim__release(), they
 * did happen and are written first. Without a held event this costs nothing.
 */
static inline void shim__hold(struct shim_local *local, uint64_t ticks, uint64_t first, uint64_t second)
{
	local->held[0] = (uint32_t)first;
	local->held[1] = (uint32_t)second;
	local->held_at = ticks;
	local->limit = 0;
}

/* False: the held events were already written. */
static inline bool shim__release(struct shim_local *local)
{
	bool held = local->held_at;

	local->held_at = 0;
	return held;
}

#define SHIM_EVENT(local, kind, site, arg) shim__put(local, SHIM_WORD(kind, site, arg), 0, 0, 0, 0)
#define SHIM_EVENT1(local, kind, site, arg, a) shim__put(local, SHIM_WORD(kind, site, arg), 1, a, 0, 0)
#define SHIM_EVENT2(local, kind, site, arg, a, b) shim__put(local, SHIM_WORD(kind, site, arg), 2, a, b, 0)
#define SHIM_EVENT3(local, kind, site, arg, a, b, c) shim__put(local, SHIM_WORD(kind, site, arg), 3, a, b, c)

#endif
