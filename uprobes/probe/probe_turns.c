// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/probe/probe_turns.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
/*
 * The most threads that close links. For each link, the kernel waits until no CPU runs its program any
 * more. Links that are closed at the same time share that wait.
 */
#define CLOSERS 16u
/* The kernel closes links of perf events one after another. */
#define PERF_CLOSERS 2u
/* The most CPU time of links that are closed at the same time. Links that take less need no rest. */
#define TOGETHER_NS UINT64_C(16000000)
#define LITTLE_NS UINT64_C(1000000)
#define SETTING_PATIENCE_NS SECOND_NS
#define CLOSING_PATIENCE_NS UINT64_C(200000000)
#define LOOK_NS UINT64_C(50000000)
/* A recording sets several links one after another. This is how long the next one is awaited. */
#define BETWEEN_NS UINT64_C(20000000)
/* Number of owners whose recent use is remembered. */
#define OWNERS 64

struct item {
	struct probe_link link;
	struct probe_closing *closing;
	bool urgent;
	uint64_t came_ns;
	struct item *next;
};

static struct {
	pthread_once_t once;
	pthread_mutex_t lock;	    /* made once; guards the fields below */
	pthread_cond_t changed;	    /* made once */
	struct probe_turn *waiting; /* threads that wait to set links */
	struct item *first, **last; /* queue of links to be closed */
	unsigned int setting, closers, closes, perf_closes;
	/* The owner who set last. Until last_until_ns this owner may go on before owners with more recent
	 * use. */
	uid_t last_owner;
	uint64_t last_until_ns;
	uint64_t usual_ns; /* CPU time for one link, from the links closed last */
	struct {
		uid_t owner;
		uint64_t ns, at_ns; /* recent use in ns; it is halved each second since at_ns */
	} used[OWNERS];
} turns = {.once = PTHREAD_ONCE_INIT, .last = &turns.first};

static void init(void)
{
	pthread_mutexattr_t inherits;
	pthread_condattr_t monotonic;

	/* Urgent threads wait for this lock, too. */
	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&turns.lock, &inherits);
	pthread_mutexattr_destroy(&inherits);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&turns.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)}, NULL);
}

/* ---- functions that need the lock ---------------------------------------- */

static void wait_a_while(void)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);
	uint64_t until = turns.last_until_ns > now && turns.last_until_ns - now < LOOK_NS
				 ? turns.last_until_ns
				 : now + LOOK_NS;
	const struct timespec time = {(time_t)(until / SECOND_NS), (long)(until % SECOND_NS)};

	pthread_cond_timedwait(&turns.changed, &turns.lock, &time);
}

static uint64_t left_at(size_t i, uint64_t now)
{
	uint64_t seconds = (now - turns.used[i].at_ns) / SECOND_NS;

	return seconds < 64 ? turns.used[i].ns >> seconds : 0;
}

static uint64_t used_by(uid_t owner)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);

	for (size_t i = 0; i < OWNERS; i++)
		if (turns.used[i].owner == owner)
			return left_at(i, now);
	return 0;
}

/* The owner with the least use is forgotten first. */
static void use(uid_t owner, uint64_t ns)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);
	size_t at = 0;

	for (size_t i = 0; i < OWNERS; i++) {
		if (turns.used[i].owner == owner) {
			at = i;
			break;
		}
		if (left_at(i, now) < left_at(at, now))
			at = i;
	}
	turns.used[at].ns = ns + (turns.used[at].owner == owner ? left_at(at, now) : 0);
	turns.used[at].owner = owner;
	turns.used[at].at_ns = now;
}

static const struct probe_turn *next_to_set(void)
{
	const struct probe_turn *chosen = NULL;
	uint64_t least = 0;

	/* The latest turn is the first of the list. */
	for (const struct probe_turn *turn = turns.waiting; turn; turn = turn->next) {
		uint64_t of_owner = used_by(turn->owner);

		if (!chosen || of_owner <= least) {
			chosen = turn;
			least = of_owner;
		}
	}
	return chosen;
}

/* If two recordings set several links, the recording with less recent use finishes first. */
static bool another_is_expected(uid_t owner, uint64_t now)
{
	return now < turns.last_until_ns && owner != turns.last_owner &&
	       used_by(turns.last_owner) < used_by(owner);
}

static bool may_set(const struct probe_turn *turn)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);

	if (now - turn->came_ns >= SETTING_PATIENCE_NS)
		return true;
	return !turns.setting && !another_is_expected(turn->owner, now) &&
	       !(turn->perf && turns.perf_closes) && next_to_set() == turn;
}

static bool may_close(const struct item *item)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);
	bool perf = item->link.perf != NULL;

	if (item->urgent)
		return true;
	if (perf ? turns.perf_closes >= PERF_CLOSERS : turns.closes >= probe_turns__at_once(turns.usual_ns))
		return false;
	if (now - item->came_ns >= CLOSING_PATIENCE_NS)
		return true;
	/* An owner that closes links has finished setting. */
	return !turns.setting && !turns.waiting &&
	       (now >= turns.last_until_ns || item->closing->owner == turns.last_owner);
}

/* Takes the next link to close out of the queue; NULL: none may be closed now. */
static struct item *next_to_close(void)
{
	struct item **chosen = NULL, *item;
	uint64_t least = 0;

