// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/shim_rings.h"
#include "daemon/graind/clock_pair.h"
#include "daemon/graind/shim_counters.h"
#include "bpf/shim_abi.h"
#include "daemon/common/pass_fd.h"

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
/* Of a process, that are looked at to find one. */
#define TASKS 4096
/*
 * With its number there: a thread that had ended before its number here was looked for. The kernel gives none
 * so large.
 */
#define TID_THERE (1u << 30)
#define MOST_NS_PER_EVENT 100000
/* One chunk of the trace. */
#define TAKE_WORDS TRACE_WORDS_MAX
/*
 * However much is there, cuts are so small where it can be seen that it comes: who reads the trace sorts
 * less, and of what is long ago needs to keep less.
 */
#define CUT_WORDS (2u * TAKE_WORDS)
#define CUTS 16

_Static_assert(
	(int)SHIM_TASK_CREATE == (int)TRACE_TASK_CREATE && (int)SHIM_TASK_BEGIN == (int)TRACE_TASK_BEGIN &&
		(int)SHIM_TASK_CREATE_END == (int)TRACE_TASK_CREATE_END &&
		(int)SHIM_TASK_END == (int)TRACE_TASK_END &&
		(int)SHIM_REGION_BEGIN == (int)TRACE_REGION_BEGIN &&
		(int)SHIM_REGION_END == (int)TRACE_REGION_END &&
		(int)SHIM_TEAM_START == (int)TRACE_TEAM_START &&
		(int)SHIM_TEAM_STARTED == (int)TRACE_TEAM_STARTED &&
		(int)SHIM_MEMBER_BEGIN == (int)TRACE_MEMBER_BEGIN &&
		(int)SHIM_WAIT_BEGIN == (int)TRACE_WAIT_BEGIN && (int)SHIM_WAIT_END == (int)TRACE_WAIT_END &&
		(int)SHIM_GROUP_BEGIN == (int)TRACE_GROUP_BEGIN && (int)SHIM_SINGLE == (int)TRACE_SINGLE &&
		(int)SHIM_SINGLE_END == (int)TRACE_SINGLE_END && (int)SHIM_DEPEND == (int)TRACE_DEPEND &&
		(int)SHIM_TASK_BOUNDS == (int)TRACE_TASK_BOUNDS,
	"kinds of tasks and teams");
_Static_assert((int)SHIM_TASKLOOP_BEGIN == (int)TRACE_TASKLOOP_BEGIN &&
		       (int)SHIM_TASKLOOP_END == (int)TRACE_TASKLOOP_END &&
		       (int)SHIM_TASK_FULFILL == (int)TRACE_TASK_FULFILL &&
		       (int)SHIM_CANCEL == (int)TRACE_CANCEL &&
		       (int)SHIM_LOOP_BEGIN == (int)TRACE_LOOP_BEGIN &&
		       (int)SHIM_LOOP_PARAMS == (int)TRACE_LOOP_PARAMS &&
		       (int)SHIM_CHUNK_NEXT == (int)TRACE_CHUNK_NEXT &&
		       (int)SHIM_CHUNK_BEGIN == (int)TRACE_CHUNK_BEGIN &&
		       (int)SHIM_CHUNK_STRIDE == (int)TRACE_CHUNK_STRIDE &&
		       (int)SHIM_LOOP_END == (int)TRACE_LOOP_END &&
		       (int)SHIM_SECTIONS_BEGIN == (int)TRACE_SECTIONS_BEGIN &&
		       (int)SHIM_SECTION_NEXT == (int)TRACE_SECTION_NEXT &&
		       (int)SHIM_SECTION_BEGIN == (int)TRACE_SECTION_BEGIN &&
		       (int)SHIM_SECTIONS_END == (int)TRACE_SECTIONS_END &&
		       (int)SHIM_LOCK_WAIT == (int)TRACE_LOCK_WAIT &&
		       (int)SHIM_STATIC_SHARE == (int)TRACE_STATIC_SHARE &&
		       (int)SHIM_COUNTERS == (int)TRACE_COUNTERS,
	       "kinds of loops and locks");
