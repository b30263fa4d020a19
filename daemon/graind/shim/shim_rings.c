// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/shim/shim_rings.h"
#include "daemon/graind/shim/clock_pair.h"
#include "daemon/graind/shim/shim_counters.h"
#include "daemon/graind/base/sums.h"
#include "daemon/graind/base/urgency.h"
#include "bpf/abi/shim_abi.h"
#include "daemon/common/process/pass_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define THREADS 256
#define RING_WORDS SHIM_RING_WORDS
#define BLOCK_WORDS (RING_WORDS / SHIM_BLOCKS)
/* The largest number of threads of a process that are read in a search for one thread. */
#define TASKS 4096
/* The pause between two lists of threads is this many times the duration of making one. */
#define LIST_SHARE 50
/*
 * This bit is set if the number is a thread's id in the process' own namespace: the thread ended before its
 * id in our namespace was searched for. The kernel's ids never have this bit.
 */
#define TID_THERE (1u << 30)
#define LEAST_NS_PER_EVENT 1
#define MOST_NS_PER_EVENT 100000
/* More events than any processor can write. If a process reports larger counts, they are not believed. */
#define EVENTS_PER_US 250
#define THREADS_PER_US 1
/* The number of words in one chunk of the trace. */
#define TAKE_WORDS TRACE_WORDS_MAX
/*
 * The size of cuts while words arrive, even if many words arrive. With small cuts a reader has less to sort
 * and keeps less of the past.
 */
#define CUT_WORDS (2u * TAKE_WORDS)
#define CUTS 16

struct ring {
	uint64_t tail;	 /* words that were taken */
	uint64_t seen;	 /* words in the latest cut */
	uint64_t paced;	 /* words that were taken since the last shim_rings__pace() */
	uint32_t stream; /* stream of its current thread */
	uint32_t tid;	 /* id of its thread in graind's namespace; 0: not known yet */
};

/*
 * A cut: the positions up to which all rings were written at one time. All threads' words in a cut are
 * converted by the same two readings of the clocks, so that a cause stays before its effect. One reading
 * was taken before the positions were read: everything up to it is in this cut or an older one. The other
 * was taken after.
 */
struct cut {
	uint64_t ticks[2], ns[2];
	uint32_t claimed;
	bool ended[THREADS]; /* the ring's thread has ended */
	uint64_t until[THREADS];
};

/* The counts that the process reported, as far as they were believed. They never decrease. */
struct said {
	uint64_t grains, missed;
	bool impossible; /* it has reported an impossible count */
};

/* The ids of a thread. */
struct task {
	uint32_t here, there;
};

