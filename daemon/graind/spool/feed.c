// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/spool/feed.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/worker/worker.h"

#include "daemon/common/process/pass_fd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The largest number of files that are not completely read. */
#define FILES 1024
/*
 * The number of bytes in one message. A worker reads them in a second or two. At the end, nobody waits
 * longer than that for a message.
 */
#define RANGE_BYTES (UINT64_C(4) << 20)
#define ANSWER_MS 60000
/* A worker that makes no progress for this long is ended. */
#define STILL_MS 10000
#define LOOK_MS 200
/*
 * When the time for the rest is over, the worker gets this much more time to finish the range that it is
 * reading.
 */
#define GRACE_MS 5000
#define STATISTICS_MAX (32u << 20)
#define CONCLUDE_SECONDS 20

struct file {
	int fd;
	uint64_t done, end;
	bool begun, whole; /* whole: the file is complete, and another one follows */
	uint64_t whole_ns; /* see feed__file(): all events up to this time are in earlier files */
};

struct feed {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct file files[FILES]; /* used as a ring */
	size_t first, count;
	uint64_t backlog, deadline_ms;
	bool ending, failed, cut, started;
	uid_t uid;
	gid_t gid;
	int kept;
	uint64_t keep_bytes;
	int error;
	char *text;
	size_t size;
};

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Returns the CPU time of the worker; 0: it has ended. */
static uint64_t cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool is_overdue(struct feed *feed)
{
	bool overdue;

	pthread_mutex_lock(&feed->lock);
	overdue = feed->ending && now_ms() >= feed->deadline_ms + GRACE_MS;
	pthread_mutex_unlock(&feed->lock);
	return overdue;
}

/* Waits for the answer with a time limit, because the worker's user can stop the worker. */
static int await_answer(struct feed *feed, int socket, pid_t worker, uint64_t *reached)
{
	struct pollfd wait = {.fd = socket, .events = POLLIN};
	uint64_t began = now_ms(), moved = began, used = cpu_ns(worker);

	for (;;) {
		int ready = poll(&wait, 1, LOOK_MS);
		uint64_t now = now_ms(), uses = cpu_ns(worker);

		if (ready > 0)
			return recv(socket, reached, sizeof(*reached), MSG_DONTWAIT) == sizeof(*reached)
				       ? 0
				       : -ECHILD;
		if (uses != used)
			moved = now;
		used = uses;
		if (now - moved >= STILL_MS || now - began >= ANSWER_MS || is_overdue(feed))
			return -ETIMEDOUT;
	}
}

/* Finds the next range. False: there are no more. Call this with the lock held. */
static bool next_range(struct feed *feed, struct feed_range *range, int *fd)
{
	for (;;) {
		struct file *file = &feed->files[feed->first];

		if (feed->ending && feed->deadline_ms <= now_ms() && feed->backlog) {
			feed->cut = true;
			return false;
		}
		if (feed->count && file->done == file->end && file->whole) {
			close(file->fd);
			feed->first = (feed->first + 1) % FILES;
			feed->count--;
		} else if (feed->count && file->done < file->end) {
			range->from = file->begun ? file->done : 0;
			range->whole_ns = file->begun ? 0 : file->whole_ns;
			range->to =
				file->end - file->done > RANGE_BYTES ? file->done + RANGE_BYTES : file->end;
			*fd = file->fd;
			return true;
		} else if (feed->ending) {
			return false;
		} else {
			pthread_cond_wait(&feed->more, &feed->lock);
		}
	}
}

/* Sends ranges until there are no more. The worker reads whole chunks, and answers how far it has read. */
static int all_ranges(struct feed *feed, int socket, pid_t worker)
{
	struct feed_range range = {.keep = feed->keep_bytes};
	int fd, error = 0;

	if (range.keep)
		error = pass_fd__send(socket, &range, sizeof(range), feed->kept, 0);
	range.keep = 0;
	pthread_mutex_lock(&feed->lock);
	while (!error && next_range(feed, &range, &fd)) {
		struct file *file = &feed->files[feed->first];
		uint64_t reached = 0;

		pthread_mutex_unlock(&feed->lock);
		error = pass_fd__send(socket, &range, sizeof(range), range.from == 0 ? fd : -1, MSG_DONTWAIT);
		if (!error)
			error = await_answer(feed, socket, worker, &reached);
		pthread_mutex_lock(&feed->lock);
		/* The worker has reached the end of a chunk, which may be after the end of the range. */
		if (!error && (reached < range.to || reached > file->end))
			error = -EBADMSG;
		if (error)
			break;
		file->begun = true;
		feed->backlog -= reached - file->done;
		file->done = reached;
	}
	pthread_mutex_unlock(&feed->lock);
	return error;
}

