// SPDX-License-Identifier: BSD-2-Clause
/* A thread's side of its ring (runtime-shim/ring/ring.c): who joins when the rings go, what has no number any
 * more, and what measuring an event leaves behind. */
#include "runtime-shim/ring/ring.h"
#include "tests/unit/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 2u
#define WORDS SHIM_RING_WORDS_MIN
#define MANY 20000u

static struct shim_header *rings;
static size_t rings_bytes;
static struct shim_local locals[THREADS];

static void nothing(struct shim_local *local)
{
	(void)local;
}

static void make_rings(void)
{
	rings_bytes = shim__bytes(THREADS, WORDS);
	rings = mmap(NULL, rings_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (rings == MAP_FAILED)
		exit(1);
	*rings = (struct shim_header){.magic = SHIM_MAGIC,
				      .version = SHIM_VERSION,
				      .threads = THREADS,
				      .ring_words = WORDS,
				      .clock = SHIM_CLOCK_MONOTONIC,
				      .ticks_per_second = 1000000000,
				      .enabled = SHIM_RECORDS};
	shim_process.header = rings;
	shim_process.locals = locals;
	shim_process.sites = (uint64_t *)((char *)rings + SHIM_SITES_AT);
	shim_process.keep = nothing;
	shim_process.state = SHIM_ON;
	shim_local = NULL;
}

/* Other memory is there when the thread touches what it is about to claim: as the recording's end has it. */
static void let_go(int signal)
{
	(void)signal;
	mmap(rings, rings_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void test_rings_that_go(void)
{
	const struct sigaction action = {.sa_handler = let_go}, otherwise = {.sa_handler = SIG_DFL};
	struct shim_local before = {.cpu = 77};

	make_rings();
	locals[0] = before;
	sigaction(SIGSEGV, &action, NULL);
	mprotect((char *)rings + (SHIM_THREADS_AT & ~4095u), 4096, PROT_NONE);
	CHECK(shim__here() == NULL && !shim_local, "rings that go while a thread joins: it has none");
	sigaction(SIGSEGV, &otherwise, NULL);
	CHECK(!memcmp(&locals[0], &before, sizeof(before)), "and leaves alone who has that number");
	make_rings();
	CHECK(shim__here() && shim_local == &locals[0], "with rings that stay it joins");
	SHIM_EVENT(shim_local, SHIM_TASK_END, 0, 0);
	CHECK(((struct shim_thread *)((char *)rings + SHIM_THREADS_AT))->head > 0, "and writes");
	shim__leave();
}

static uint64_t entry_of(uint32_t i)
{
	return ((uint64_t)i * 48 + 4096) << SHIM_SITE_KIND_BITS | SHIM_SITE_TASK;
}

static void test_sites(void)
{
	static uint32_t number[MANY];
	uint32_t numbered = 0, changed = 0, wrong = 0;
	uint64_t started, took, unnumbered;

	make_rings();
	for (uint32_t i = 0; i < MANY; i++) {
		number[i] = shim__new_site(entry_of(i));
		numbered += number[i] != 0;
		wrong += number[i] && shim__sites()[number[i]] != entry_of(i);
	}
	CHECK(numbered > SHIM_SITES / 8 * 7 && numbered < SHIM_SITES && !wrong,
	      "of many addresses %u have a number", numbered);
	CHECK(rings->unnumbered == MANY - numbered && rings->site_count == numbered,
	      "the others are counted");
	unnumbered = rings->unnumbered;
	started = shim__clock_ns();
	for (uint32_t i = 0; i < MANY; i++)
		changed += shim__new_site(entry_of(i)) != number[i];
	took = (shim__clock_ns() - started) / MANY;
	CHECK(!changed, "a number is what it was");
	CHECK(rings->unnumbered == unnumbered + MANY - numbered, "each event without one is counted");
	CHECK(took < 3000, "looking in vain takes %llu ns", (unsigned long long)took);
}

static __thread int32_t cpu;
static int moved_enough;

static void *move(void *of_thread)
{
	volatile int32_t *number = of_thread;

	while (!__atomic_load_n(&moved_enough, __ATOMIC_RELAXED))
		*number = (*number + 1) % 1024;
	return NULL;
}

/* The first thread measures what an event costs: for as long as that takes it need not stay where it is. */
static void test_moved_while_measuring(void)
{
	ptrdiff_t before = shim_process.cpu_at;
	uint32_t measured = 0, empty = 0, tids = 0;
	pthread_t mover;

	shim_process.cpu_at = (char *)&cpu - (char *)__builtin_thread_pointer();
	if (pthread_create(&mover, NULL, move, &cpu))
		exit(1);
	for (int i = 0; i < 100; i++) {
		struct shim_thread *control;

		make_rings();
		control = (struct shim_thread *)((char *)rings + SHIM_THREADS_AT);
		if (!shim__here())
			continue;
		measured += rings->event_ticks > 0 && rings->event_ticks < UINT32_MAX;
		empty += !control->head && !control->grains && !control->missed && !shim_local->head;
		SHIM_EVENT(shim_local, SHIM_TASK_END, 0, 0);
		/* What comes first, whatever was measured before. */
		tids += control->head > 2 && (*shim__word(shim_local, 0) & 63) == SHIM_JOIN &&
			(uint32_t)*shim__word(shim_local, 1) == (uint32_t)gettid();
		shim__leave();
		munmap(rings, rings_bytes);
	}
	__atomic_store_n(&moved_enough, 1, __ATOMIC_RELAXED);
	pthread_join(mover, NULL);
	shim_process.cpu_at = before;
	CHECK(measured == 100, "on changing CPUs: what an event costs is measured");
	CHECK(empty == 100, "nothing of it is in the ring");
	CHECK(tids == 100, "which begins with who joins");
}

/* What a reader knows of a thread that has read all of its words. */
struct reader {
	uint64_t at, ticks, joined;
	int32_t cpu;
	uint32_t heres, wrong;
	uint64_t last_here, longest; /* words between two */
};

static void read_one(struct reader *r, const struct shim_thread *thread)
{
	const uint64_t *ring = (uint64_t *)((char *)rings + shim__rings_at(THREADS));
	uint64_t word[4];

	for (uint64_t i = 0; i < 4; i++)
		word[i] = ring[shim__place(thread, WORDS, r->at + i)];
	switch (word[0] & 63) {
	case SHIM_JOIN:
		r->joined = word[1] >> 32;
		r->at += 2;
		break;
	case SHIM_TIME:
		r->ticks = word[1];
		r->at += 2;
		break;
	case SHIM_CPU:
		r->cpu = (int32_t)word[1];
		r->at += 2;
		break;
	case SHIM_HERE:
		r->wrong += word[1] != SHIM_HERE_MARK || word[2] != r->ticks ||
			    word[3] != SHIM_TASK_KEY(r->joined, 5) || (int32_t)(word[0] >> 32) != r->cpu;
		if (r->at - r->last_here > r->longest)
			r->longest = r->at - r->last_here;
		r->last_here = r->at;
		r->heres++;
		r->at += 4;
		break;
	case SHIM_NOTHING:
		r->at++;
		break;
	default:
		r->ticks += word[0] >> 32;
		r->wrong += (word[0] & 63) != SHIM_TASK_END;
		r->at++;
		break;
	}
}

/* Where a thread is, who begins to read in the midst finds now and then. */
static void test_here(void)
{
	struct shim_thread *control;
	struct reader reader = {.cpu = -1};

	make_rings();
	control = (struct shim_thread *)((char *)rings + SHIM_THREADS_AT);
	if (!shim__here())
		exit(1);
	shim_local->created = 5;
	for (int round = 0; round < 400; round++) {
		for (int i = 0; i < 77; i++)
			SHIM_EVENT(shim_local, SHIM_TASK_END, 0, 0);
		while (reader.at < control->head)
			read_one(&reader, control);
		__atomic_store_n(&control->tail, reader.at, __ATOMIC_RELEASE);
	}
	shim__leave();
	CHECK(!control->missed && reader.wrong == 0, "%u words are what was written", (unsigned)reader.at);
	CHECK(reader.heres > reader.at / SHIM_HERE_WORDS && reader.longest < SHIM_HERE_WORDS + 64,
	      "%u times where the thread is, at most %u words apart", reader.heres, (unsigned)reader.longest);
}

int main(void)
{
	test_rings_that_go();
	test_sites();
	test_moved_while_measuring();
	test_here();
	CHECK_DONE();
}
