// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/ring/caller_state.h"
#include "runtime-shim/ring/counters.h"
#include "runtime-shim/ring/ring.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* After this long without a drain, graind counts as gone, and the process stops recording. */
#define SILENCE_SECONDS 3
#define FIRST_NAP_NS 50000
#define LAST_NAP_NS 2000000
/*
 * How many slots are tried for an address. So with a full table, an event only costs the reading of these
 * slots.
 */
#define SITE_TRIES 128
/* Words for JOIN, TIME and CPU: two each, LOST: three, HERE: four, COUNTERS: one and the values. */
#define TOLD_FIRST                                                                                           \
	(13 + SHIM_COUNTERS_MAX + (SHIM_COUNTERS_MAX + SHIM_COUNTERS_EACH - 1) / SHIM_COUNTERS_EACH)

_Static_assert((SHIM_HERE_WORDS & (SHIM_HERE_WORDS - 1)) == 0, "its last word has only ones below");

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct shim_process shim_process;
__thread struct shim_local *shim_local __attribute__((tls_model("initial-exec")));

uint64_t shim__clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct shim_thread *thread_at(struct shim_header *header, uint32_t number)
{
	return (struct shim_thread *)((char *)header + SHIM_THREADS_AT) + number;
}

static uint64_t block_words(const struct shim_local *local)
{
	return local->mask + UINT64_C(1);
}

/* The number of the first word in the block of word `at`. */
static uint64_t block_start(const struct shim_local *local, uint64_t at)
{
	return at & ~(uint64_t)local->mask;
}

/* The block of word `at`. */
static uint8_t order_at(const struct shim_local *local, uint64_t at)
{
	return __atomic_load_n(&local->control->order[at / block_words(local) % SHIM_BLOCKS],
			       __ATOMIC_RELAXED) %
	       SHIM_BLOCKS;
}

static uint64_t *block_at(const struct shim_local *local, uint8_t block)
{
	char *rings = (char *)local->header + shim__rings_at(local->header->threads);
	ptrdiff_t number = local->control - thread_at(local->header, 0);

	return (uint64_t *)rings + ((uint64_t)number * SHIM_BLOCKS + block) * block_words(local);
}

/* From the head on, words are written to this block. */
static void fill_block(struct shim_local *local, uint8_t block)
{
	local->words_at =
		(uintptr_t)block_at(local, block) - block_start(local, local->head) * sizeof(uint64_t);
}

