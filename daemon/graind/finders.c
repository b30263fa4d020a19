// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/finders.h"
#include "daemon/graind/log.h"
#include "daemon/graind/urgency.h"
#include "daemon/graind/worker.h"

#include "daemon/common/pass_fd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Of as many owners at a time. */
#define MOST 8
#define START_SECONDS 20
/* How often the time that a file takes is looked at. */
#define SLICE_MS 50
#define SAY_MS 1000

enum finder_state { EMPTY, IDLE, BUSY };

/* While it is busy the rest is that of who has it, but for the owner. */
struct finder {
	enum finder_state state;
	uid_t owner;
	struct worker_running running; /* pid 0: there is none */
	int socket;
	uint64_t used_ms; /* when it last had something to do */
};

/* Symbols of half a gigabyte take a second; other readers of a disk may take it for themselves. */
static const struct finders_limits usual = {.cpu_ms = 3000, .wall_ms = 20000, .idle_ms = 30000};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t freed, changed; /* for who waits for a finder; for who ends them */
	pthread_t tender;
	struct finders_limits limits;
	struct finder finders[MOST];
	uint64_t number, failed, said_ms;
	bool started, ending;
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

/* The owner's, else one that is idle for longest, or was never there; NULL: there is none yet. */
static struct finder *choose(uid_t owner)
{
	struct finder *idle = NULL;

	for (size_t i = 0; i < MOST; i++) {
		struct finder *finder = &all.finders[i];

		if (finder->owner == owner && finder->state != EMPTY)
			return finder->state == BUSY ? NULL : finder;
		if (finder->state != BUSY && (!idle || finder->used_ms < idle->used_ms))
			idle = finder;
	}
	return idle;
}

static struct finder *acquire(uid_t owner)
{
	struct finder *finder, others;

	pthread_mutex_lock(&all.lock);
	while (!(finder = choose(owner)))
		pthread_cond_wait(&all.freed, &all.lock);
	others = *finder;
	if (finder->owner != owner)
		finder->running.pid = 0;
	finder->owner = owner;
	finder->state = BUSY;
	pthread_mutex_unlock(&all.lock);
	if (others.owner != owner)
		end(&others);
	return finder;
}

static void release(struct finder *finder)
{
	pthread_mutex_lock(&all.lock);
	finder->state = finder->running.pid ? IDLE : EMPTY;
	finder->used_ms = finder->running.pid ? now_ms() : 0;
	pthread_cond_broadcast(&all.freed);
	pthread_cond_signal(&all.changed);
	pthread_mutex_unlock(&all.lock);
}

/* Ends those that have nothing to do. Returns when the next is due, UINT64_MAX: none is. With the lock. */
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

static void *tend(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&all.lock);
	while (!all.ending) {
		uint64_t next = end_idle(now_ms());
		struct timespec until = {.tv_sec = (time_t)(next / 1000),
					 .tv_nsec = (long)(next % 1000 * 1000000)};

		if (next == UINT64_MAX)
			pthread_cond_wait(&all.changed, &all.lock);
		else
			pthread_cond_timedwait(&all.changed, &all.lock, &until);
	}
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* ---- asking one --------------------------------------------------------- */

/* CPU time of the worker; 0 once it has ended. */
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

/* -ETIMEDOUT, -EBADMSG: no answer to this; others: it has ended. */
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

/* Who made many such files does not fill the log with them. counts: it is the file's fault. */
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

int finders__look(int fd, const struct stat *file, enum elf_runtime *out)
{
	struct finder *finder = acquire(file->st_uid);
	int error = 0, unstarted = 0;

	/* One that was there may have come to harm before: its end says nothing of this file yet. */
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
	release(finder);
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

uint64_t finders__failed(void)
{
	uint64_t failed;

	if (!all.started)
		return 0;
	pthread_mutex_lock(&all.lock);
	failed = all.failed;
	pthread_mutex_unlock(&all.lock);
	return failed;
}

int finders__start(const struct finders_limits *limits)
{
	pthread_condattr_t attributes;
	int error;

	memset(&all, 0, sizeof(all));
	all.limits = limits ? *limits : usual;
	urgency__make_lock(&all.lock);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&all.freed, &attributes);
	pthread_cond_init(&all.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	error = -pthread_create(&all.tender, NULL, tend, NULL);
	all.started = !error;
	return error;
}

void finders__stop(void)
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
	pthread_cond_destroy(&all.freed);
	pthread_cond_destroy(&all.changed);
	all.started = false;
}