struct shim_rings {
	pid_t pid;
	int connection;
	int memory;		    /* the whole memory */
	struct shim_header *header; /* the part of the memory before the rings: `bytes` bytes */
	size_t bytes;
	uint32_t streams; /* number of threads so far */
	uint32_t sites_seen;
	uint64_t broken;
	uint64_t began_ns;
	long cpus;
	struct said said;
	bool disabled, stopped; /* disabled: graind disabled it; stopped: the process stopped before that */
	struct clock_pair clock;
	struct counter_set counters; /* set until they are written to the trace */
	bool lives_apart;	     /* the process is in another PID namespace */
	uint32_t there;		     /* its number in that namespace; 0: it had already ended */
	bool tasks_listed;	     /* in the present round */
	uint64_t may_list_ns;	     /* the threads may be listed again from this time on */
	size_t task_count;
	struct task tasks[TASKS];
	struct ring rings[THREADS];
	struct cut cuts[CUTS]; /* a circular list of cuts that are not taken yet, the oldest first */
	uint64_t first_cut, next_cut;
	uint64_t sites[SHIM_SITES]; /* the sites that are in the trace */
	uint64_t words[TAKE_WORDS];
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct shim_thread *thread_at(const struct shim_rings *rings, uint32_t number)
{
	return (struct shim_thread *)((char *)rings->header + SHIM_THREADS_AT) + number;
}

/*
 * Reads words of a ring from one of its blocks. Reads them as a file instead of mapping them: memory that
 * the process has never written, or has freed again, reads as zeros, and reading does not allocate it.
 */
static void read_words(const struct shim_rings *rings, uint32_t number, uint64_t place, uint64_t *words,
		       size_t count)
{
	const uint64_t at = shim__rings_at(THREADS) + ((uint64_t)number * RING_WORDS + place) * 8;
	ssize_t got = pread(rings->memory, words, count * 8, (off_t)at);

	/* This is not expected. The buffer may still have words of another thread. */
	if (got < (ssize_t)(count * 8))
		memset((char *)words + (got > 0 ? got : 0), 0, count * 8 - (size_t)(got > 0 ? got : 0));
}

/*
 * The memory is sealed, so that none of our accesses can fail. Our accesses may allocate all of the mapped
 * part, which is some thirty pages.
 */
static int make_memory(struct shim_rings *rings)
{
	int fd = memfd_create("graind-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING), error = 0;

	if (fd < 0)
		return -errno;
	rings->bytes = shim__rings_at(THREADS);
	if (ftruncate(fd, (off_t)shim__bytes(THREADS, RING_WORDS)) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		error = -errno;
	if (!error) {
		rings->header = mmap(NULL, rings->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (rings->header == MAP_FAILED) {
			rings->header = NULL;
			error = -errno;
		}
	}
	if (error)
		close(fd);
	else
		rings->memory = fd;
	return error;
}

static int hand_over(const struct shim_rings *rings)
{
	const struct shim_welcome welcome = {.magic = SHIM_MAGIC, .version = SHIM_VERSION};

	return pass_fd__send(rings->connection, &welcome, sizeof(welcome), rings->memory, MSG_DONTWAIT);
}

/* Starts the clocks, and writes the header with the speed of its clock. */
static void start_clocks(struct shim_rings *rings, const struct shim_rings_opts *opts)
{
	clock_pair__start(&rings->clock);
	*rings->header = (struct shim_header){
		.magic = SHIM_MAGIC,
		.version = SHIM_VERSION,
		.threads = THREADS,
		.ring_words = RING_WORDS,
		.clock = rings->clock.use_counter ? SHIM_CLOCK_COUNTER : SHIM_CLOCK_MONOTONIC,
		.lossless = opts->lossless,
		.ticks_per_second = (uint64_t)rings->clock.ticks_per_second,
		.enabled = opts->pauses ? SHIM_PAUSES : SHIM_RECORDS,
	};
}

/*
 * Returns the last number of a thread. A thread has one number for each PID namespace, from ours to its
 * own. 0: not known.
 */
static uint32_t innermost(pid_t pid, const char *task)
{
	char path[64], line[256];
	uint32_t last = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid, task);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		char *at = line + 6, *end;

		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (unsigned long number; (number = strtoul(at, &end, 10)), end != at; at = end)
			last = (uint32_t)number;
	}
	fclose(file);
	return last;
}

int shim_rings__new(pid_t pid, int connection, const struct shim_rings_opts *opts, struct shim_rings **out)
{
	struct shim_rings *rings = calloc(1, sizeof(*rings));
	char name[16];
	int error;

	if (!rings) {
		close(connection);
		return -ENOMEM;
	}
	rings->pid = pid;
	rings->connection = connection;
	rings->memory = -1;
	rings->began_ns = now_ns();
	rings->cpus = sysconf(_SC_NPROCESSORS_CONF);
	snprintf(name, sizeof(name), "%d", (int)pid);
	rings->there = innermost(pid, name);
	rings->lives_apart = rings->there && rings->there != (uint32_t)pid;
	error = make_memory(rings);
	if (error) {
		shim_rings__free(rings);
		return error;
	}
	start_clocks(rings, opts);
	if (opts->counters) {
		rings->counters = *opts->counters;
		shim_counters__ask(rings->header, &rings->counters);
	}
	error = hand_over(rings);
	if (error) {
		shim_rings__free(rings);
		return error;
	}
	*out = rings;
	return 0;
}

static void change(struct shim_rings *rings, uint32_t from, uint32_t to)
{
	__atomic_compare_exchange_n(&rings->header->enabled, &from, to, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

void shim_rings__pause(struct shim_rings *rings)
{
	change(rings, SHIM_RECORDS, SHIM_PAUSES);
}

void shim_rings__resume(struct shim_rings *rings)
{
	change(rings, SHIM_PAUSES, SHIM_RECORDS);
}

void shim_rings__pace(struct shim_rings *rings, uint64_t *most, uint64_t *all)
{
	*most = *all = 0;
	for (uint32_t i = 0; i < THREADS; i++) {
		struct ring *ring = &rings->rings[i];

		*all += ring->paced;
		*most = ring->paced > *most ? ring->paced : *most;
		ring->paced = 0;
	}
}

void shim_rings__disable(struct shim_rings *rings)
{
	if (!rings->disabled)
		rings->stopped = __atomic_load_n(&rings->header->enabled, __ATOMIC_ACQUIRE) == SHIM_OVER;
	rings->disabled = true;
	__atomic_store_n(&rings->header->enabled, SHIM_OVER, __ATOMIC_RELEASE);
}

void shim_rings__free(struct shim_rings *rings)
{
	if (!rings)
		return;
	if (rings->header) {
		shim_rings__disable(rings);
		munmap(rings->header, rings->bytes);
	}
	if (rings->memory >= 0)
		close(rings->memory);
	close(rings->connection);
	free(rings);
}

/* Lists the ids of all threads of the process in both namespaces. Does so only once in each round. */
static void list_tasks(struct shim_rings *rings)
{
	char path[64];
	const uint64_t began_ns = urgency__cpu_ns();
	struct dirent *entry;
	DIR *directory;

	if (rings->tasks_listed || now_ns() < rings->may_list_ns)
		return;
	rings->tasks_listed = true;
	rings->task_count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)rings->pid);
	directory = opendir(path);
	while (directory && rings->task_count < TASKS && (entry = readdir(directory))) {
		struct task task = {.here = (uint32_t)strtoul(entry->d_name, NULL, 10)};

		task.there = task.here ? innermost(rings->pid, entry->d_name) : 0;
		if (task.there)
			rings->tasks[rings->task_count++] = task;
	}
	if (directory)
		closedir(directory);
	rings->may_list_ns = now_ns() + LIST_SHARE * (urgency__cpu_ns() - began_ns);
}

/* Finds the number in our namespace of a thread that reports its number in its own namespace. */
static uint32_t find_tid(struct shim_rings *rings, uint32_t tid)
{
	char name[16];

	if (!rings->lives_apart)
		return tid;
	if (rings->there == tid)
		return (uint32_t)rings->pid;
	snprintf(name, sizeof(name), "%u", tid);
	if (innermost(rings->pid, name) == tid)
		return tid;
	list_tasks(rings);
	for (size_t i = 0; i < rings->task_count; i++)
		if (rings->tasks[i].there == tid)
			return rings->tasks[i].here;
	return TID_THERE | tid;
}

static const struct {
	const char *kind;
	bool is_return;
} site_kinds[SHIM_SITE_MAX] = {
	[SHIM_SITE_TASK] = {"task", true},
	[SHIM_SITE_TASKLOOP] = {"taskloop", true},
	[SHIM_SITE_PARALLEL] = {"parallel", true},
	[SHIM_SITE_TEAMS] = {"teams", true},
	[SHIM_SITE_TASKWAIT] = {"taskwait", true},
	[SHIM_SITE_TASKGROUP] = {"taskgroup", true},
	[SHIM_SITE_BARRIER] = {"barrier", true},
	[SHIM_SITE_TASKYIELD] = {"taskyield", true},
	[SHIM_SITE_SINGLE] = {"single", true},
	[SHIM_SITE_CANCEL] = {"cancel", true},
	[SHIM_SITE_LOOP] = {"loop", true},
	[SHIM_SITE_SECTIONS] = {"sections", true},
	[SHIM_SITE_CRITICAL] = {"critical", true},
	[SHIM_SITE_ORDERED] = {"ordered", true},
	[SHIM_SITE_LOCK] = {"lock", true},
	[SHIM_SITE_ATOMIC] = {"atomic", true},
	[SHIM_SITE_SHARE] = {"loop", true},
	[SHIM_SITE_TASK_BODY] = {"task", false},
	[SHIM_SITE_MEMBER_BODY] = {"parallel", false},
};

/* Takes sites that are new since the last call. Each number is taken once. */
static void take_sites(struct shim_rings *rings, struct recorder *recorder)
{
	uint32_t count = __atomic_load_n(&rings->header->site_count, __ATOMIC_ACQUIRE);
	const uint64_t *shared = (const uint64_t *)((const char *)rings->header + SHIM_SITES_AT);

	if (count == rings->sites_seen)
		return;
	rings->sites_seen = count;
	for (uint32_t i = 1; i < SHIM_SITES; i++) {
		uint64_t entry = __atomic_load_n(&shared[i], __ATOMIC_ACQUIRE);
		uint32_t kind = entry & ((1u << SHIM_SITE_KIND_BITS) - 1);

		if (rings->sites[i] || !entry || kind >= SHIM_SITE_MAX || !site_kinds[kind].kind)
			continue;
		rings->sites[i] = entry;
		recorder__word_site(recorder, i, entry >> SHIM_SITE_KIND_BITS, site_kinds[kind].kind,
				    site_kinds[kind].is_return, kind == SHIM_SITE_SHARE);
	}
}

/*
 * Reads up to where the ring is written. The result never decreases, and is never more than the ring has
 * room for.
 */
static void look_at_head(struct shim_rings *rings, uint32_t number, struct cut *cut)
{
	struct shim_thread *thread = thread_at(rings, number);
	struct ring *ring = &rings->rings[number];

	/* The state is read first: if the thread has ended, everything that it wrote is already there. */
	cut->ended[number] = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == SHIM_ENDED;
	cut->until[number] = __atomic_load_n(&thread->head, __ATOMIC_ACQUIRE);
	if (cut->until[number] - ring->seen <= RING_WORDS - (ring->seen - ring->tail))
		return;
	rings->broken += RING_WORDS;
	ring->tail = ring->seen = cut->until[number];
	for (uint64_t i = rings->first_cut; i < rings->next_cut; i++)
		rings->cuts[i % CUTS].until[number] = ring->tail;
	__atomic_store_n(&thread->tail, ring->tail, __ATOMIC_RELEASE);
}

/*
 * Makes a cut of the present positions. Does so only if the earlier cuts have at least `least` fewer words,
 * and if there is also room for one more cut, which the next call needs.
 */
static void cut_more(struct shim_rings *rings, uint64_t least)
{
	struct cut *cut = &rings->cuts[rings->next_cut % CUTS];
	uint64_t more = 0;

	if (rings->next_cut - rings->first_cut + (least > 0) >= CUTS)
		return;
	cut->claimed = __atomic_load_n(&rings->header->claimed, __ATOMIC_ACQUIRE);
	cut->claimed = cut->claimed < THREADS ? cut->claimed : THREADS;
	for (uint32_t i = 0; i < cut->claimed; i++) {
		look_at_head(rings, i, cut);
		more += cut->until[i] - rings->rings[i].seen;
	}
	if (more < least)
		return;
	for (uint32_t i = 0; i < cut->claimed; i++)
		rings->rings[i].seen = cut->until[i];
	cut->ticks[0] = rings->clock.ticks;
	cut->ns[0] = rings->clock.ns;
	clock_pair__read(&rings->clock);
	cut->ticks[1] = rings->clock.ticks;
	cut->ns[1] = rings->clock.ns;
	rings->next_cut++;
}

/* Takes at most TAKE_WORDS words. Returns their number. */
static size_t take(struct shim_rings *rings, uint32_t number, struct recorder *recorder,
		   const struct cut *cut)
{
	struct shim_thread *thread = thread_at(rings, number);
	struct ring *ring = &rings->rings[number];
	struct trace_words_head head = {.ticks = {cut->ticks[0], cut->ticks[1]},
					.ns = {cut->ns[0], cut->ns[1]}};
	size_t count = cut->until[number] - ring->tail;

	if (!count)
		return 0;
	if (!ring->tid) {
		ring->tid = find_tid(rings, __atomic_load_n(&thread->tid, __ATOMIC_RELAXED));
		ring->stream = rings->streams++;
	}
	count = count < TAKE_WORDS ? count : TAKE_WORDS;
	for (size_t done = 0, part; done < count; done += part) {
		part = BLOCK_WORDS - (ring->tail + done) % BLOCK_WORDS;
		part = part < count - done ? part : count - done;
		read_words(rings, number, shim__place(thread, RING_WORDS, ring->tail + done),
			   rings->words + done, part);
	}
	ring->tail += count;
	ring->paced += count;
	__atomic_store_n(&thread->tail, ring->tail, __ATOMIC_RELEASE);
	head.stream = ring->stream;
	head.tid = ring->tid;
	head.words = (uint32_t)count;
	recorder__words(recorder, &head, rings->words);
	return count;
}

/*
 * Call this when the ring's thread has ended and all its words are taken. Frees the ring for another
 * thread.
 */
static void give_back(struct shim_rings *rings, uint32_t number)
{
	for (uint64_t i = rings->first_cut; i < rings->next_cut; i++)
		rings->cuts[i % CUTS].ended[number] = false;
	rings->rings[number].tid = 0;
	__atomic_store_n(&thread_at(rings, number)->state, SHIM_FREE, __ATOMIC_RELEASE);
}

/* False: a part of the cut is left, because there is no room. */
static bool take_cut(struct shim_rings *rings, struct recorder *recorder, struct cut *cut, bool all)
{
	size_t taken;

	do {
		taken = 0;
		for (uint32_t i = 0; i < cut->claimed; i++) {
			size_t count;

			if (!all && !recorder__has_room(recorder))
				return false;
			count = take(rings, i, recorder, cut);
			if (count) {
				cut_more(rings, CUT_WORDS);
				urgency__pause();
			}
			taken += count;
		}
	} while (taken);
	for (uint32_t i = 0; i < cut->claimed; i++)
		if (cut->ended[i])
			give_back(rings, i);
	return true;
}

long shim_rings__drain(struct shim_rings *rings, struct recorder *recorder, bool all)
{
	uint64_t fullest = 0, until;

	__atomic_fetch_add(&rings->header->beat, 1, __ATOMIC_RELAXED);
	cut_more(rings, 0);
	until = rings->next_cut;
	for (uint32_t i = 0; i < THREADS; i++)
		if (rings->rings[i].seen - rings->rings[i].tail > fullest)
			fullest = rings->rings[i].seen - rings->rings[i].tail;
	if (fullest && rings->counters.counter_count) {
		shim_counters__answer(rings->header, &rings->counters);
		recorder__counters(recorder, &rings->counters);
		rings->counters.counter_count = 0;
	}
	/* A site is in the table before words that use it are in the ring. */
	take_sites(rings, recorder);
	rings->tasks_listed = false;
	while (rings->first_cut < until &&
	       take_cut(rings, recorder, &rings->cuts[rings->first_cut % CUTS], all))
		rings->first_cut++;
	return rings->disabled ? 0 : (long)fullest;
}

/*
 * Returns the reported count if it is possible: at most `per_us` per microsecond and CPU since the process
 * connected. Otherwise returns 0.
 */
static uint64_t believed(struct shim_rings *rings, uint64_t said, uint64_t per_us)
{
	const uint64_t us = (now_ns() - rings->began_ns) / 1000 + 1;
	const uint64_t most = us * per_us * (uint64_t)(rings->cpus > 0 ? rings->cpus : 1);

	rings->said.impossible |= said > most;
	return said <= most ? said : 0;
}

static uint64_t load(const uint64_t *number)
{
	return __atomic_load_n(number, __ATOMIC_RELAXED);
}

void shim_rings__losses(struct shim_rings *rings, struct shim_losses *out)
{
	uint64_t full = 0;

	for (uint32_t i = 0; i < THREADS; i++)
		full = sums__add(full, load(&thread_at(rings, i)->lost));
	*out = (struct shim_losses){
		.full = believed(rings, full, EVENTS_PER_US),
		.broken = believed(rings, rings->broken, EVENTS_PER_US),
		.unseated = believed(rings, load(&rings->header->unseated), THREADS_PER_US),
		.sites = believed(rings, load(&rings->header->unnumbered), EVENTS_PER_US),
		.stopped = rings->stopped,
	};
	out->impossible = rings->said.impossible;
}

void shim_rings__counts(struct shim_rings *rings, struct inside_counts *out)
{
	uint32_t claimed = __atomic_load_n(&rings->header->claimed, __ATOMIC_RELAXED);
	uint64_t grains = 0, missed = 0;

	claimed = claimed < THREADS ? claimed : THREADS;
	for (uint32_t i = 0; i < claimed; i++) {
		grains = sums__add(grains, load(&thread_at(rings, i)->grains));
		missed = sums__add(missed, load(&thread_at(rings, i)->missed));
	}
	grains = believed(rings, grains, EVENTS_PER_US);
	missed = believed(rings, missed, EVENTS_PER_US);
	if (grains > rings->said.grains)
		rings->said.grains = grains;
	if (missed > rings->said.missed)
		rings->said.missed = missed;
	*out = (struct inside_counts){.threads = claimed,
				      .grains = rings->said.grains,
				      .lost = rings->said.missed};
}

double shim_rings__ns_per_event(const struct shim_rings *rings)
{
	double ns = (double)__atomic_load_n(&rings->header->event_ticks, __ATOMIC_RELAXED) / 1024 * 1e9 /
		    rings->clock.ticks_per_second;

	return ns >= LEAST_NS_PER_EVENT && ns < MOST_NS_PER_EVENT ? ns : 0;
}
