// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/worker/runtime_finders.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/deadline.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/limits/turns.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/worker/worker.h"

#include "daemon/common/process/pass_fd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The largest number of finders at a time, one for each account. */
#define MOST 8
/* There is no limit for waiting, because every turn ends in time (runtime_finders_limits). */
#define TURN_SECONDS UINT32_MAX
/*
 * The account for files of root. Every user can have these files examined, so they share one account
 * instead of getting a turn for each user.
 */
#define OF_ROOT ((uid_t)-1)
#define START_SECONDS 20
/* How often to check how much time a file has taken, in ms. */
#define SLICE_MS 50
#define SAY_MS 1000

enum finder_state { EMPTY, IDLE, BUSY };

/* While a finder is `busy`, everything in it but account and owner belongs to the thread that uses it. */
struct finder {
	enum finder_state state;
	uid_t account, owner;	       /* whose files it examines; whose rights it has */
	struct worker_running running; /* pid 0: no worker is running */
	int socket;
	uint64_t used_ms; /* when it was last used, in ms */
};

/*
 * Reading half a gigabyte of symbols takes a second of CPU time. The disk may be busy with other readers.
 */
static const struct runtime_finders_limits usual = {.cpu_ms = 3000, .wall_ms = 20000, .idle_ms = 30000};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* for the thread that ends idle finders */
	struct turns turns;	/* turns of accounts with a busy finder */
	pthread_t tender;
	struct runtime_finders_limits limits;
	struct finder finders[MOST];
	uint64_t number, failed, said_ms;
	bool started, ending, ahead;
} all;

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void end(struct finder *finder)
{
	if (!finder->running.pid)
		return;
	close(finder->socket);
	worker__stop(&finder->running);
	finder->running.pid = 0;
}

static int start(struct finder *finder)
{
	struct worker worker = {.work = WORKER_FIND,
				.uid = finder->owner,
				.gid = WORKER_NOBODY,
				.seconds = START_SECONDS};
	int sockets[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return -errno;
	worker.input = sockets[1];
	error = worker__start(&worker, &finder->running);
	close(sockets[1]);
	if (error) {
		close(sockets[0]);
		finder->running.pid = 0;
		return error;
	}
	finder->socket = sockets[0];
	return 0;
}

/* ---- who has which ------------------------------------------------------ */

/*
 * Chooses the account's own idle finder. If there is none, chooses an unused finder, or the one that has
 * been idle for the longest time. There always is one, because the caller has waited for its turn.
 */
static struct finder *choose(uid_t account)
{
	struct finder *idle = NULL;

	for (size_t i = 0; i < MOST; i++) {
		struct finder *finder = &all.finders[i];

		if (finder->state == BUSY)
			continue;
		if (finder->account == account && finder->state == IDLE)
			return finder;
		if (!idle || finder->used_ms < idle->used_ms)
			idle = finder;
	}
	return idle;
}

/*
 * Gets a finder for this owner. If the chosen one has a worker with the rights of another owner, ends that
 * worker.
 */
static struct finder *acquire(uid_t owner, struct turn *turn)
{
	uid_t account = account__of(owner);
	struct finder *finder, others;

	if (turns__enter(&all.turns, account ? account : OF_ROOT, turn, TURN_SECONDS, NULL) != 0)
		return NULL;
	pthread_mutex_lock(&all.lock);
	finder = choose(account);
	others = *finder;
	if (finder->owner != owner)
		finder->running.pid = 0;
	finder->account = account;
	finder->owner = owner;
	finder->state = BUSY;
	pthread_mutex_unlock(&all.lock);
	if (others.owner != owner)
		end(&others);
	return finder;
}

static void release(struct finder *finder, struct turn *turn)
{
	pthread_mutex_lock(&all.lock);
	finder->state = finder->running.pid ? IDLE : EMPTY;
	finder->used_ms = finder->running.pid ? now_ms() : 0;
	pthread_cond_signal(&all.changed);
	pthread_mutex_unlock(&all.lock);
	turns__leave(&all.turns, turn);
}

/*
 * Ends workers that have been idle for too long. Returns when the next one is due; UINT64_MAX: none. Needs
 * the lock.
 */
static uint64_t end_idle(uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < MOST; i++) {
		struct finder *finder = &all.finders[i];
		uint64_t due = finder->used_ms + all.limits.idle_ms;

		if (finder->state != IDLE)
			continue;
		if (due <= now) {
			end(finder);
			finder->state = EMPTY;
			finder->used_ms = 0;
		} else if (due < next) {
			next = due;
		}
	}
	return next;
}

/* If the finder cannot be started, the first file that needs it gets the error. */
static void start_ahead(void)
{
	struct turn turn;
	struct finder *finder = acquire(0, &turn);

	if (!finder)
		return;
	if (!finder->running.pid)
		start(finder);
	release(finder, &turn);
}

static void *tend(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "graind-finders");
	if (all.ahead)
		start_ahead();
	pthread_mutex_lock(&all.lock);
	while (!all.ending) {
		uint64_t next = end_idle(now_ms());

		deadline__await(&all.changed, &all.lock, next == UINT64_MAX ? next : next * 1000000);
	}
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* ---- asking one --------------------------------------------------------- */