_Static_assert((int)SHIM_JOIN == (int)TRACE_WORD_JOIN && (int)SHIM_CPU == (int)TRACE_WORD_CPU &&
		       (int)SHIM_LOST == (int)TRACE_WORD_LOST && (int)SHIM_TIME == (int)TRACE_WORD_TIME &&
		       (int)SHIM_CHUNK_SHORT == (int)TRACE_WORD_SHORT && SHIM_SITES == TRACE_WORD_SITES &&
		       SHIM_TASK_KEYED == TRACE_WORD_KEYED && (int)SHIM_CHUNK_TURN == (int)TRACE_WORD_TURN &&
		       (int)SHIM_START_OUTSIDE == (int)TRACE_WORD_OUTSIDE &&
		       (int)SHIM_NOTHING == (int)TRACE_WORD_NOTHING &&
		       (int)SHIM_HERE == (int)TRACE_WORD_HERE && SHIM_HERE_MARK == TRACE_WORD_HERE_MARK,
	       "other words");
#define PROBE_WORD SHIM_WORD(SHIM_TASK_BEGIN, 5, 7)
_Static_assert(TRACE_WORD_KIND(PROBE_WORD) == SHIM_TASK_BEGIN && TRACE_WORD_SITE(PROBE_WORD) == 5 &&
		       TRACE_WORD_ARG(PROBE_WORD) == 7 && TRACE_WORD_KEY(3, 4) == SHIM_TASK_KEY(3, 4),
	       "layout of a word");
_Static_assert(SHIM_COUNTERS_MAX == TRACE_READING_MAX && SHIM_COUNTERS_EACH == TRACE_COUNTERS_EACH &&
		       TRACE_WORD_COUNTERS_FIRST(SHIM_COUNTERS_ARG(6, 2, 3)) == 6 &&
		       TRACE_WORD_COUNTERS_COUNT(SHIM_COUNTERS_ARG(6, 2, 3)) == 2 &&
		       TRACE_WORD_COUNTERS_BLIND(SHIM_COUNTERS_ARG(6, 2, 3)) == 3,
	       "arg of COUNTERS");
#define PROBE_TURN SHIM_TURN(SHIM_CHUNK_EXCLUSIVE, (1u << SHIM_TURN_TICK_BITS) - 2)
_Static_assert(TRACE_WORD_KIND(PROBE_TURN) == SHIM_CHUNK_TURN && TRACE_WORD_TICKS(PROBE_TURN) == 0 &&
		       TRACE_WORD_TURN_EXCLUSIVE(PROBE_TURN) &&
		       TRACE_WORD_TURN_TICKS(PROBE_TURN) == (1u << SHIM_TURN_TICK_BITS) - 2,
	       "layout of a turn");

struct ring {
	uint64_t tail;	 /* words that were taken */
	uint64_t seen;	 /* and that the latest cut has */
	uint64_t paced;	 /* words that were taken since the last shim_rings__pace() */
	uint32_t stream; /* of its present thread */
	uint32_t tid;	 /* as the kernel numbers it here; 0: its thread is not known yet */
};

/*
 * How far all rings had been written when they were looked at. Words of all threads are converted by the same
 * two readings of the clocks, so that a cause stays before its effect: one from before they were looked at,
 * when what came until then is in this cut or in an older one, and one from after that.
 */
struct cut {
	uint64_t ticks[2], ns[2];
	uint32_t claimed;
	bool ended[THREADS]; /* the ring's thread has */
	uint64_t until[THREADS];
};

/* A thread's numbers. */
struct task {
	uint32_t here, there;
};

struct shim_rings {
	pid_t pid;
	int connection;
	struct shim_header *header;
	size_t bytes;
	uint32_t streams; /* threads so far */
	uint32_t sites_seen;
	uint64_t broken;
	bool disabled, stopped; /* by us; by the process before */
	struct clock_pair clock;
	struct counter_set counters; /* until they are told */
	bool lives_apart;	     /* in a PID namespace of its own */
	uint32_t there;		     /* its number in that; 0: it had ended already */
	bool tasks_listed;	     /* since the last call */
	size_t task_count;
	struct task tasks[TASKS];
	struct ring rings[THREADS];
	struct cut cuts[CUTS]; /* a ring of those that are not taken, the oldest first */
	uint64_t first_cut, next_cut;
	uint64_t sites[SHIM_SITES]; /* those that are in the trace */
	uint64_t words[TAKE_WORDS];
};