static void *run(void *argument)
{
	struct feed *feed = argument;
	struct worker worker = {.work = WORKER_FOLD,
				.uid = feed->uid,
				.gid = feed->gid,
				.seconds = CONCLUDE_SECONDS,
				.max_output = STATISTICS_MAX};
	struct worker_running running;
	int sockets[2], error;

	pthread_setname_np(pthread_self(), "graind-fold");
	error = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) ? -errno : 0;
	if (!error) {
		worker.input = sockets[1];
		error = worker__start(&worker, &running);
		close(sockets[1]);
		if (!error) {
			error = all_ranges(feed, sockets[0], running.pid);
			close(sockets[0]);
			/* At the end of the ranges the worker answers with the statistics. */
			if (error)
				worker__stop(&running);
			else
				error = worker__collect(&worker, &running, &feed->text, &feed->size);
		} else {
			close(sockets[0]);
		}
	}
	pthread_mutex_lock(&feed->lock);
	feed->failed = true;
	feed->error = error;
	pthread_mutex_unlock(&feed->lock);
	return NULL;
}

int feed__new(uid_t uid, gid_t gid, int kept, uint64_t keep_bytes, struct feed **out)
{
	struct feed *feed = calloc(1, sizeof(*feed));
	int error;

	if (!feed)
		return -ENOMEM;
	feed->uid = uid;
	feed->gid = gid;
	feed->kept = kept;
	feed->keep_bytes = keep_bytes;
	urgency__make_lock(&feed->lock);
	pthread_cond_init(&feed->more, NULL);
	error = -pthread_create(&feed->thread, NULL, run, feed);
	if (error) {
		feed__free(feed);
		return error;
	}
	feed->started = true;
	*out = feed;
	return 0;
}

int feed__file(struct feed *feed, int fd, uint64_t whole_ns)
{
	int error = 0;

	pthread_mutex_lock(&feed->lock);
	if (feed->count == FILES) {
		error = -ENOSPC;
		close(fd);
	} else {
		if (feed->count)
			feed->files[(feed->first + feed->count - 1) % FILES].whole = true;
		feed->files[(feed->first + feed->count++) % FILES] =
			(struct file){.fd = fd, .whole_ns = whole_ns};
		pthread_cond_signal(&feed->more);
	}
	pthread_mutex_unlock(&feed->lock);
	return error;
}

void feed__until(struct feed *feed, uint64_t end)
{
	pthread_mutex_lock(&feed->lock);
	if (feed->count) {
		struct file *last = &feed->files[(feed->first + feed->count - 1) % FILES];

		if (end > last->end) {
			feed->backlog += end - last->end;
			last->end = end;
			pthread_cond_signal(&feed->more);
		}
	}
	pthread_mutex_unlock(&feed->lock);
}

uint64_t feed__backlog(struct feed *feed)
{
	uint64_t backlog;

	pthread_mutex_lock(&feed->lock);
	backlog = feed->backlog;
	pthread_mutex_unlock(&feed->lock);
	return backlog;
}

bool feed__failed(struct feed *feed)
{
	bool failed;

	pthread_mutex_lock(&feed->lock);
	failed = feed->failed;
	pthread_mutex_unlock(&feed->lock);
	return failed;
}

static void end(struct feed *feed, unsigned int seconds)
{
	if (!feed->started)
		return;
	pthread_mutex_lock(&feed->lock);
	feed->ending = true;
	feed->deadline_ms = now_ms() + seconds * UINT64_C(1000);
	pthread_cond_signal(&feed->more);
	pthread_mutex_unlock(&feed->lock);
	pthread_join(feed->thread, NULL);
	feed->started = false;
}

int feed__finish(struct feed *feed, unsigned int seconds, char **text, bool *cut)
{
	int error;

	end(feed, seconds);
	error = feed->error;
	*text = feed->text;
	*cut = feed->cut;
	feed->text = NULL;
	feed__free(feed);
	return error;
}

void feed__free(struct feed *feed)
{
	if (!feed)
		return;
	end(feed, 0);
	for (; feed->count; feed->count--, feed->first = (feed->first + 1) % FILES)
		close(feed->files[feed->first].fd);
	pthread_mutex_destroy(&feed->lock);
	pthread_cond_destroy(&feed->more);
	free(feed->text);
	free(feed);
}