	for (struct item **at = &turns.first; *at; at = &(*at)->next) {
		uint64_t of_owner = (*at)->urgent ? 0 : used_by((*at)->closing->owner) + 1;

		if (!chosen || of_owner < least) {
			chosen = at;
			least = of_owner;
		}
	}
	if (!chosen || !may_close(*chosen))
		return NULL;
	item = *chosen;
	*chosen = item->next;
	if (!item->next)
		turns.last = chosen;
	return item;
}

/* ---- setting -------------------------------------------------------------- */

void probe_turns__begin(struct probe_turn *turn, uid_t owner, bool perf)
{
	pthread_once(&turns.once, init);
	*turn = (struct probe_turn){.owner = owner,
				    .perf = perf,
				    .came_ns = read_clock(CLOCK_MONOTONIC),
				    .next = turns.waiting};
	pthread_mutex_lock(&turns.lock);
	turn->next = turns.waiting;
	turns.waiting = turn;
	while (!may_set(turn))
		wait_a_while();
	for (struct probe_turn **at = &turns.waiting; *at; at = &(*at)->next) {
		if (*at == turn) {
			*at = turn->next;
			break;
		}
	}
	turns.setting++;
	pthread_mutex_unlock(&turns.lock);
	turn->cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void probe_turns__end(struct probe_turn *turn)
{
	const uint64_t cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - turn->cpu_ns;

	pthread_mutex_lock(&turns.lock);
	turns.setting--;
	use(turn->owner, cpu_ns);
	turns.last_owner = turn->owner;
	turns.last_until_ns = read_clock(CLOCK_MONOTONIC) + BETWEEN_NS;
	pthread_cond_broadcast(&turns.changed);
	pthread_mutex_unlock(&turns.lock);
}

/* ---- closing -------------------------------------------------------------- */

unsigned int probe_turns__at_once(uint64_t cpu_ns)
{
	uint64_t most = TOGETHER_NS / (cpu_ns ? cpu_ns : 1);

	return most < 1 ? 1 : most > CLOSERS ? CLOSERS : (unsigned int)most;
}

uint64_t probe_turns__rest_ns(uint64_t cpu_ns)
{
	return cpu_ns > LITTLE_NS ? cpu_ns : 0;
}

static void set_urgent(bool urgent)
{
	const struct sched_param param = {.sched_priority = urgent};

	sched_setscheduler(0, (urgent ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK, &param);
}

/* Closes a link. Returns the CPU time that it took, in ns. */
static uint64_t close_link(const struct probe_link *link)
{
	const uint64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);

	if (link->fd >= 0)
		close(link->fd);
	bpf_link__destroy(link->perf);
	return read_clock(CLOCK_THREAD_CPUTIME_ID) - before;
}

/* Needs the lock, and releases it while it closes. */
static void close_item(struct item *item)
{
	unsigned int *count = item->link.perf ? &turns.perf_closes : &turns.closes;
	uint64_t cpu_ns, rest_ns;

	++*count;
	pthread_mutex_unlock(&turns.lock);
	if (item->urgent)
		set_urgent(true);
	cpu_ns = close_link(&item->link);
	if (item->urgent)
		set_urgent(false);
	rest_ns = item->urgent ? 0 : probe_turns__rest_ns(cpu_ns);
	pthread_mutex_lock(&turns.lock);
	use(item->closing->owner, cpu_ns);
	turns.usual_ns = (3 * turns.usual_ns + cpu_ns) / 4;
	if (item->urgent)
		__atomic_add_fetch(&item->closing->urgent_ns, cpu_ns, __ATOMIC_RELAXED);
	item->closing->left--;
	free(item);
	pthread_cond_broadcast(&turns.changed);
	if (rest_ns) {
		pthread_mutex_unlock(&turns.lock);
		sleep_ns(rest_ns);
		pthread_mutex_lock(&turns.lock);
		pthread_cond_broadcast(&turns.changed);
	}
	--*count;
}

static void *close_some(void *unused)
{
	struct item *item;

	pthread_setname_np(pthread_self(), "graind-close");
	pthread_mutex_lock(&turns.lock);
	while (turns.first) {
		item = next_to_close();
		if (item)
			close_item(item);
		else
			wait_a_while();
	}
	turns.closers--;
	pthread_mutex_unlock(&turns.lock);
	return unused;
}

/* Needs the lock. */
static void start_closer(void)
{
	pthread_t thread;

	if (turns.closers == CLOSERS || pthread_create(&thread, NULL, close_some, NULL) != 0)
		return;
	pthread_detach(thread);
	turns.closers++;
}

void probe_turns__close(struct probe_closing *closing, struct probe_link link, bool urgent)
{
	struct item *item = malloc(sizeof(*item));

	pthread_once(&turns.once, init);
	pthread_mutex_lock(&turns.lock);
	start_closer();
	if (!item || !turns.closers) {
		pthread_mutex_unlock(&turns.lock);
		free(item);
		close_link(&link);
		return;
	}
	*item = (struct item){link, closing, urgent, read_clock(CLOCK_MONOTONIC), NULL};
	closing->left++;
	*turns.last = item;
	turns.last = &item->next;
	pthread_cond_broadcast(&turns.changed);
	pthread_mutex_unlock(&turns.lock);
}

void probe_turns__await(struct probe_closing *closing)
{
	pthread_once(&turns.once, init);
	pthread_mutex_lock(&turns.lock);
	while (closing->left)
		wait_a_while();
	pthread_mutex_unlock(&turns.lock);
}