static struct shim_thread *thread_at(const struct shim_rings *rings, uint32_t number)
{
	return (struct shim_thread *)((char *)rings->header + SHIM_THREADS_AT) + number;
}

static const uint64_t *ring_at(const struct shim_rings *rings, uint32_t number)
{
	return (const uint64_t *)((const char *)rings->header + shim__rings_at(THREADS)) +
	       (size_t)number * RING_WORDS;
}

/* Its size cannot be changed by anybody, so that no access of ours can fail. */
static int make_memory(struct shim_rings *rings, int *out)
{
	int fd = memfd_create("graind-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING), error = 0;

	if (fd < 0)
		return -errno;
	rings->bytes = shim__bytes(THREADS, RING_WORDS);
	if (ftruncate(fd, (off_t)rings->bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		error = -errno;
	if (!error) {
		rings->header =
			mmap(NULL, rings->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (rings->header == MAP_FAILED) {
			rings->header = NULL;
			error = -errno;
		}
	}
	if (error)
		close(fd);
	else
		*out = fd;
	return error;
}

static int hand_over(const struct shim_rings *rings, int memory)
{
	const struct shim_welcome welcome = {.magic = SHIM_MAGIC, .version = SHIM_VERSION};

	return pass_fd__send(rings->connection, &welcome, sizeof(welcome), memory, MSG_DONTWAIT);
}

/* The header, with how fast its clock goes. */
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

/* The last of the numbers that a thread has, one for each PID namespace from ours to its own; 0: not to be
 * told. */
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
	int memory = -1, error;
	char name[16];

	if (!rings) {
		close(connection);
		return -ENOMEM;
	}
	rings->pid = pid;
	rings->connection = connection;
	snprintf(name, sizeof(name), "%d", (int)pid);
	rings->there = innermost(pid, name);
	rings->lives_apart = rings->there && rings->there != (uint32_t)pid;
	error = make_memory(rings, &memory);
	if (error) {
		shim_rings__free(rings);
		return error;
	}
	start_clocks(rings, opts);
	if (opts->counters) {
		rings->counters = *opts->counters;
		shim_counters__ask(rings->header, &rings->counters);
	}
	error = hand_over(rings, memory);
	close(memory);
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
	close(rings->connection);
	free(rings);
}

/* What all threads of the process are here and there: once in a round, however many ask. */
static void list_tasks(struct shim_rings *rings)
{
	char path[64];
	struct dirent *entry;
	DIR *directory;

	if (rings->tasks_listed)
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
}

/* The number here of a thread that says what it is where it lives. */
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

/* Those that are new since the last call; each number is taken once. */
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

/* How far the ring is written. */
static void look_at_head(struct shim_rings *rings, uint32_t number, struct cut *cut)
{
	struct shim_thread *thread = thread_at(rings, number);
	struct ring *ring = &rings->rings[number];

	/* Its state first: what an ended thread has written is all there is. */
	cut->ended[number] = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == SHIM_ENDED;
	cut->until[number] = __atomic_load_n(&thread->head, __ATOMIC_ACQUIRE);
	if (cut->until[number] - ring->tail <= RING_WORDS)
		return;
	rings->broken += RING_WORDS;
	ring->tail = ring->seen = cut->until[number];
	__atomic_store_n(&thread->tail, ring->tail, __ATOMIC_RELEASE);
}

/*
 * A cut of what there is now, where the cuts before have so many words less and there is room for another
 * one after it, which is for the next call.
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

/* At most TAKE_WORDS; the number of words. */
static size_t take(struct shim_rings *rings, uint32_t number, struct recorder *recorder,
		   const struct cut *cut)
{
	struct shim_thread *thread = thread_at(rings, number);
	struct ring *ring = &rings->rings[number];
	const uint64_t *words = ring_at(rings, number);
	struct trace_words_head head = {.ticks = {cut->ticks[0], cut->ticks[1]},
					.ns = {cut->ns[0], cut->ns[1]}};
	size_t count = cut->until[number] - ring->tail;

	/* What was broken since has gone beyond it. */
	if (!count || count > RING_WORDS)
		return 0;
	if (!ring->tid) {
		ring->tid = find_tid(rings, __atomic_load_n(&thread->tid, __ATOMIC_RELAXED));
		ring->stream = rings->streams++;
	}
	count = count < TAKE_WORDS ? count : TAKE_WORDS;
	for (size_t done = 0, part; done < count; done += part) {
		part = BLOCK_WORDS - (ring->tail + done) % BLOCK_WORDS;
		part = part < count - done ? part : count - done;
		memcpy(rings->words + done, words + shim__place(thread, RING_WORDS, ring->tail + done),
		       part * 8);
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

/* Its thread has ended, and all that it wrote is taken: another one may have it. */
static void give_back(struct shim_rings *rings, uint32_t number)
{
	for (uint64_t i = rings->first_cut; i < rings->next_cut; i++)
		rings->cuts[i % CUTS].ended[number] = false;
	rings->rings[number].tid = 0;
	__atomic_store_n(&thread_at(rings, number)->state, SHIM_FREE, __ATOMIC_RELEASE);
}

static void take_cut(struct shim_rings *rings, struct recorder *recorder, struct cut *cut)
{
	size_t taken;

	do {
		taken = 0;
		for (uint32_t i = 0; i < cut->claimed; i++) {
			size_t count = take(rings, i, recorder, cut);

			if (count)
				cut_more(rings, CUT_WORDS);
			taken += count;
		}
	} while (taken);
	for (uint32_t i = 0; i < cut->claimed; i++)
		if (cut->ended[i])
			give_back(rings, i);
}

long shim_rings__drain(struct shim_rings *rings, struct recorder *recorder)
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
	/* What words name was in the table before they were in the ring. */
	take_sites(rings, recorder);
	rings->tasks_listed = false;
	for (; rings->first_cut < until; rings->first_cut++)
		take_cut(rings, recorder, &rings->cuts[rings->first_cut % CUTS]);
	return rings->disabled ? 0 : (long)fullest;
}

void shim_rings__losses(const struct shim_rings *rings, struct shim_losses *out)
{
	*out = (struct shim_losses){
		.broken = rings->broken,
		.stopped = rings->stopped,
		.unseated = __atomic_load_n(&rings->header->unseated, __ATOMIC_RELAXED),
		.sites = __atomic_load_n(&rings->header->unnumbered, __ATOMIC_RELAXED),
	};
	for (uint32_t i = 0; i < THREADS; i++)
		out->full += __atomic_load_n(&thread_at(rings, i)->lost, __ATOMIC_RELAXED);
}

void shim_rings__counts(const struct shim_rings *rings, struct inside_counts *out)
{
	uint32_t claimed = __atomic_load_n(&rings->header->claimed, __ATOMIC_RELAXED);

	*out = (struct inside_counts){.threads = claimed < THREADS ? claimed : THREADS};
	for (uint32_t i = 0; i < out->threads; i++) {
		const struct shim_thread *thread = thread_at(rings, i);

		out->grains += __atomic_load_n(&thread->grains, __ATOMIC_RELAXED);
		out->lost += __atomic_load_n(&thread->missed, __ATOMIC_RELAXED);
	}
	/* JSON has no larger ones. */
	out->grains &= INT64_MAX;
	out->lost &= INT64_MAX;
}

double shim_rings__ns_per_event(const struct shim_rings *rings)
{
	double ns = (double)__atomic_load_n(&rings->header->event_ticks, __ATOMIC_RELAXED) / 1024 * 1e9 /
		    rings->clock.ticks_per_second;

	return ns < MOST_NS_PER_EVENT ? ns : 0;
}