/* Returns the CPU time of the worker; 0: it has ended. */
static uint64_t cpu_ms(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static int await(const struct finder *finder)
{
	struct pollfd wait = {.fd = finder->socket, .events = POLLIN};
	uint64_t began = now_ms(), used = cpu_ms(finder->running.pid);

	for (;;) {
		int ready = poll(&wait, 1, SLICE_MS);

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return ready < 0 ? -errno : 0;
		if (now_ms() - began >= all.limits.wall_ms ||
		    cpu_ms(finder->running.pid) >= used + all.limits.cpu_ms)
			return -ETIMEDOUT;
	}
}

/* Asks about a file. -ETIMEDOUT, -EBADMSG: no valid answer; other errors: the worker has ended. */
static int ask(const struct finder *finder, uint64_t number, int fd, enum elf_runtime *out)
{
	struct find_answer answer;
	int error = pass_fd__send(finder->socket, &number, sizeof(number), fd, 0);
	ssize_t got;

	if (!error)
		error = await(finder);
	if (error)
		return error;
	got = recv(finder->socket, &answer, sizeof(answer), MSG_TRUNC);
	if (got <= 0)
		return -ECHILD;
	if (got != (ssize_t)sizeof(answer) || answer.number != number || answer.runtime > ELF_RUNTIME_LIBOMP)
		return -EBADMSG;
	*out = (enum elf_runtime)answer.runtime;
	return 0;
}

/*
 * Reports a file in the log, but rarely, so that a user with many such files cannot fill the log. `counts`:
 * it is the file's fault.
 */
static void say(int fd, const struct stat *file, const char *what, bool counts)
{
	char link[32], name[512];
	uint64_t now = now_ms(), failed;
	ssize_t length;
	bool silent;

	pthread_mutex_lock(&all.lock);
	all.failed += counts;
	failed = all.failed;
	silent = all.said_ms && now - all.said_ms < SAY_MS;
	if (!silent)
		all.said_ms = now;
	pthread_mutex_unlock(&all.lock);
	if (silent)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, name, sizeof(name) - 1);
	name[length < 0 ? 0 : length] = '\0';
	log__line(
		LOG_WARNING,
		"looking for an OpenMP runtime in %s of user %u: %s; it counts as having none (so far: %llu "
		"files)",
		name, (unsigned int)file->st_uid, what, (unsigned long long)failed);
}

static uint64_t next_number(void)
{
	uint64_t number;

	pthread_mutex_lock(&all.lock);
	number = ++all.number;
	pthread_mutex_unlock(&all.lock);
	return number;
}

int runtime_finders__look(int fd, const struct stat *file, enum elf_runtime *out)
{
	struct turn turn;
	struct finder *finder = acquire(file->st_uid, &turn);
	int error = 0, unstarted = 0;

	if (!finder)
		return -EAGAIN;
	/*
	 * A worker that was already running may have been damaged by an earlier file. Only if a new worker
	 * ends, it is this file's fault.
	 */
	for (int tries = 2; tries; tries--) {
		unstarted = finder->running.pid ? 0 : start(finder);
		if (unstarted)
			break;
		error = ask(finder, next_number(), fd, out);
		if (error)
			end(finder);
		if (!error || error == -ETIMEDOUT)
			break;
	}
	release(finder, &turn);
	if (unstarted) {
		say(fd, file, strerror(-unstarted), false);
		return unstarted;
	}
	if (error) {
		*out = ELF_RUNTIME_NONE;
		say(fd, file,
		    error == -ETIMEDOUT ? "it took too long"
		    : error == -EBADMSG ? "the worker answered nonsense"
					: "the worker failed",
		    true);
	}
	return 0;
}

uint64_t runtime_finders__failed(void)
{
	uint64_t failed;

	if (!all.started)
		return 0;
	pthread_mutex_lock(&all.lock);
	failed = all.failed;
	pthread_mutex_unlock(&all.lock);
	return failed;
}

int runtime_finders__start(const struct runtime_finders_limits *limits, bool ahead)
{
	int error;

	memset(&all, 0, sizeof(all));
	all.limits = limits ? *limits : usual;
	all.ahead = ahead;
	urgency__make_lock(&all.lock);
	turns__init(&all.turns, MOST, 0, 1, SIZE_MAX);
	deadline__make(&all.changed);
	error = -pthread_create(&all.tender, NULL, tend, NULL);
	all.started = !error;
	return error;
}

void runtime_finders__stop(void)
{
	if (!all.started)
		return;
	pthread_mutex_lock(&all.lock);
	all.ending = true;
	pthread_cond_signal(&all.changed);
	pthread_mutex_unlock(&all.lock);
	pthread_join(all.tender, NULL);
	for (size_t i = 0; i < MOST; i++)
		end(&all.finders[i]);
	pthread_mutex_destroy(&all.lock);
	pthread_cond_destroy(&all.changed);
	all.started = false;
}