static bool claim(struct shim_header *header, uint32_t *number)
{
	for (uint32_t i = 0; i < header->threads; i++) {
		uint32_t state = SHIM_FREE, below = __atomic_load_n(&header->claimed, __ATOMIC_RELAXED);

		if (!__atomic_compare_exchange_n(&thread_at(header, i)->state, &state, SHIM_LIVE, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		while (below <= i && !__atomic_compare_exchange_n(&header->claimed, &below, i + 1, false,
								  __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
		*number = i;
		return true;
	}
	return false;
}

/*
 * Rounds of the measurement. The quickest counts, because others include page faults or CPU time of other
 * threads.
 */
#define TRIALS 8
#define TRIAL_EVENTS 256
#define TRIAL_WORDS 32 /* words that are written again and again */

/*
 * Measures in the ring's own memory, before anything is in it. AddressSanitizer's separate frames are not
 * aligned to 128 bytes, which the copy needs.
 */
static __attribute__((no_sanitize_address)) void measure_cost(const struct shim_local *local)
{
	struct shim_thread nobody = {0};
	struct shim_local trial = *local;
	uint64_t quickest = UINT32_MAX, start = block_start(local, local->head);

	trial.control = &nobody;
	trial.fresh = SHIM_TRIAL;
	trial.cpu = *local->on_cpu;
	for (int round = 0; round < TRIALS; round++) {
		uint64_t before, took;

		trial.limit = UINT64_MAX;
		trial.ticks = before = shim__ticks();
		for (int i = 0; i < TRIAL_EVENTS; i++) {
			struct shim_readings readings;

			trial.head = start + i % TRIAL_WORDS;
			if (UNLIKELY(local->header->counters))
				counters__read(local->header, &readings);
			SHIM_EVENT(&trial, SHIM_TASK_END, 0, 0);
		}
		took = (shim__ticks() - before) * (1024 / TRIAL_EVENTS);
		if (took < quickest)
			quickest = took;
	}
	__atomic_store_n(&local->header->event_ticks, (uint32_t)quickest, __ATOMIC_RELAXED);
}

/* Nothing is recorded any more, for good or for a while. */
static void tell_over(const struct shim_header *header)
{
	void (*over)(void) = __atomic_load_n(&shim_process.over, __ATOMIC_RELAXED);

	if (over && shim__is_over(header))
		over();
}

struct shim_local *shim__renew(const struct shim_local *local)
{
	if (__atomic_load_n(&local->session, __ATOMIC_RELAXED) !=
	    __atomic_load_n(&shim_process.session, __ATOMIC_ACQUIRE))
		return shim__join();
	tell_over(local->header);
	return NULL;
}

/* The thread has no ring. It does not try again before the next session. */
static void stay_out(struct shim_header *header, uint32_t session)
{
	/* This header is never enabled. */
	static struct shim_header disabled;
	static struct shim_local nobody;

	__atomic_fetch_add(&header->unseated, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&nobody.header, &disabled, __ATOMIC_RELAXED);
	__atomic_store_n(&nobody.session, session, __ATOMIC_RELAXED);
	shim_local = &nobody;
}

/* The head divided by SHIM_HERE_WORDS, modulo 256. make_room() is called for each value. */
static uint8_t here_of(const struct shim_local *local)
{
	return (uint8_t)(local->head / SHIM_HERE_WORDS);
}

/* Takes a ring for the thread. */
static void sit_down(struct shim_local *local)
{
	struct caller_state callers = caller_state__save();

	/* The counters may be those of an earlier session. */
	counters__leave(false);
	local->head = __atomic_load_n(&local->control->tail, __ATOMIC_ACQUIRE);
	local->limit = 0;
	local->here = (uint8_t)(here_of(local) - 1);
	fill_block(local, order_at(local, local->head));
	local->on_cpu = (const volatile int32_t *)((char *)__builtin_thread_pointer() +
						   __atomic_load_n(&shim_process.cpu_at, __ATOMIC_RELAXED));
	for (uint32_t i = 0; local->head && i < SHIM_BLOCKS; i++)
		if (local->mapped <= order_at(local, i * block_words(local)))
			local->mapped = (uint8_t)(order_at(local, i * block_words(local)) + 1);
	local->control->tid = (uint32_t)syscall(SYS_gettid);
	local->joined += (uint32_t)__atomic_fetch_add(&local->header->generations, 1, __ATOMIC_RELAXED) + 1;
	local->fresh = SHIM_FRESH;
	if (!__atomic_load_n(&local->header->event_ticks, __ATOMIC_RELAXED))
		measure_cost(local);
	shim_local = local;
	__atomic_load_n(&shim_process.keep, __ATOMIC_RELAXED)(local);
	caller_state__restore(callers);
}

struct shim_local *shim__join(void)
{
	uint32_t session = __atomic_load_n(&shim_process.session, __ATOMIC_ACQUIRE), number, words;
	struct shim_header *header;
	struct shim_local *local, *locals;
	uint64_t joined;
	int state = SHIM_ASK;

	if (__atomic_compare_exchange_n(&shim_process.state, &state, SHIM_ASKING, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		__atomic_load_n(&shim_process.ask, __ATOMIC_RELAXED)();
	/*
	 * This is read before the state. So the header of a new session is seen together with all that
	 * belongs to it, or not at all.
	 */
	header = __atomic_load_n(&shim_process.header, __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&shim_process.state, __ATOMIC_ACQUIRE) != SHIM_ON)
		return NULL;
	if (__atomic_load_n(&header->enabled, __ATOMIC_ACQUIRE) != SHIM_RECORDS) {
		tell_over(header);
		return NULL;
	}
	if (!claim(header, &number)) {
		stay_out(header, session);
		return NULL;
	}
	words = __atomic_load_n(&header->ring_words, __ATOMIC_ACQUIRE);
	locals = __atomic_load_n(&shim_process.locals, __ATOMIC_ACQUIRE);
	joined = __atomic_load_n(&shim_process.joined, __ATOMIC_ACQUIRE);
	/*
	 * The session may have ended meanwhile, or another one may have begun. Then the ring is given back,
	 * and the thread's next event tries again. This also happens if other memory has replaced the
	 * rings: that memory is never enabled.
	 */
	if (__atomic_load_n(&header->enabled, __ATOMIC_ACQUIRE) != SHIM_RECORDS ||
	    __atomic_load_n(&shim_process.session, __ATOMIC_RELAXED) != session) {
		__atomic_store_n(&thread_at(header, number)->state, SHIM_ENDED, __ATOMIC_RELEASE);
		return NULL;
	}
	local = &locals[number];
	*local = (struct shim_local){
		.header = header,
		.control = thread_at(header, number),
		.mask = words / SHIM_BLOCKS - 1,
		.cpu = INT32_MIN,
		.session = session,
		.joined = (uint32_t)joined,
	};
	sit_down(local);
	return local;
}

void shim__leave(void)
{
	struct shim_local *local = shim_local;

	if (!local)
		return;
	shim_local = NULL;
	counters__leave(false);
	if (local->control)
		__atomic_store_n(&local->control->state, SHIM_ENDED, __ATOMIC_RELEASE);
}

static void put(struct shim_local *local, uint64_t word)
{
	*shim__word(local, local->head++) = word;
}

/*
 * The first access to a page of the ring costs a fault, as much as thirty events. One call for many pages
 * is cheaper. Kernels before 5.14 refuse the call; then faults do the work.
 */
static void map_block(const struct shim_local *local, uint8_t block)
{
	int error = errno;
	uint64_t faults = local->header->counters ? counters__faults() : 0;

	madvise(block_at(local, block), block_words(local) * sizeof(uint64_t), MADV_POPULATE_WRITE);
	if (local->header->counters)
		counters__own_faults(faults);
	errno = error;
}

/*
 * Chooses the next block: the first one that graind has read completely (`tail` is how far it has read). So
 * the same memory is written again, which is allocated and in caches.
 */
static void begin_block(struct shim_local *local, uint64_t tail)
{
	uint64_t used = 0;
	uint8_t block;

	for (uint64_t at = block_start(local, tail); at < local->head; at += block_words(local))
		used |= UINT64_C(1) << order_at(local, at);
	/* A block is free: the limit keeps the head within SHIM_BLOCKS of the tail's block. */
	block = (uint8_t)__builtin_ctzll(~used | UINT64_C(1) << (SHIM_BLOCKS - 1));
	__atomic_store_n(&local->control->order[local->head / block_words(local) % SHIM_BLOCKS], block,
			 __ATOMIC_RELAXED);
	fill_block(local, block);
	if (block >= local->mapped) {
		map_block(local, block);
		local->mapped = (uint8_t)(block + 1);
	}
}

/*
 * Makes room for up to `words` words in one block, given how far graind has read. The head is then in that
 * block.
 */
static bool find_room(struct shim_local *local, unsigned words, uint64_t tail)
{
	uint64_t full = block_start(local, tail) + SHIM_BLOCKS * block_words(local);
	uint64_t rest = -local->head & local->mask, start = local->head + (rest < words ? rest : 0), end;

	if (start + words > full)
		return false;
	while (local->head < start)
		put(local, SHIM_WORD(SHIM_NOTHING, 0, 0));
	if (!(local->head & local->mask))
		begin_block(local, tail);
	end = ((local->head + SHIM_ROOM) | (SHIM_HERE_WORDS - 1)) + 1;
	if (end > (local->head | local->mask) + 1)
		end = (local->head | local->mask) + 1;
	if (end > full)
		end = full;
	local->limit = end - SHIM_ROOM + 1;
	return true;
}

/*
 * Waits for room for up to `words` words. False: there is no room and nobody reads. The naps become longer
 * with time. Each nap is a pair of events for a reader that watches the scheduler, and that reader is then
 * behind, too.
 */
static bool wait_for_room(struct shim_local *local, unsigned words)
{
	struct timespec nap = {.tv_nsec = FIRST_NAP_NS};
	struct caller_state callers;

	for (;;) {
		uint64_t tail = __atomic_load_n(&local->control->tail, __ATOMIC_ACQUIRE);
		uint64_t now = shim__ticks();
		uint32_t beat = __atomic_load_n(&local->header->beat, __ATOMIC_RELAXED);

		if (find_room(local, words, tail))
			return true;
		/*
		 * The next event must come here, too: it must not be written before the words about lost
		 * events.
		 */
		local->limit = 0;
		if (beat != local->beat || !local->beat_ticks) {
			local->beat = beat;
			local->beat_ticks = now;
		} else if (now - local->beat_ticks > SILENCE_SECONDS * local->header->ticks_per_second) {
			shim__end(local->header);
		}
		if (!local->header->lossless || shim__is_over(local->header))
			return false;
		callers = caller_state__save();
		nanosleep(&nap, NULL);
		caller_state__restore(callers);
		if (nap.tv_nsec < LAST_NAP_NS)
			nap.tv_nsec += nap.tv_nsec / 4;
	}
}

static void write_held(struct shim_local *local)
{
	uint64_t at = local->held_at;

	local->held_at = 0;
	for (int i = 0; i < 2; i++)
		shim__put_at(local, at, local->held[i]);
}

/* Lost events may include the begin of a region. */
static enum shim_start start_of(const struct shim_local *local)
{
	bool (*outside)(void) = __atomic_load_n(&shim_process.outside, __ATOMIC_ACQUIRE);

	return outside && !local->lost && local->fresh != SHIM_FRESH_STRANGER && outside()
		       ? SHIM_START_OUTSIDE
		       : SHIM_START_UNKNOWN;
}

static void tell_here(struct shim_local *local)
{
	local->here = here_of(local);
	put(local, SHIM_WORD(SHIM_HERE, 0, 0) | (uint64_t)(uint32_t)local->cpu << 32);
	put(local, SHIM_HERE_MARK);
	put(local, local->ticks);
	put(local, SHIM_TASK_KEY(local->joined, local->created));
}

/* Writes the values of the counters. The limit of 0 makes the next event come here, too. */
static void tell_counters(struct shim_local *local)
{
	uint32_t count = local->header->counters;
	struct shim_readings readings;

	counters__read(local->header, &readings);
	for (uint32_t first = 0; first < count && first < SHIM_COUNTERS_MAX; first += SHIM_COUNTERS_EACH) {
		uint32_t n = count - first < SHIM_COUNTERS_EACH ? count - first : SHIM_COUNTERS_EACH;

		put(local, SHIM_WORD(SHIM_COUNTERS, 0,
				     SHIM_COUNTERS_ARG(first, n, readings.blind >> first & ((1u << n) - 1))));
		for (uint32_t i = 0; i < n && first + i < SHIM_COUNTERS_MAX; i++)
			put(local, readings.value[first + i]);
	}
	local->limit = 0;
}

uint64_t shim__make_room(struct shim_local *local)
{
	uint64_t ticks;
	int32_t cpu;

	/* A trial has no blocks: the CPU has changed, or time has passed. */
	if (UNLIKELY(local->fresh == SHIM_TRIAL)) {
		local->cpu = *local->on_cpu;
		return shim__ticks();
	}
	if (UNLIKELY(local->held_at))
		write_held(local);
	/* Room for the words that come first, and for the event. */
	if (!wait_for_room(local, TOLD_FIRST + SHIM_WORDS_MAX)) {
		local->lost++;
		__atomic_store_n(&local->control->lost, local->lost, __ATOMIC_RELAXED);
		__atomic_store_n(&local->control->missed, local->control->missed + 1, __ATOMIC_RELAXED);
		return 0;
	}
	ticks = shim__ticks();
	if (local->fresh) {
		put(local, SHIM_WORD(SHIM_JOIN, 0, start_of(local)));
		put(local, (uint64_t)local->joined << 32 | local->control->tid);
		local->fresh = SHIM_WRITTEN;
	}
	if (ticks - local->ticks > SHIM_TICKS_MAX) {
		put(local, SHIM_WORD(SHIM_TIME, 0, 0));
		put(local, ticks);
		local->ticks = ticks;
	}
	if (local->lost) {
		put(local, SHIM_WORD(SHIM_LOST, 0, 0));
		put(local, local->lost);
		put(local, local->created);
		local->lost = 0;
		__atomic_store_n(&local->control->lost, 0, __ATOMIC_RELAXED);
	}
	cpu = *local->on_cpu;
	if (cpu != local->cpu) {
		put(local, SHIM_WORD(SHIM_CPU, 0, 0));
		put(local, (uint64_t)(uint32_t)cpu);
		local->cpu = cpu;
	}
	if (here_of(local) != local->here)
		tell_here(local);
	if (UNLIKELY(local->header->counters))
		tell_counters(local);
	return ticks;
}

uint32_t shim__new_site(uint64_t entry)
{
	uint32_t at = (uint32_t)(entry * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHIM_SITE_BITS));

	for (uint32_t i = 0; i < SITE_TRIES; i++, at++) {
		uint64_t found;

		at %= SHIM_SITES;
		if (!at)
			continue;
		found = __atomic_load_n(&shim__sites()[at], __ATOMIC_RELAXED);
		if (found == entry)
			return at;
		if (found)
			continue;
		if (__atomic_compare_exchange_n(&shim__sites()[at], &found, entry, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED)) {
			__atomic_fetch_add(
				&__atomic_load_n(&shim_process.header, __ATOMIC_ACQUIRE)->site_count, 1,
				__ATOMIC_RELEASE);
			return at;
		}
		if (found == entry)
			return at;
	}
	__atomic_fetch_add(&__atomic_load_n(&shim_process.header, __ATOMIC_ACQUIRE)->unnumbered, 1,
			   __ATOMIC_RELAXED);
	return 0;
}

void shim__put_at(struct shim_local *local, uint64_t ticks, uint64_t word)
{
	if (!shim__make_room(local))
		return;
	put(local, SHIM_WORD(SHIM_TIME, 0, 0));
	put(local, ticks);
	put(local, word);
	local->ticks = ticks;
	if (shim__is_grain(word))
		__atomic_store_n(&local->control->grains, local->control->grains + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&local->control->head, local->head, __ATOMIC_RELEASE);
}

void shim__put_slowly(struct shim_local *local, uint64_t word, unsigned count, uint64_t a, uint64_t b,
		      uint64_t c)
{
	uint64_t ticks = shim__ticks();

	if (!shim__fits(local, ticks - local->ticks))
		ticks = shim__make_room(local);
	if (ticks)
		shim__write(local, ticks, word, count, a, b, c);
}

void shim__put_creation_slowly(struct shim_local *local, uint64_t word)
{
	shim__put_slowly(local, word, 0, 0, 0, 0);
	local->created++;
}

void shim__put_pair_slowly(struct shim_local *local, uint64_t ticks, uint64_t first, uint64_t word,
			   unsigned count, uint64_t a, uint64_t b)
{
	shim__put_at(local, ticks, first);
	if ((first & 63) == SHIM_TASK_CREATE)
		local->created++;
	shim__put(local, word, count, a, b, 0);
}

void shim__put_answer_at_length(struct shim_local *local, uint64_t asked, uint64_t now, bool any,
				uint32_t how, uint64_t lower, uint64_t upper)
{
	const uint64_t next = SHIM_WORD(SHIM_CHUNK_NEXT, 0, 0);

	if (!any)
		shim__put_pair(local, asked, next, now, SHIM_WORD(SHIM_LOOP_END, 0, 0), 0, 0, 0);
	else if (shim__is_short(lower, upper))
		shim__put_pair(local, asked, next, now,
			       SHIM_WORD(SHIM_CHUNK_BEGIN, 0, how | SHIM_CHUNK_SHORT), 1,
			       shim__short_chunk(lower, upper), 0);
	else
		shim__put_pair(local, asked, next, now, SHIM_WORD(SHIM_CHUNK_BEGIN, 0, how), 2, lower, upper);
}
